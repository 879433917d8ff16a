import { type LookupAddress, lookup } from 'node:dns';
import { Resolver } from 'node:dns/promises';

/** Resolves a host name: the signature of `dns.lookup` with all addresses. */
export type ResolveHost = (
  host: string,
  options: { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

const systemLookupsMax = 2;
const resolver = new Resolver({ timeout: 2_000, tries: 2 });
let systemLookups = 0;

/**
 * `dns.lookup` respects the hosts file and the rest of the system configuration, but blocks one of the four libuv threads until
 * the name server answers, which can take more than ten seconds. A few endpoints with unresponsive name servers would block all
 * others, and everything else that needs a thread. So at most two lookups use the system at a time; further ones query the name
 * servers directly, which uses no thread.
 */
export const resolveHost: ResolveHost = (host, options, callback) => {
  if (systemLookups >= systemLookupsMax) return queryNameServers(host, callback);
  systemLookups += 1;
  lookup(host, options, (error, addresses) => {
    systemLookups -= 1;
    callback(error, addresses);
  });
};

function queryNameServers(host: string, callback: Parameters<ResolveHost>[2]): void {
  const queries = [4, 6].map((family) =>
    (family === 4 ? resolver.resolve4(host) : resolver.resolve6(host)).then(
      (addresses) => addresses.map((address) => ({ address, family })),
      (error: NodeJS.ErrnoException) => error,
    ),
  );
  void Promise.all(queries).then((answers) => {
    const addresses = answers.flatMap((answer) => (answer instanceof Error ? [] : answer));
    const [failure] = answers.filter((answer) => answer instanceof Error);
    callback(addresses.length > 0 ? null : (failure ?? null), addresses);
  });
}
