/** Where a database is: one host, or several of which one takes writes, as libpq spells it. */
export interface DatabaseHosts {
  /** The same URL once for each host. They may hold a password. */
  readonly urls: readonly string[];
  /** What a person may see of them. */
  readonly shown: string;
  /** A host that takes no writes is not used, not even for reads. */
  readonly mustTakeWrites: boolean;
}

const hostsMax = 9;
const parts = /^(postgres(?:ql)?:\/\/)([^/?#]*)([^?#]*)(?:\?([^#]*))?$/;
const oneHost = /^(?:\[[0-9A-Fa-f:.]+\]|[^:[\]\s]+)(?::\d{1,5})?$/;
const wordsForWrites = ['read-write', 'primary'];

/** A problem is a sentence without the URL, which may hold a password. */
export function readDatabaseUrl(text: string): DatabaseHosts | { readonly problem: string } {
  const [, scheme, authority = '', path = '', query = ''] = parts.exec(text) ?? [];
  if (scheme === undefined)
    return {
      problem: 'DATABASE_URL must be a PostgreSQL URL such as postgres://user:password@host:5432/database.',
    };
  const at = authority.lastIndexOf('@');
  const person = authority.slice(0, at + 1);
  const hosts = authority.slice(at + 1).split(',');
  const settings = new URLSearchParams(query);
  const attributes = settings.get('target_session_attrs');
  settings.delete('target_session_attrs');
  const rest = path + (settings.size > 0 ? `?${settings}` : '');
  const urls = hosts.map((host) => `${scheme}${person}${host}${rest}`);
  const isPlural = hosts.length > 1;
  const problem =
    problemOfHosts(isPlural ? hosts : [], settings) ??
    problemOfAttributes(attributes, isPlural) ??
    (urls.every((url) => URL.canParse(url)) ? undefined : problemOfPassword);
  if (problem !== undefined) return { problem };
  const mustTakeWrites = isPlural || wordsForWrites.includes(attributes ?? '');
  return { urls, shown: `${hosts.join(', ')}${path}`, mustTakeWrites };
}

const problemOfPassword =
  'DATABASE_URL cannot be read: a user or a password with characters such as / ? # @ or % must write them as %2F %3F %23 %40 %25, and a port is a number up to 65535.';

function problemOfHosts(hosts: readonly string[], settings: URLSearchParams): string | undefined {
  if (settings.get('host')?.includes(','))
    return 'DATABASE_URL names several hosts before the path, as in postgres://user:password@first:5432,second:5432/database, not as ?host=.';
  if (hosts.length > hostsMax) return `DATABASE_URL names at most ${hostsMax} hosts.`;
  const wrong = hosts.findIndex((host) => !oneHost.test(host));
  if (wrong === -1) return undefined;
  return `The host number ${wrong + 1} of DATABASE_URL is no host: write first:5432,second:5432 with commas and without spaces.`;
}

function problemOfAttributes(attributes: string | null, isPlural: boolean): string | undefined {
  const words = isPlural ? wordsForWrites : [...wordsForWrites, 'any'];
  if (attributes === null || words.includes(attributes)) return undefined;
  return `target_session_attrs of DATABASE_URL must be ${words.join(' or ')}: a server writes, so it uses the host that takes writes.`;
}
