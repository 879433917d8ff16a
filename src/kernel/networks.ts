import { BlockList, isIP, isIPv6 } from 'node:net';

/**
 * 4, 6, or 0 if the text is not an address. Unlike `isIP`, it rejects a zone, as in fe80::1%eth0: a zone names a network interface of
 * one machine, and lists of networks would ignore it.
 */
export function familyOf(text: string): number {
  return text.includes('%') ? 0 : isIP(text);
}

const mappedPattern = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

/**
 * One text for each address: IPv6 as in RFC 5952, and IPv4 for an IPv4-mapped address, which is a client of a server that listens on
 * IPv6. Any other text is returned unchanged.
 */
export function canonicalAddress(text: string): string {
  if (familyOf(text) !== 6) return text;
  const address = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const [, high = '', low = ''] = mappedPattern.exec(address) ?? [];
  if (high === '') return address;
  return [high, low]
    .map((group) => Number.parseInt(group, 16))
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.');
}

/** Whether the text is a network such as 10.0.0.0/8, or a single address. */
export function isCidr(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const family = familyOf(address);
  if (family === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
}

export function networkListOf(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = '', prefix] = cidr.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    list.addSubnet(address, Number(prefix ?? (family === 'ipv6' ? 128 : 32)), family);
  }
  return list;
}

export function isWithin(list: BlockList, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

const networksMax = 100;

/** A comma-separated list of proxy networks. A problem continues the sentence that begins with the name of the setting. */
export function readNetworks(
  text: string,
): { readonly networks: readonly string[] } | { readonly problem: string } {
  if (text.trim() === '') return { networks: [] };
  const networks = text.split(',').map((network) => network.trim());
  const wrong = networks.find((network) => !isCidr(network));
  if (wrong !== undefined)
    return {
      problem: `must be a comma-separated list of networks such as 10.0.0.0/8, or addresses; "${wrong}" is neither.`,
    };
  const all = networks.find((network) => /\/0+$/.test(network));
  if (all !== undefined)
    return {
      problem: `contains ${all}: clients could claim any address. List the networks of your proxies only.`,
    };
  return networks.length > networksMax ? { problem: `has at most ${networksMax} networks.` } : { networks };
}
