import { type BlockList, isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { isWithin, networkListOf } from '../kernel/networks.ts';

/** A proxy chain is shorter; what a client puts in front of it is not read any further. */
const hopsMax = 32;

/**
 * Makes `request.ip` the address of the client, for everything that reads it: sign-in, allowed networks of keys, request log, audit
 * trail, access log. Fastify's own `trustProxy` would return whatever text a proxy forwards.
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
 * The address of the client: the one place that decides whether `X-Forwarded-For` counts. Each trusted proxy appends the address it
 * was called from, so the rightmost address that is not a trusted proxy is the client. Everything left of it is the client's claim.
 */
export function clientAddressOf(
  peer: string | undefined,
  forwardedFor: string | readonly string[] | undefined,
  trustedProxies: BlockList | undefined,
): string {
  let address = withoutMapping(peer ?? '');
  if (trustedProxies === undefined || forwardedFor === undefined) return address;
  const hops = [forwardedFor].flat().join(',').split(',').slice(-hopsMax).reverse();
  for (const hop of hops) {
    if (!isWithin(trustedProxies, address)) return address;
    const next = addressIn(hop.trim());
    // A proxy that forwards something else hides the client: the proxy is the last address that is known.
    if (next === undefined) return address;
    address = next;
  }
  return address;
}

/** Some proxies append a port. */
function addressIn(hop: string): string | undefined {
  const bare = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(hop)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(hop)?.[1] ?? hop;
  return isIP(bare) === 0 ? undefined : withoutMapping(bare);
}

/** An IPv4 client of a server that listens on IPv6. */
function withoutMapping(address: string): string {
  const mapped = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address)?.[1];
  return mapped !== undefined && isIP(mapped) === 4 ? mapped : address;
}
