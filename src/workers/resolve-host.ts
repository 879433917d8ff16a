import { type LookupAddress, lookup } from 'node:dns';
import { Resolver } from 'node:dns/promises';

/** How names are turned into addresses: `dns.lookup` with all addresses, or something in its place. */
export type ResolveHost = (
  host: string,
  options: { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

const resolver = new Resolver({ timeout: 2_000, tries: 2 });
// Nobody answers in time: asking the system in its turn would take as long again.
const silent: ReadonlySet<string> = new Set(['ETIMEOUT', 'ECANCELLED']);

/**
 * The system's own look-up holds one of four threads for as long as a name server is silent, ten seconds and more: a few
 * endpoints whose names nobody answers for would hold up all others. So name servers are asked without a thread first. What
 * they do not know is left to the system, which also knows the hosts file: that answers quickly, because they did.
 */
export const resolveHost: ResolveHost = (host, options, callback) => {
  if (!host.includes('.')) return lookup(host, options, callback);
  const asked = [4, 6].map((family) =>
    (family === 4 ? resolver.resolve4(host) : resolver.resolve6(host)).then(
      (addresses) => addresses.map((address) => ({ address, family })),
      (error: NodeJS.ErrnoException) => error,
    ),
  );
  void Promise.all(asked).then((answers) => {
    const addresses = answers.flatMap((answer) => (answer instanceof Error ? [] : answer));
    if (addresses.length > 0) return callback(null, addresses);
    const late = answers.find((answer) => answer instanceof Error && silent.has(answer.code ?? ''));
    if (late instanceof Error) return callback(late, []);
    lookup(host, options, callback);
  });
};
