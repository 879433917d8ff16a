/** Addresses as numbers, by the URL standard and arithmetic: a second implementation, without `node:net` and `ipaddr.js`. */
export interface Address {
  readonly family: 4 | 6;
  readonly bits: bigint;
}

const mappedPrefix = 0xffffn << 32n;

/** An IPv4 address in four decimal parts, or an IPv6 address without a zone. */
export function addressOf(text: string): Address | undefined {
  if (/^(0|[1-9]\d{0,2})(\.(0|[1-9]\d{0,2})){3}$/.test(text)) {
    const parts = text.split('.').map(BigInt);
    if (parts.some((part) => part > 255n)) return undefined;
    return { family: 4, bits: parts.reduce((bits, part) => (bits << 8n) | part, 0n) };
  }
  if (!/^[0-9a-f:.]+$/i.test(text) || !URL.canParse(`http://[${text}]/`)) return undefined;
  const { hostname } = new URL(`http://[${text}]/`);
  const [head = '', tail] = hostname.slice(1, -1).split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':'));
  const filled = tail === undefined ? [] : Array(8 - groups(head).length - groups(tail).length).fill('0');
  const all = [...groups(head), ...filled, ...groups(tail ?? '')];
  return { family: 6, bits: all.reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n) };
}

/** The IPv4 address in an IPv6 address of ::ffff:0:0/96; any other address itself. */
export function unmapped(address: Address): Address {
  if (address.family === 4 || address.bits >> 32n !== mappedPrefix >> 32n) return address;
  return { family: 4, bits: address.bits & 0xffff_ffffn };
}

/** Whether the first bits are the same. */
export function isIn(address: Address, network: Address, prefix: number): boolean {
  const rest = BigInt((network.family === 4 ? 32 : 128) - prefix);
  return address.family === network.family && address.bits >> rest === network.bits >> rest;
}

export function addressText({ family, bits }: Address): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 0xffn).join('.');
  return [7n, 6n, 5n, 4n, 3n, 2n, 1n, 0n]
    .map((group) => ((bits >> (group * 16n)) & 0xffffn).toString(16))
    .join(':');
}
