import { canonicalAddress, familyOf } from '../kernel/networks.ts';

/** Decides whether a request is meant for this server, by its Host header and the local address of its connection. */
export type HostCheck = (host: string | undefined, localAddress: string | undefined) => boolean;

const loopback: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];
/** An address in brackets or a name, with an optional port. */
const hostPattern = /^(\[[0-9a-f:.]{2,45}\]|[^:[\]\s/@]{1,255})(?::\d{0,5})?$/;

/**
 * Prevents DNS rebinding: a web page can point its own name at this server and is then "same origin" for the browser. Its
 * requests still have that name in the Host header, so only known names are served. `allowed` has names or addresses;
 * `*.example.com` matches all names below example.com. The local address of the connection is accepted too, because a page
 * cannot use an address as its name.
 */
export function hostCheck(publicUrl: () => string, allowed: readonly string[]): HostCheck {
  const names = new Set([...loopback, ...allowed.map(bracketed)]);
  const suffixes = allowed.filter((name) => name.startsWith('*.')).map((name) => name.slice(1).toLowerCase());
  return (host, localAddress) => {
    // HTTP/1.0 does not require a Host header, and no browser uses it.
    if (host === undefined) return true;
    const name = nameOf(host);
    if (name === undefined) return false;
    if (names.has(name) || suffixes.some((suffix) => name.endsWith(suffix))) return true;
    if (localAddress !== undefined && name === bracketed(localAddress)) return true;
    const address = publicUrl();
    return URL.canParse(address) && nameOf(new URL(address).host) === name;
  };
}

function nameOf(host: string): string | undefined {
  const name = hostPattern.exec(host.toLowerCase())?.[1]?.replace(/\.$/, '');
  const inner = name?.startsWith('[') ? name.slice(1, -1) : '';
  return familyOf(inner) === 6 ? bracketed(inner) : name;
}

/** As browsers write it, also if the configuration abbreviates an IPv6 address in another way. */
function bracketed(name: string): string {
  const address = canonicalAddress(name);
  return familyOf(address) === 6 ? `[${address}]` : address.toLowerCase();
}
