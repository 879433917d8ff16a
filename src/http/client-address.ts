import type { BlockList } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { canonicalAddress, familyOf, isWithin, networkListOf } from '../kernel/networks.ts';

/** Proxy chains are shorter. Addresses further left were added by the client and are ignored. */
const hopsMax = 32;

/**
 * Sets `request.ip` to the client address for all code that reads it: sign-in, allowed networks of keys, request log, audit
 * trail, access log. Fastify's own `trustProxy` would return any text that a proxy forwards.
 */
export function addClientAddress(app: FastifyInstance, trustedProxies: readonly string[]): void {
  const trusted = trustedProxies.length === 0 ? undefined : networkListOf(trustedProxies);
  app.addHook('onRequest', (request, _reply, done) => {
    const { ip, headers } = request;
    const address = clientAddressOf(ip, headers['x-forwarded-for'], trusted);
    if (address !== ip) Object.defineProperty(request, 'ip', { value: address });
    done();
  });
}

/**
 * Returns the client address. Only this function decides whether `X-Forwarded-For` counts. Each trusted proxy appends the
 * address of its peer, so the rightmost address that is not a trusted proxy is the client. Addresses further left are claims
 * of the client.
 */
export function clientAddressOf(
  peer: string | undefined,
  forwardedFor: string | readonly string[] | undefined,
  trustedProxies: BlockList | undefined,
): string {
  let address = canonicalAddress(peer ?? '');
  if (trustedProxies === undefined || forwardedFor === undefined) return address;
  const hops = [forwardedFor].flat().join(',').split(',').slice(-hopsMax).reverse();
  for (const hop of hops) {
    if (!isWithin(trustedProxies, address)) return address;
    const next = addressIn(hop.trim());
    // A proxy that forwards something else hides the client; the last known address is that of the proxy.
    if (next === undefined) return address;
    address = next;
  }
  return address;
}

/** Some proxies append a port. */
function addressIn(hop: string): string | undefined {
  const bare = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(hop)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(hop)?.[1] ?? hop;
  return familyOf(bare) === 0 ? undefined : canonicalAddress(bare);
}
