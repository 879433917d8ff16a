/** The whole installation that deploy/patroni describes: three database machines, HAProxy, and two Sandbank nodes. */
import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { vi } from 'vitest';
import { type ServerProcess, startServer } from '../../support/processes.ts';
import { Machine, openSite, readEnv, Service, type Site } from './machines.ts';

export const OPERATOR_TOKEN = 'the-operator-token-of-the-cluster-test';
/** For hangs only: what a cluster does takes seconds, on a busy machine a minute. */
export const STEP_MS_MAX = 240_000;
const POLL = { timeout: STEP_MS_MAX, interval: 100 };
const NODES = ['10.0.0.21', '10.0.0.22'];
const machines = [
  ['db1', '10.0.0.11'],
  ['db2', '10.0.0.12'],
  ['db3', '10.0.0.13'],
] as const;

/** A member of the cluster, as Patroni describes it. */
interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
  readonly timeline?: number;
}

export interface Programs {
  readonly files: Readonly<Record<string, string>>;
  /** The folder of PostgreSQL's programs. */
  readonly bin: string;
}

export class Cluster {
  /** The address that clients use: HAProxy. */
  readonly url: string;
  readonly databaseUrl: string;
  readonly machines: readonly Machine[];
  readonly site: Site;
  readonly #programs: Programs;
  readonly #haproxy: Service;
  readonly #nodes: (ServerProcess | undefined)[] = NODES.map(() => undefined);

  constructor(programs: Programs) {
    this.#programs = programs;
    this.site = openSite(programs.bin);
    this.machines = machines.map(([name, address]) => new Machine(this.site, programs.files, name, address));
    const config = path.join(this.site.folder, 'haproxy.cfg');
    writeFileSync(config, this.site.file('haproxy.cfg'));
    this.#haproxy = new Service(this.site, {
      name: 'haproxy',
      command: [programs.files.haproxy ?? '', '-db', '-f', config],
      env: {},
    });
    this.url = this.site.address('http://10.0.0.20:8080');
    this.databaseUrl = this.#nodeEnv(NODES[0] ?? '').DATABASE_URL ?? '';
  }

  /** Creates the cluster and the database, and starts the nodes. */
  async create(): Promise<void> {
    for (const machine of this.machines) machine.start();
    this.#haproxy.start();
    await this.whole();
    const leader = await this.leader();
    const env = readEnv(this.site.file('patroni.env', { name: leader.name, address: leader.address }));
    const sql = path.join(this.site.folder, 'database.sql');
    writeFileSync(sql, this.site.file('database.sql'));
    await promisify(execFile)(
      path.join(this.#programs.bin, 'psql'),
      [
        '-h',
        this.site.address('10.0.0.20'),
        '-U',
        'postgres',
        '-v',
        'ON_ERROR_STOP=1',
        '-f',
        sql,
        'postgres',
      ],
      { env: { PGPASSWORD: env.PATRONI_SUPERUSER_PASSWORD } },
    );
    await this.startNodes();
  }

  get nodes(): readonly ServerProcess[] {
    return this.#nodes.filter((node) => node !== undefined);
  }

  /** Starts the nodes that are not running, and waits until HAProxy reaches one. */
  async startNodes(): Promise<void> {
    await Promise.all(
      NODES.map(async (documented, i) => {
        if (this.#nodes[i] !== undefined) return;
        const env = { ...this.#nodeEnv(documented), ...this.#extraEnv(i) };
        this.#nodes[i] = await startServer({ port: Number(env.PORT), env });
      }),
    );
    await vi.waitUntil(
      async () =>
        (await fetch(`${this.url}/readyz`)
          .catch(() => undefined)
          .then((answer) => answer?.status)) === 200,
      POLL,
    );
  }

  async killNode(i: number): Promise<void> {
    const node = this.#nodes[i];
    this.#nodes[i] = undefined;
    await node?.kill();
  }

  async killNodes(): Promise<void> {
    await Promise.all(NODES.map((_address, i) => this.killNode(i)));
  }

  /** Sends SIGTERM; every node must exit with code 0. */
  async stopNodes(): Promise<void> {
    const nodes = this.#nodes.splice(0).filter((node) => node !== undefined);
    this.#nodes.push(...NODES.map(() => undefined));
    const codes = await Promise.all(nodes.map((node) => node.stop()));
    if (codes.some((code) => code !== 0)) throw new Error(`Nodes ended with ${codes.join(' and ')}.`);
  }

  #nodeEnv(documented: string): Readonly<Record<string, string>> {
    return readEnv(this.site.file('sandbank.env', { name: '', address: documented }));
  }

  /** The database on one machine. */
  urlAt(address: string): string {
    return this.#withHosts(`${address}:5432`);
  }

  /** For commands that read the database. */
  get verifyEnv(): Readonly<Record<string, string>> {
    return { ...this.#nodeEnv(NODES[0] ?? ''), SANDBANK_STATEMENT_TIMEOUT: '600' };
  }

  #withHosts(hosts: string): string {
    const [start, end] = [this.databaseUrl.indexOf('@') + 1, this.databaseUrl.indexOf('/sandbank?')];
    return this.databaseUrl.slice(0, start) + hosts + this.databaseUrl.slice(end);
  }

  /** What the tests need beyond the file. The second node reaches PostgreSQL through HAProxy, as clients of one address do. */
  #extraEnv(i: number): Readonly<Record<string, string>> {
    return {
      SANDBANK_PRIVATE_WEBHOOKS: 'on',
      SANDBANK_OPERATOR_TOKEN: OPERATOR_TOKEN,
      SANDBANK_RATE_LIMIT: 'off',
      // The default, which the helper of other tests replaces.
      SANDBANK_STATEMENT_TIMEOUT: '10',
      LOG_LEVEL: 'warn',
      ...(i === 1 ? { DATABASE_URL: this.#withHosts(this.site.address('10.0.0.20:5432')) } : {}),
    };
  }

  /** The members as any machine that responds describes them. */
  async members(): Promise<readonly Member[]> {
    for (const { address } of this.machines) {
      const answer = await fetch(`http://${address}:8008/cluster`, { signal: AbortSignal.timeout(2_000) })
        .then((response) => response.json() as Promise<{ members: readonly Member[] }>)
        .catch(() => undefined);
      if (answer) return answer.members;
    }
    return [];
  }

  /** Resolves when one leader, its synchronous standby and another standby are in step. */
  async whole(): Promise<void> {
    let seen: readonly Member[] = [];
    try {
      await vi.waitUntil(async () => {
        seen = await this.members();
        return isWhole(seen) && (await this.#followersStream());
      }, POLL);
    } catch (error) {
      const logs = this.writeLogs();
      throw new Error(`The cluster is not whole (logs: ${logs}): ${JSON.stringify(seen)}`, { cause: error });
    }
  }

  /** Writes the logs of all processes to a folder that remains, and returns its path. */
  writeLogs(): string {
    const folder = mkdtempSync(path.join(tmpdir(), 'sandbank-cluster-logs-'));
    for (const machine of this.machines) machine.writeLogs(folder);
    this.#haproxy.writeLogs(folder);
    for (const [i, node] of this.#nodes.entries())
      if (node) writeFileSync(path.join(folder, `node${i + 1}.log`), node.logs());
    return folder;
  }

  /** The health checks of both standbys, which HAProxy and people use. */
  async #followersStream(): Promise<boolean> {
    const states = await Promise.all(
      this.machines.map(({ address }) =>
        fetch(`http://${address}:8008/replica`, { signal: AbortSignal.timeout(2_000) })
          .then(({ status }) => status)
          .catch(() => 0),
      ),
    );
    return states.filter((status) => status === 200).length === this.machines.length - 1;
  }

  async leader(): Promise<Machine> {
    return this.#named((await this.members()).find(({ role }) => role === 'leader')?.name);
  }

  async synchronousStandby(): Promise<Machine> {
    return this.#named((await this.members()).find(({ role }) => role === 'sync_standby')?.name);
  }

  /** Resolves when another machine than this one leads. */
  async leaderOtherThan(machine: Machine): Promise<Machine> {
    const isOther = ({ role, name, state }: Member) =>
      role === 'leader' && name !== machine.name && state === 'running';
    return vi.waitUntil(async () => {
      const found = (await this.members()).find(isOther);
      return found && this.#named(found.name);
    }, POLL);
  }

  async etcdLeader(): Promise<Machine> {
    for (const machine of this.machines) {
      const status = await fetch(`http://${machine.address}:2379/v3/maintenance/status`, {
        method: 'POST',
        body: '{}',
      }).then((response) => response.json() as Promise<{ leader: string; header: { member_id: string } }>);
      if (status.leader === status.header.member_id) return machine;
    }
    throw new Error('etcd has no leader');
  }

  /** A planned switchover to the synchronous standby, with the command that the documentation names. */
  async switchover(): Promise<void> {
    const [leader, candidate] = [await this.leader(), await this.synchronousStandby()];
    const config = path.join(this.site.folder, leader.name, 'config.yml');
    const env = readEnv(this.site.file('patroni.env', { name: leader.name, address: leader.address }));
    const args = [
      '-c',
      config,
      'switchover',
      '--master',
      leader.name,
      '--candidate',
      candidate.name,
      '--force',
    ];
    await promisify(execFile)(this.#programs.files.patronictl ?? '', args, {
      env: { PATH: process.env.PATH, LANG: 'C.UTF-8', HOME: this.site.folder, ...env },
    });
  }

  /** Stops HAProxy and the database machines. */
  async stopMachines(): Promise<void> {
    await this.#haproxy.end('SIGTERM');
    await Promise.all(this.machines.map((machine) => machine.stop()));
  }

  startMachines(): void {
    for (const machine of this.machines) machine.start();
    this.#haproxy.start();
  }

  async remove(): Promise<void> {
    await this.killNodes();
    await this.#haproxy.end('SIGKILL');
    await this.site.remove();
  }

  #named(name: string | undefined): Machine {
    const machine = this.machines.find((one) => one.name === name);
    if (machine === undefined) throw new Error(`No machine has this role: ${name}`);
    return machine;
  }
}

function isWhole(members: readonly Member[]): boolean {
  const count = (isOne: (member: Member) => boolean) => members.filter(isOne).length;
  const leader = members.find(({ role, state }) => role === 'leader' && state === 'running');
  return (
    members.length === machines.length &&
    leader !== undefined &&
    count(({ role }) => role === 'sync_standby') === 1 &&
    count(({ timeline, state }) => timeline === leader.timeline && /running|streaming/.test(state)) === 3
  );
}
