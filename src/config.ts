import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readDatabaseUrl } from './db/database-url.ts';
import { readHostList } from './http/host-list.ts';
import { readNetworks } from './kernel/networks.ts';

/** Flags, then environment, then defaults; read once, checked, and never changed afterwards. */
export interface Config {
  readonly port: number;
  readonly host: string;
  /** Where the embedded database lives; undefined keeps it in memory. Without meaning when there is a database URL. */
  readonly dataDirectory: string | undefined;
  readonly databaseUrl: string | undefined;
  /** Where the running server writes its address, for the command line and health checks; undefined writes none. */
  readonly connectionFile: string | undefined;
  readonly seedFile: string | undefined;
  readonly role: Role;
  /** Requests a second for each key; undefined is no limit. */
  readonly rateLimit: number | undefined;
  readonly logLevel: string;
  readonly hasMetrics: boolean;
  /** Whether spans are sent to a collector, by the variables of OpenTelemetry. */
  readonly hasTraces: boolean;
  readonly publicUrl: string | undefined;
  /** Networks of the proxies whose `X-Forwarded-For` names the client. */
  readonly trustedProxies: readonly string[];
  /** Hosts that requests may name besides the public URL's, loopback and the address that is listened on. */
  readonly allowedHosts: readonly string[];
  /** For encrypting what must be kept secret; undefined lets an embedded server make its own. */
  readonly secret: string | undefined;
  /** Whether webhooks may go to loopback, private and link-local addresses. */
  readonly allowsPrivateWebhooks: boolean;
  /** After so many days what was sent and answered in an attempt is cleared; that there was one stays. */
  readonly attemptDays: number;
  /** Whether anybody may sign up in the console, or only who was invited. */
  readonly registration: 'open' | 'closed';
  /** The seed of a server that repeats itself: ids and times are the same for the same requests. */
  readonly deterministic: string | undefined;
  /** After so many days a request is gone from the request log. */
  readonly requestDays: number;
  /** What the operator API takes; undefined lets an embedded server make its own, and a shared one have none. */
  readonly operatorToken: string | undefined;
  /** A snapshot that is imported at the start, if its organizations are not there yet. */
  readonly importFile: string | undefined;
  /** Where all organizations are exported to when the server ends. */
  readonly exportFile: string | undefined;
  /** How long a server that is told to stop goes on serving, while it says at /readyz that it will not: for balancers. */
  readonly drainSeconds: number;
  /** How long a caller waits for the database to answer one statement, before it gets 503. */
  readonly statementSeconds: number;
}

const roles = ['all', 'api', 'worker'] as const;
export type Role = (typeof roles)[number];

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];
const rateLimitOnServer = 100;
const secretLengthMin = 32;
/** What `sandbank init` writes. */
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

/** The flags of `sandbank start`, as the argument parser of the command line gives them. */
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
    operatorToken: secretOf(env.SANDBANK_OPERATOR_TOKEN || undefined, 'SANDBANK_OPERATOR_TOKEN'),
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
      'SANDBANK_SECRET is missing: with DATABASE_URL all nodes need the same one, to encrypt the secrets of webhooks. "openssl rand -hex 32" makes one; keep it as safe as the database.',
    );
  }
  if (deterministic !== undefined && (databaseUrl !== undefined || config.dataDirectory !== undefined)) {
    throw new ConfigProblem(
      '--deterministic goes with a database in memory: what an earlier run left behind, or another node, would change what comes next. Leave out DATABASE_URL and --data; --import brings data in.',
    );
  }
  if (deterministic !== undefined && deterministic.length > seedLengthMax) {
    throw new ConfigProblem(`The seed of --deterministic has at most ${seedLengthMax} characters.`);
  }
  if (config.role !== 'all' && databaseUrl === undefined) {
    throw new ConfigProblem(
      `--role ${config.role} needs DATABASE_URL: an embedded database has one process, which does everything.`,
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

/** A shared server applies only a file that is named: what it declares must not depend on the folder a node is started in. */
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
      `SANDBANK_RATE_LIMIT must be "off" or requests a second from 1 to 999999, not "${text}".`,
    );
  return limit;
}

function secretOf(text: string | undefined, name: string): string | undefined {
  if (text !== undefined && text.length < secretLengthMin) {
    throw new ConfigProblem(
      `${name} must have at least ${secretLengthMin} characters; "openssl rand -hex 32" makes one.`,
    );
  }
  return text;
}

function daysOf(text: string, name: string): number {
  const days = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (days < 1) throw new ConfigProblem(`${name} must be a number of days from 1 to 9999, not "${text}".`);
  return days;
}

/** The variables are OpenTelemetry's; what else they say (headers, sampling, names) is read by its own library. */
function tracesOf(env: Readonly<Record<string, string | undefined>>): boolean {
  const endpoint = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const isOff = env.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || env.OTEL_TRACES_EXPORTER === 'none';
  if (!endpoint || isOff) return false;
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol))
    throw new ConfigProblem('OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL.');
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL;
  if (protocol === 'grpc')
    throw new ConfigProblem(
      'OTEL_EXPORTER_OTLP_PROTOCOL is grpc, and traces are sent over HTTP: use http/json and the HTTP port of the collector, which is 4318.',
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
