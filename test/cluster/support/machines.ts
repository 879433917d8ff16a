/**
 * The machines of deploy/patroni on one machine: each has a loopback address instead of 10.0.0.x and a folder instead of /var/lib. Everything
 * else is what the files say. Processes are ended by their ids.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type Account,
  childrenOf,
  createFolder,
  signalIfAlive,
  unprivilegedAccount,
} from '../../support/postgres.ts';

const DEPLOY = fileURLToPath(new URL('../../../deploy/patroni/', import.meta.url));
const LOG_CHARACTERS_MAX = 2_000_000;
/** Where the files expect the programs of PostgreSQL. */
const DOCUMENTED_BIN = '/usr/lib/postgresql/15/bin';

/** A folder, an account, and a loopback network, which replace those of the files. */
export interface Site {
  readonly folder: string;
  readonly account: Account;
  /** The address of a machine of the files. */
  address(documented: string): string;
  /** The content of a file of deploy/patroni for one machine. */
  file(name: string, machine?: { readonly name: string; readonly address: string }): string;
  /** Ends all processes, and deletes the folder. Happens as well when this process ends in any way. */
  remove(): Promise<void>;
}

/** Any loopback network that no other run uses. */
function network(): string {
  return `127.${64 + (process.pid % 128)}.${1 + (Math.floor(process.pid / 128) % 250)}.`;
}

export function openSite(bin: string): Site {
  const account = unprivilegedAccount();
  const folder = createFolder(account);
  const prefix = network();
  const watcher = spawn(process.execPath, ['-e', WATCHER, '--', folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watcher.unref();
  const address = (documented: string) => documented.replaceAll('10.0.0.', prefix);
  return {
    folder,
    account,
    address,
    file: (name, machine) =>
      address(
        readFileSync(DEPLOY + name, 'utf8')
          .replaceAll('@NAME@', machine?.name ?? '@NAME@')
          .replaceAll('@ADDRESS@', machine?.address ?? '@ADDRESS@'),
      )
        .replaceAll(DOCUMENTED_BIN, bin)
        .replaceAll('/var/lib/', `${folder}/${machine?.name ?? 'shared'}/`),
    remove: async () => {
      watcher.stdin?.end();
      if (watcher.exitCode === null) await once(watcher, 'exit');
    },
  };
}

/** Patroni and its like first, so that none of them starts a server again. */
const WATCHER = `
const [folder] = process.argv.slice(1);
const fs = require('node:fs');
const end = (file, signals) => {
  try {
    const pid = Number(fs.readFileSync(folder + '/' + file, 'utf8').split('\\n')[0]);
    // A file that a killed process left behind may name another process by now.
    if (!fs.readFileSync('/proc/' + pid + '/environ', 'utf8').includes(folder)) return;
    for (const signal of signals) process.kill(pid, signal);
  } catch {}
};
process.stdin.resume().on('close', () => {
  const files = fs.readdirSync(folder, { recursive: true }).map(String);
  for (const file of files) if (file.endsWith('.service.pid')) end(file, ['SIGKILL']);
  for (const file of files) if (file.endsWith('postmaster.pid')) end(file, ['SIGCONT', 'SIGQUIT']);
  const startedAt = Date.now();
  const isRunning = () => fs.readdirSync(folder, { recursive: true }).some((file) => String(file).endsWith('postmaster.pid'));
  const wait = () => {
    if (isRunning() && Date.now() - startedAt < 10_000) return setTimeout(wait, 100);
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  wait();
});`;

export interface ServiceSettings {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
}

/** A process that a supervisor such as systemd would run. The test decides when it is started again. */
export class Service {
  readonly #site: Site;
  readonly #settings: ServiceSettings;
  #child: ChildProcess | undefined;
  #logs = '';

  constructor(site: Site, settings: ServiceSettings) {
    this.#site = site;
    this.#settings = settings;
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Writes what the process has printed lately to a file. */
  writeLogs(folder: string): void {
    writeFileSync(path.join(folder, `${this.#settings.name}.log`), this.#logs);
  }

  start(): void {
    if (this.isRunning) return;
    const { name, command, env } = this.#settings;
    const [program, ...args] = command;
    const child = spawn(program, args, {
      ...this.#site.account,
      // In a separate session, so that Ctrl-C in the terminal reaches the test first.
      detached: true,
      cwd: this.#site.folder,
      env: { PATH: process.env.PATH, LANG: 'C.UTF-8', HOME: this.#site.folder, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#logs = (this.#logs + text).slice(-LOG_CHARACTERS_MAX);
      });
    child.once('error', (error) => {
      this.#logs += String(error);
    });
    if (child.pid !== undefined)
      writeFileSync(path.join(this.#site.folder, `${name}.service.pid`), String(child.pid));
    this.#child = child;
  }

  signal(name: NodeJS.Signals): void {
    if (this.isRunning && this.#child?.pid !== undefined) signalIfAlive(this.#child.pid, name);
  }

  /** Resolves once the process has ended. */
  async end(name: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const child = this.#child;
    if (child === undefined || !this.isRunning) return;
    const exit = once(child, 'exit');
    this.signal('SIGCONT');
    this.signal(name);
    await exit;
  }
}

/** One of the three database machines: etcd, Patroni, and the PostgreSQL that Patroni starts. */
export class Machine {
  readonly name: string;
  readonly address: string;
  readonly etcd: Service;
  readonly patroni: Service;
  readonly #dataFolder: string;

  constructor(site: Site, programs: Readonly<Record<string, string>>, name: string, documented: string) {
    this.name = name;
    this.address = site.address(documented);
    const folder = path.join(site.folder, name);
    for (const part of ['', 'etcd', 'postgresql', 'postgresql/15']) {
      mkdirSync(path.join(folder, part), { recursive: true });
      if ('uid' in site.account) chownSync(path.join(folder, part), site.account.uid, site.account.gid);
    }
    const machine = { name, address: documented };
    const patroniEnv = readEnv(site.file('patroni.env', machine));
    this.#dataFolder = patroniEnv.PATRONI_POSTGRESQL_DATA_DIR ?? '';
    const config = path.join(folder, 'config.yml');
    writeFileSync(config, site.file('patroni.yml', machine));
    this.etcd = new Service(site, {
      name: `${name}-etcd`,
      command: [programs.etcd ?? ''],
      // etcd 3.4 requires the second variable on ARM.
      env: { ...readEnv(site.file('etcd.env', machine)), ETCD_UNSUPPORTED_ARCH: process.arch },
    });
    this.patroni = new Service(site, {
      name: `${name}-patroni`,
      command: [programs.patroni ?? '', config],
      env: patroniEnv,
    });
  }

  start(): void {
    this.etcd.start();
    this.patroni.start();
  }

  /** Sends a signal to every process of PostgreSQL, the postmaster first: once stopped or killed, it starts no more children. */
  signalPostgres(name: NodeJS.Signals): void {
    const pid = this.#postmaster();
    if (pid === undefined) return;
    for (const target of [pid, ...childrenOf(pid)]) signalIfAlive(target, name);
  }

  /** The machine loses power. */
  async kill(): Promise<void> {
    // Patroni must not see the others end.
    this.patroni.signal('SIGKILL');
    this.signalPostgres('SIGKILL');
    await Promise.all([this.patroni.end('SIGKILL'), this.etcd.end('SIGKILL')]);
  }

  /** Patroni stops PostgreSQL before it ends. */
  async stop(): Promise<void> {
    await this.patroni.end('SIGTERM');
    await this.etcd.end('SIGTERM');
  }

  /** A killed server leaves its file behind, and the number may belong to another process by now. */
  #postmaster(): number | undefined {
    try {
      const file = readFileSync(path.join(this.#dataFolder, 'postmaster.pid'), 'utf8');
      const pid = Number(file.split('\n')[0]);
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(this.#dataFolder) ? pid : undefined;
    } catch {
      return undefined;
    }
  }

  /** Patroni and PostgreSQL write to the same output. */
  writeLogs(folder: string): void {
    for (const service of [this.patroni, this.etcd]) service.writeLogs(folder);
  }
}

/** A file of environment variables, as systemd reads it. */
export function readEnv(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
}
