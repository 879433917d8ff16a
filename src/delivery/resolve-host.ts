import { type LookupAddress, lookup } from 'node:dns';
import { Resolver } from 'node:dns/promises';

/** How names are turned into addresses: `dns.lookup` with all addresses, or something in its place. */
export type ResolveHost = (
  host: string,
  options: { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

const systemMax = 2;
const resolver = new Resolver({ timeout: 2_000, tries: 2 });
let askingSystem = 0;

/**
 * The system's own look-up knows the hosts file and everything else that people expect, but holds one of four threads for as
 * long as a name server is silent, ten seconds and more: a few endpoints whose names nobody answers for would hold up all
 * others, and whatever else needs a thread. So the system is asked for two names at a time, and for what comes meanwhile the
 * name servers are asked directly, which takes no thread.
 */
export const resolveHost: ResolveHost = (host, options, callback) => {
  if (askingSystem >= systemMax) return askServers(host, callback);
  askingSystem += 1;
  lookup(host, options, (error, addresses) => {
    askingSystem -= 1;
    callback(error, addresses);
  });
};

function askServers(host: string, callback: Parameters<ResolveHost>[2]): void {
  const asked = [4, 6].map((family) =>
    (family === 4 ? resolver.resolve4(host) : resolver.resolve6(host)).then(
      (addresses) => addresses.map((address) => ({ address, family })),
      (error: NodeJS.ErrnoException) => error,
    ),
  );
  void Promise.all(asked).then((answers) => {
    const addresses = answers.flatMap((answer) => (answer instanceof Error ? [] : answer));
    const [problem] = answers.filter((answer) => answer instanceof Error);
    callback(addresses.length > 0 ? null : (problem ?? null), addresses);
  });
}
