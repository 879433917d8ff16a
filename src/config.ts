import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readDatabaseUrl } from './db/database-url.ts';
import { readHostList } from './http/host-list.ts';
import { readNetworks } from './kernel/networks.ts';

/** The server settings: flags override the environment, which overrides the defaults. Read once, validated and immutable. */
export interface Config {
  readonly port: number;
  readonly host: string;
  /** Directory of the embedded database; undefined for an in-memory database. Ignored with a database URL. */
  readonly dataDirectory: string | undefined;
  readonly databaseUrl: string | undefined;
  /** File to which the running server writes its address, for the command line and health checks; undefined for none. */
  readonly connectionFile: string | undefined;
  readonly seedFile: string | undefined;
  readonly role: Role;
  /** Requests per second for each key; undefined for no limit. */
  readonly rateLimit: number | undefined;
  readonly logLevel: string;
  readonly hasMetrics: boolean;
  /** Whether spans are exported to a collector, as configured by the OpenTelemetry variables. */
  readonly hasTraces: boolean;
  readonly publicUrl: string | undefined;
  /** Networks of the proxies whose `X-Forwarded-For` names the client. */
  readonly trustedProxies: readonly string[];
  /** Hosts that requests may name in addition to the public URL's host, loopback and the listen address. */
  readonly allowedHosts: readonly string[];
  /** Encryption key material; if undefined, an embedded server generates its own. */
  readonly secret: string | undefined;
  /** Whether webhooks may go to loopback, private and link-local addresses. */
  readonly allowsPrivateWebhooks: boolean;
  /** Days until request and response bodies of delivery attempts are cleared; the attempt rows stay. */
  readonly attemptDays: number;
  /** Whether anybody may sign up in the console, or only people with an invitation. */
  readonly registration: 'open' | 'closed';
  /** The seed of a deterministic server: the same requests return the same ids and times. */
  readonly deterministic: string | undefined;
  /** Days until requests are deleted from the request log. */
  readonly requestDays: number;
  /** Token of the operator API; if undefined, an embedded server generates one, and a shared server has no operator API. */
  readonly operatorToken: string | undefined;
  /** A snapshot to import at the start; organizations that exist already are skipped. */
  readonly importFile: string | undefined;
  /** File to which all organizations are exported when the server exits. */
  readonly exportFile: string | undefined;
  /** How long to keep serving after SIGTERM with /readyz at 503, so that load balancers can drain. */
  readonly drainSeconds: number;
  /** Timeout of one database statement; after it, the caller gets 503. */
  readonly statementSeconds: number;
}

const roles = ['all', 'api', 'worker'] as const;
type Role = (typeof roles)[number];

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];
const rateLimitOnServer = 100;
const secretLengthMin = 32;
/** The file that `sandbank init` writes. */
const seedFileDefault = 'sandbank.seed.json';
const seedLengthMax = 100;
const attemptDaysDefault = '30';
const requestDaysDefault = '7';
const drainSecondsMax = 300;
const statementSecondsMax = 600;

/** An invalid flag or variable. Its message is one sentence for the person at the terminal. */
export class ConfigProblem extends Error {
  override readonly name = 'ConfigProblem';
}

/** The flags of `sandbank start`, as the argument parser of the CLI returns them. */
export interface StartFlags {
  readonly port?: string | undefined;
  readonly host?: string | undefined;
  readonly allowedHosts?: string | undefined;
  readonly data?: string | undefined;
  readonly seed?: string | undefined;
  readonly deterministic?: string | undefined;
  readonly import?: string | undefined;
  readonly exportOnExit?: string | undefined;
  readonly role?: string | undefined;
  readonly metrics?: boolean | undefined;
}

/** Commands that only open the database need no `SANDBANK_SECRET`. */
export type Purpose = 'serve' | 'inspect';

export function readConfig(
  flags: StartFlags,
  env: Readonly<Record<string, string | undefined>>,
  purpose: Purpose = 'serve',
): Config {
  const value = (flag: string | undefined, variable: string): string | undefined =>
    flag ?? (env[variable] || undefined);

  const databaseUrl = databaseUrlOf(env.DATABASE_URL || undefined);
  const deterministic = value(flags.deterministic, 'SANDBANK_DETERMINISTIC');
  const data =
    value(flags.data, 'SANDBANK_DATA_DIR') ?? (deterministic === undefined ? './.sandbank' : 'memory');
  const dataDirectory = databaseUrl !== undefined || data === 'memory' ? undefined : resolve(data);
  const config: Config = {
    port: portOf(value(flags.port, 'PORT') ?? '4000'),
    host: hostOf(value(flags.host, 'HOST') ?? '127.0.0.1'),
    dataDirectory,
    databaseUrl,
    seedFile: seedFileOf(value(flags.seed, 'SANDBANK_SEED'), databaseUrl !== undefined),
    connectionFile: connectionFileOf(env.SANDBANK_CONNECTION_FILE || undefined, dataDirectory),
    deterministic,
    role: oneOf(roles, value(flags.role, 'SANDBANK_ROLE') ?? 'all', '--role'),
    rateLimit: rateLimitOf(env.SANDBANK_RATE_LIMIT || undefined, databaseUrl !== undefined),
    logLevel: oneOf(logLevels, env.LOG_LEVEL || (databaseUrl === undefined ? 'warn' : 'info'), 'LOG_LEVEL'),
    hasMetrics: flags.metrics === true || switchOf(env.SANDBANK_METRICS || 'off', 'SANDBANK_METRICS'),
    hasTraces: deterministic === undefined && tracesOf(env),
    publicUrl: publicUrlOf(env.SANDBANK_PUBLIC_URL || undefined),
    trustedProxies: trustedProxiesOf(env.SANDBANK_TRUSTED_PROXIES || ''),
    allowedHosts: allowedHostsOf(value(flags.allowedHosts, 'SANDBANK_ALLOWED_HOSTS') ?? ''),
    secret: secretOf(env.SANDBANK_SECRET || undefined, 'SANDBANK_SECRET'),
    allowsPrivateWebhooks: switchOf(
      env.SANDBANK_PRIVATE_WEBHOOKS || (databaseUrl === undefined ? 'on' : 'off'),
      'SANDBANK_PRIVATE_WEBHOOKS',
    ),
    registration: oneOf(
      ['open', 'closed'],
      env.SANDBANK_REGISTRATION || (databaseUrl === undefined ? 'open' : 'closed'),
      'SANDBANK_REGISTRATION',
    ),
    attemptDays: daysOf(env.SANDBANK_ATTEMPT_DAYS || attemptDaysDefault, 'SANDBANK_ATTEMPT_DAYS'),
    requestDays: daysOf(env.SANDBANK_REQUEST_DAYS || requestDaysDefault, 'SANDBANK_REQUEST_DAYS'),
    operatorToken: tokenOf(env.SANDBANK_OPERATOR_TOKEN || undefined, 'SANDBANK_OPERATOR_TOKEN'),
    importFile: flags.import === undefined ? undefined : resolve(flags.import),
    exportFile: flags.exportOnExit === undefined ? undefined : resolve(flags.exportOnExit),
    drainSeconds: secondsOf(env.SANDBANK_DRAIN_SECONDS || '0', 'SANDBANK_DRAIN_SECONDS', 0, drainSecondsMax),
    statementSeconds: secondsOf(
      env.SANDBANK_STATEMENT_TIMEOUT || '10',
      'SANDBANK_STATEMENT_TIMEOUT',
      1,
      statementSecondsMax,
    ),
  };
  if (purpose === 'serve' && databaseUrl !== undefined && config.secret === undefined) {
    throw new ConfigProblem(
      'SANDBANK_SECRET is missing: with DATABASE_URL all nodes need the same secret to encrypt webhook secrets. Generate one with "openssl rand -hex 32", and protect it like the database.',
    );
  }
  if (deterministic !== undefined && (databaseUrl !== undefined || config.dataDirectory !== undefined)) {
    throw new ConfigProblem(
      '--deterministic needs a database in memory: data from an earlier run or another node would change the results. Remove DATABASE_URL and --data; use --import to load data.',
    );
  }
  if (deterministic !== undefined && deterministic.length > seedLengthMax) {
    throw new ConfigProblem(`The seed of --deterministic may have at most ${seedLengthMax} characters.`);
  }
  if (config.role !== 'all' && databaseUrl === undefined) {
    throw new ConfigProblem(
      `--role ${config.role} needs DATABASE_URL: an embedded database is used by a single process, which has all roles.`,
    );
  }
  return Object.freeze(config);
}

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new ConfigProblem(`The port must be a number from 0 to 65535, not "${text}".`);
  return port;
}

function hostOf(text: string): string {
  if (!/^[0-9A-Za-z.:_-]{1,253}$/.test(text))
    throw new ConfigProblem(`The host must be a name or an address, not "${text}".`);
  return text;
}

function allowedHostsOf(text: string): readonly string[] {
  const read = readHostList(text);
  if ('problem' in read) throw new ConfigProblem(`SANDBANK_ALLOWED_HOSTS ${read.problem}.`);
  return read.hosts;
}

function connectionFileOf(file: string | undefined, dataDirectory: string | undefined): string | undefined {
  if (file !== undefined) return resolve(file);
  return dataDirectory === undefined ? undefined : join(dataDirectory, 'cli.json');
}

function databaseUrlOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const read = readDatabaseUrl(text);
  if ('problem' in read) throw new ConfigProblem(read.problem);
  return text;
}

/** A shared server applies only an explicitly named file: its seed must not depend on the working directory of a node. */
function seedFileOf(text: string | undefined, isShared: boolean): string | undefined {
  if (text === 'none') return undefined;
  if (text !== undefined) return resolve(text);
  const file = resolve(seedFileDefault);
  return !isShared && existsSync(file) ? file : undefined;
}

function publicUrlOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new ConfigProblem(`SANDBANK_PUBLIC_URL must be an http or https URL, not "${text}".`);
  }
  return text.replace(/\/+$/, '');
}

function trustedProxiesOf(text: string): readonly string[] {
  const read = readNetworks(text);
  if ('problem' in read) throw new ConfigProblem(`SANDBANK_TRUSTED_PROXIES ${read.problem}`);
  return read.networks;
}

function rateLimitOf(text: string | undefined, isShared: boolean): number | undefined {
  if (text === undefined) return isShared ? rateLimitOnServer : undefined;
  if (text === 'off') return undefined;
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (limit < 1)
    throw new ConfigProblem(
      `SANDBANK_RATE_LIMIT must be "off" or requests per second from 1 to 999999, not "${text}".`,
    );
  return limit;
}

function secretOf(text: string | undefined, name: string): string | undefined {
  if (text !== undefined && text.length < secretLengthMin) {
    throw new ConfigProblem(
      `${name} must have at least ${secretLengthMin} characters; generate one with "openssl rand -hex 32".`,
    );
  }
  return text;
}

/** A secret that clients send in a header. */
function tokenOf(text: string | undefined, name: string): string | undefined {
  const token = secretOf(text, name);
  if (token !== undefined && !/^[!-~]+$/.test(token))
    throw new ConfigProblem(
      `${name} may contain only ASCII letters, digits and punctuation, because clients send it in a header; generate one with "openssl rand -hex 32".`,
    );
  return token;
}

function daysOf(text: string, name: string): number {
  const days = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (days < 1) throw new ConfigProblem(`${name} must be a number of days from 1 to 9999, not "${text}".`);
  return days;
}

/** The standard OpenTelemetry variables. The OpenTelemetry library itself reads the others (headers, sampling, names). */
function tracesOf(env: Readonly<Record<string, string | undefined>>): boolean {
  const endpoint = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const isOff = env.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || env.OTEL_TRACES_EXPORTER === 'none';
  if (!endpoint || isOff) return false;
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol))
    throw new ConfigProblem('OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL.');
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL;
  if (protocol === 'grpc')
    throw new ConfigProblem(
      'OTEL_EXPORTER_OTLP_PROTOCOL is grpc, but traces are exported over HTTP: use http/json and the HTTP port of the collector, 4318.',
    );
  return true;
}

function secondsOf(text: string, name: string, min: number, max: number): number {
  const seconds = /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN;
  if (!(seconds >= min && seconds <= max))
    throw new ConfigProblem(`${name} must be a number of seconds from ${min} to ${max}, not "${text}".`);
  return seconds;
}

function switchOf(text: string, name: string): boolean {
  return oneOf(['on', 'off'], text, name) === 'on';
}

function oneOf<T extends string>(choices: readonly T[], text: string, name: string): T {
  const choice = choices.find((candidate) => candidate === text);
  if (choice === undefined)
    throw new ConfigProblem(`${name} must be one of ${choices.join(', ')}, not "${text}".`);
  return choice;
}
