import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { canonicalAddress, familyOf } from '../kernel/networks.ts';
import { type ResolveHost, resolveHost } from './resolve-host.ts';

/** An address that this server refuses to send to. The delivery history shows its message. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

export interface AddressGuardSettings {
  /** Also allows loopback, private and link-local networks: for a laptop, where the receiver runs on the same machine. */
  readonly allowsPrivate: boolean;
  readonly resolve?: ResolveHost;
}

const resolveMsMax = 2_000;

/**
 * Prevents server-side request forgery: user-supplied URLs must not reach networks that only this machine can reach. The guard
 * checks a host name when the connection is opened, and the connection uses the checked address. A resolver that answers
 * differently a moment later (DNS rebinding) gains nothing.
 */
export class AddressGuard {
  readonly #allowsPrivate: boolean;
  readonly #resolve: ResolveHost;

  constructor({ allowsPrivate, resolve = resolveHost }: AddressGuardSettings) {
    this.#allowsPrivate = allowsPrivate;
    this.#resolve = resolve;
  }

  /** Why this server refuses to send to the URL, as a sentence; null when it does not, or when the name does not resolve now. */
  async problemOf(text: string): Promise<string | null> {
    const problem = this.problemAsWritten(text);
    if (problem !== null || this.#allowsPrivate) return problem;
    const host = hostOf(new URL(text));
    if (familyOf(host) !== 0) return null;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, resolveMsMax, null);
    });
    const resolved = new Promise<string | null>((resolve) => {
      this.#resolve(host, { all: true }, (error, addresses) => {
        const isRefused = !error && addresses.length > 0 && this.#allowed(addresses).length === 0;
        resolve(isRefused ? refusal(host) : null);
      });
    });
    return Promise.race([resolved, timeout]).finally(() => clearTimeout(timer));
  }

  /** The checks that need no DNS query: scheme, credentials, and an IP address in any notation. */
  problemAsWritten(text: string): string | null {
    if (!URL.canParse(text))
      return 'The URL is not valid. Send an absolute URL, such as https://example.com/webhooks.';
    const url = new URL(text);
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      return `The URL scheme ${url.protocol}// is not supported. Use http or https.`;
    if (url.username !== '' || url.password !== '')
      return 'The URL contains credentials. Remove them: every request is signed.';
    const host = hostOf(url);
    if (this.#allowsPrivate || familyOf(host) === 0 || isPublic(host)) return null;
    return refusal(host);
  }

  /** For the connection: resolves a host name and returns only the allowed addresses. */
  readonly lookup: LookupFunction = (host, options, callback) => {
    this.#resolve(host, { all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0);
      const ofFamily = addresses.filter(({ family }) => !options.family || family === options.family);
      const allowed = this.#allowed(ofFamily);
      const [first] = allowed;
      if (!first) return callback(new AddressRefused(refusal(host)), '', 0);
      if (options.all) callback(null, allowed as never);
      else callback(null, first.address, first.family);
    });
  };

  #allowed(addresses: readonly LookupAddress[]): readonly LookupAddress[] {
    return this.#allowsPrivate ? addresses : addresses.filter(({ address }) => isPublic(address));
  }
}

/**
 * The message does not contain the resolved address: a caller could map the server's internal DNS with it. Only servers that
 * refuse private addresses create this message, and those are shared.
 */
function refusal(host: string): string {
  return familyOf(host) !== 0
    ? `${host} is not a public address, and this server sends only to those.`
    : `${host} does not resolve to a public address, and this server sends only to those.`;
}

/** Removes the brackets of an IPv6 address. `URL` has already normalized decimal, octal and hexadecimal notations. */
function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

const globalUnicast = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

/**
 * Addresses in public ranges that reach internal services of a cloud provider: they answer only inside its network, and trust
 * every caller. The other metadata addresses are outside the public ranges anyway: 169.254.169.254 and its neighbours are
 * link-local, 100.100.100.200 (Alibaba Cloud) is carrier-grade NAT, 192.0.0.192 (Oracle Cloud) is reserved, fd00:ec2::254 (AWS)
 * and fd20:ce::254 (Google Cloud) are unique local.
 */
const providerServices: ReadonlySet<string> = new Set([
  // Azure: wire server, DHCP, DNS and health probes.
  '168.63.129.16',
  // Equinix Metal: metadata.platformequinix.com.
  '192.80.8.124',
]);

/**
 * Only global unicast is public: no loopback, private, link-local, tunnelled or reserved address, and no service of a provider. An
 * IPv4-mapped address counts as its IPv4 address, because the connection goes there. `ipaddr.isValid` would also accept forms that are
 * not addresses for a connection, such as 1.0.
 */
function isPublic(address: string): boolean {
  if (familyOf(address) === 0) return false;
  // `ipaddr.process` would read ::3.0.0.0, as an answer of a name server is written, as 3.0.0.0.
  const parsed = ipaddr.parse(canonicalAddress(address));
  if (parsed.range() !== 'unicast' || providerServices.has(parsed.toString())) return false;
  return parsed.kind() === 'ipv4' || (parsed as ipaddr.IPv6).match(globalUnicast);
}
