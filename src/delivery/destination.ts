import { canonicalAddress } from '../kernel/networks.ts';

/** The server that a webhook URL points to. */
export interface Destination {
  /** The same for all URLs of one server: the host name, and on loopback also the port. */
  readonly key: string;
  readonly isLoopback: boolean;
}

/**
 * On loopback each port is a separate server, and all of them belong to the operator of this process. Elsewhere all ports of a
 * host reach the same machine. `URL` has already normalized decimal, octal and mixed-case spellings.
 */
export function destinationOf(url: string): Destination {
  const cached = destinations.get(url);
  if (cached) return cached;
  const destination = parsedDestination(url);
  if (destinations.size >= destinationsMax) destinations.clear();
  destinations.set(url, destination);
  return destination;
}

/** The limits check the destination three times per request, and parsing a URL takes 1 µs. */
const destinationsMax = 1_000;
const destinations = new Map<string, Destination>();

function parsedDestination(url: string): Destination {
  const { hostname, port } = new URL(url);
  const name = canonicalAddress(hostname.replace(/\.$|^\[|\]$/g, ''));
  const isLoopback =
    name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^127(\.\d{1,3}){3}$/.test(name);
  return { key: isLoopback ? `${name} ${port}` : name, isLoopback };
}
