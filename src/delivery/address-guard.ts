import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { type ResolveHost, resolveHost } from './resolve-host.ts';

/** An address that this server does not send to. Its message is a sentence for the history of the delivery. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

export interface AddressGuardSettings {
  /** Loopback, private and link-local networks too: for a laptop, where the receiver is next door. */
  readonly allowsPrivate: boolean;
  readonly resolve?: ResolveHost;
}

const resolveMsMax = 2_000;

/**
 * Keeps user-given URLs away from what only this machine can reach. A name is looked at when it is connected to, and the
 * address that was looked at is the one that is used: a resolver that answers differently a moment later gains nothing.
 */
export class AddressGuard {
  readonly #allowsPrivate: boolean;
  readonly #resolve: ResolveHost;

  constructor({ allowsPrivate, resolve = resolveHost }: AddressGuardSettings) {
    this.#allowsPrivate = allowsPrivate;
    this.#resolve = resolve;
  }

  /** What speaks against sending to this URL, in a sentence; null when nothing does, or when its name is not known now. */
  async problemOf(text: string): Promise<string | null> {
    const written = this.problemAsWritten(text);
    if (written !== null || this.#allowsPrivate) return written;
    const host = hostOf(new URL(text));
    if (ipaddr.isValid(host)) return null;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, resolveMsMax, null);
    });
    const looked = new Promise<string | null>((resolve) => {
      this.#resolve(host, { all: true }, (error, addresses) => {
        const isRefused = !error && addresses.length > 0 && this.#allowed(addresses).length === 0;
        resolve(isRefused ? refusal(host) : null);
      });
    });
    return Promise.race([looked, late]).finally(() => clearTimeout(timer));
  }

  /** The same, without asking anybody: scheme, credentials, and an address that is written out in whatever form. */
  problemAsWritten(text: string): string | null {
    if (!URL.canParse(text))
      return 'The URL cannot be read. Write it out, such as https://example.com/webhooks.';
    const url = new URL(text);
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      return `The URL begins with ${url.protocol}//, and only http and https are sent to.`;
    if (url.username !== '' || url.password !== '')
      return 'The URL holds credentials. Leave them out: every request is signed.';
    const host = hostOf(url);
    if (this.#allowsPrivate || !ipaddr.isValid(host) || isPublic(host)) return null;
    return refusal(host);
  }

  /** For the connection: resolves a name and hands on only the addresses that may be sent to. */
  readonly lookup: LookupFunction = (host, options, callback) => {
    this.#resolve(host, { all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0);
      const wanted = addresses.filter(({ family }) => !options.family || family === options.family);
      const allowed = this.#allowed(wanted);
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
 * What a name resolves to is not named: a caller could map the internal DNS of the server with it. Only servers that refuse private
 * addresses come here, and those are shared.
 */
function refusal(host: string): string {
  return ipaddr.isValid(host)
    ? `${host} is not a public address, and this server sends only to those.`
    : `${host} does not resolve to a public address, and this server sends only to those.`;
}

/** Without the brackets of an IPv6 address. The URL has already turned decimal, octal and hexadecimal forms into one. */
function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

const globalUnicast = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

/**
 * Addresses in public ranges that lead to a cloud provider's own services from inside of it: they answer only there, and trust whoever
 * asks. Other metadata addresses are in ranges that are not public anyway: 169.254.169.254 and its neighbours are link-local,
 * 100.100.100.200 (Alibaba Cloud) is carrier-grade NAT, 192.0.0.192 (Oracle Cloud) is reserved, fd00:ec2::254 (AWS) and fd20:ce::254
 * (Google Cloud) are unique local.
 */
const providerServices: ReadonlySet<string> = new Set([
  // Azure: wire server, DHCP, DNS and health probes.
  '168.63.129.16',
  // Equinix Metal: metadata.platformequinix.com.
  '192.80.8.124',
]);

/** Anything that is not plainly public is private: loopback, link-local, metadata, mapped, tunnelled, reserved. */
function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast' || providerServices.has(parsed.toString())) return false;
  return parsed.kind() === 'ipv4' || (parsed as ipaddr.IPv6).match(globalUnicast);
}
