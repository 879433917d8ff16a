/** The hosts of a database: one, or several of which one accepts writes, in libpq syntax. */
export interface DatabaseHosts {
  /** One URL per host. They may contain a password. */
  readonly urls: readonly string[];
  /** The hosts and the database name without credentials, for messages. */
  readonly shown: string;
  /** Read-only hosts are not used, not even for reads. */
  readonly requiresWrites: boolean;
}

const hostsMax = 9;
const parts = /^(postgres(?:ql)?:\/\/)([^/?#]*)([^?#]*)(?:\?([^#]*))?$/;
const oneHost = /^(?:\[[0-9A-Fa-f:.]+\]|[^:[\]\s]+)(?::\d{1,5})?$/;
const writableAttributes = ['read-write', 'primary'];

/** A problem is a sentence without the URL, which may contain a password. */
export function readDatabaseUrl(text: string): DatabaseHosts | { readonly problem: string } {
  const [, scheme, authority = '', path = '', query = ''] = parts.exec(text) ?? [];
  if (scheme === undefined)
    return {
      problem: 'DATABASE_URL must be a PostgreSQL URL such as postgres://user:password@host:5432/database.',
    };
  const at = authority.lastIndexOf('@');
  const credentials = authority.slice(0, at + 1);
  const hosts = authority.slice(at + 1).split(',');
  const settings = new URLSearchParams(query);
  const attributes = settings.get('target_session_attrs');
  settings.delete('target_session_attrs');
  const rest = path + (settings.size > 0 ? `?${settings}` : '');
  const urls = hosts.map((host) => `${scheme}${credentials}${host}${rest}`);
  const isPlural = hosts.length > 1;
  const problem =
    problemOfHosts(isPlural ? hosts : [], settings) ??
    problemOfAttributes(attributes, isPlural) ??
    (urls.every((url) => URL.canParse(url)) ? undefined : problemOfPassword);
  if (problem !== undefined) return { problem };
  const requiresWrites = isPlural || writableAttributes.includes(attributes ?? '');
  return { urls, shown: `${hosts.join(', ')}${path}`, requiresWrites };
}

const problemOfPassword =
  'DATABASE_URL is not valid: encode characters such as / ? # @ or % in the user or password as %2F %3F %23 %40 %25, and a port is a number up to 65535.';

function problemOfHosts(hosts: readonly string[], settings: URLSearchParams): string | undefined {
  if (settings.get('host')?.includes(','))
    return 'DATABASE_URL must list several hosts before the path, as in postgres://user:password@first:5432,second:5432/database, not as ?host=.';
  if (hosts.length > hostsMax) return `DATABASE_URL may name at most ${hostsMax} hosts.`;
  const wrong = hosts.findIndex((host) => !oneHost.test(host));
  if (wrong === -1) return undefined;
  return `The host number ${wrong + 1} of DATABASE_URL is not valid: write first:5432,second:5432 with commas and without spaces.`;
}

function problemOfAttributes(attributes: string | null, isPlural: boolean): string | undefined {
  const allowed = isPlural ? writableAttributes : [...writableAttributes, 'any'];
  if (attributes === null || allowed.includes(attributes)) return undefined;
  return `target_session_attrs of DATABASE_URL must be ${allowed.join(' or ')}: the server writes, so it must use the host that accepts writes.`;
}
