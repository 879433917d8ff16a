/** One soak on one database: traffic and disturbances for a time, a sample each interval, then a drain and the audits. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Random } from '../process/chaos/requests.ts';
import { randomFrom } from '../support/seed.ts';
import { auditsOf } from './audits.ts';
import { SoakClient } from './client.ts';
import { Cluster, type ClusterOptions } from './cluster.ts';
import { Measurements } from './latencies.ts';
import { type Planned, planOf } from './plan.ts';
import { Receivers } from './receivers.ts';
import { type Field, formatVersion, type Mark, type Run, type Sample } from './run.ts';
import { MachineSampler, machineText, NodeSampler } from './samples.ts';
import { bytesIn, type DatabaseSizes, EmbeddedSizes, sizesOnPostgres } from './tables.ts';
import { auditedApps, clocked, volatile, writeSeed } from './tenants.ts';
import { enableEndpoints, Traffic } from './traffic.ts';
import { backlogOf } from './verdicts.ts';
import { WallClock } from './wall-clock.ts';

export interface SoakOptions {
  readonly folder: string;
  readonly database: 'postgres' | 'embedded';
  readonly minutes: number;
  readonly seed: number;
  /** Requests per second. */
  readonly rate: number;
  readonly sampleSeconds: number;
  readonly warmUpSeconds: number;
  readonly daySeconds: number;
  /** Payments that exist before the traffic. */
  readonly archivedPayments: number;
  readonly nodeArgs: readonly string[];
  readonly onProgress: (text: string) => void;
}

const readingsPerSample = 6;
const drainJumpMs = 6 * 3_600_000;
const drainJumpEveryMs = 3_000;
/** Failed attempts are retried within a day of an application clock; endpoints are enabled again meanwhile. */
const drainJumpsMax = 40;
const hurryMinutes = 3;
/** Rows that a killed node left behind are sealed within a minute or two. */
const backlogReadsMax = 120;
const backlogEveryMs = 1_500;

export async function soak(options: SoakOptions): Promise<Run> {
  const session = new Session(options);
  try {
    return await session.run();
  } finally {
    await session.close();
  }
}

class Session {
  readonly #options: SoakOptions;
  readonly #clock: WallClock;
  readonly #measurements = new Measurements();
  readonly #marks: Mark[] = [];
  readonly #samples: Sample[] = [];
  #receivers: Receivers | undefined;
  #cluster: Cluster | undefined;
  #startedAt = 0;

  constructor(options: SoakOptions) {
    this.#options = options;
    this.#clock = new WallClock(path.join(options.folder, 'clock'));
  }

  async run(): Promise<Run> {
    const { folder, seed, rate, minutes, database } = this.#options;
    const receivers = await Receivers.open(this.#clock);
    this.#receivers = receivers;
    const seedFile = path.join(folder, 'seed.json');
    writeSeed(seedFile, receivers);
    const cluster = await this.#open({
      ...{ folder, seedFile, clock: this.#clock, nodeArgs: this.#options.nodeArgs },
      onExit: (text) => this.#mark('exit', text),
    });
    const sizes = await this.#sizes(cluster);
    await cluster.open();
    const client = new SoakClient(cluster.url, this.#measurements);
    const traffic = new Traffic({
      ...{ client, receivers, rate, measurements: this.#measurements, clock: this.#clock },
      archivedPayments: this.#options.archivedPayments,
      random: new Random(randomFrom(seed)),
      operatorToken: cluster.operatorToken,
      hurry: Math.max(1, hurryMinutes / minutes),
    });
    const isOnPostgres = database === 'postgres';
    await traffic.start();
    const startedAt = new Date();
    this.#startedAt = performance.now();
    const sampling = new Sampling(cluster, sizes, () => traffic.payments, this.#measurements);
    const samples = this.#sample(sampling);
    await this.#disturb(cluster, planOf(seed, { ...this.#options, isOnPostgres }));
    await samples;
    await traffic.stop();
    await this.#drain(cluster, client, sampling);
    await cluster.stopNodes();
    const audits = await auditsOf(cluster, {
      ...{
        receivers,
        clientProblems: client.problems,
        acknowledged: traffic.acknowledged.lines,
        minutes: this.#options.minutes,
      },
      clients: `${traffic.requests.toLocaleString('en')} requests and ${traffic.replays.toLocaleString('en')} retries, without a status 500 and each with a final response.`,
    });
    return {
      ...this.#description(startedAt),
      ...{ marks: this.#marks, samples: this.#samples, audits, totals: totalsOf(traffic, receivers) },
    };
  }

  async close(): Promise<void> {
    await this.#cluster?.close();
    await this.#receivers?.close();
  }

  async #open(options: ClusterOptions): Promise<Cluster> {
    const open = this.#options.database === 'postgres' ? Cluster.onPostgres : Cluster.embedded;
    this.#cluster = await open(options);
    return this.#cluster;
  }

  /** The files of the embedded tables are read while its server is stopped. */
  async #sizes(cluster: Cluster): Promise<() => Promise<DatabaseSizes>> {
    if (cluster.isOnPostgres) return () => sizesOnPostgres(cluster.databaseUrl);
    await cluster.open();
    await cluster.stopNodes();
    const embedded = await cluster.inspect((query) => EmbeddedSizes.read(query, cluster.dataDirectory));
    return async () => embedded.take();
  }

  get #seconds(): number {
    return (performance.now() - this.#startedAt) / 1_000;
  }

  #mark(kind: Mark['kind'], text: string): void {
    this.#marks.push({ at: this.#seconds, kind, text });
    this.#options.onProgress(`${kind}: ${text}`);
  }

  async #sample(sampling: Sampling): Promise<void> {
    const { minutes, sampleSeconds } = this.#options;
    const readings = Math.round((minutes * 60) / sampleSeconds) * readingsPerSample;
    const every = sampleSeconds / readingsPerSample;
    for (let i = 1; i <= readings; i += 1) {
      await this.#until(i * every);
      // A machine that is too busy leaves readings out, and never a sample.
      const isLate = this.#seconds > (i + 1) * every;
      if (!isLate) await sampling.read();
      if (i % readingsPerSample === 0) await this.#take(sampling);
    }
  }

  async #take(sampling: Sampling): Promise<void> {
    const sample = { at: this.#seconds, ...(await sampling.take(this.#samples.at(-1))) };
    this.#samples.push(sample);
    this.#options.onProgress(summaryOf(sample));
  }

  async #disturb(cluster: Cluster, plan: readonly Planned[]): Promise<void> {
    const starting: Promise<void>[] = [];
    for (const { at, kind, node, ms } of plan) {
      await this.#until(at);
      const target = cluster.nodes[node];
      if (!target) continue;
      if (kind === 'kill') {
        this.#mark(kind, `kill -9 of ${target.name}`);
        starting.push(cluster.kill(target));
      } else if (kind === 'freeze') {
        this.#mark(kind, `${target.name} stopped for ${(ms / 1_000).toFixed(1)} s`);
        await cluster.freeze(target, ms);
      } else if (kind === 'cut') {
        this.#mark(kind, 'all database connections cut');
        cluster.cutConnections();
      } else if (kind === 'restart') {
        this.#mark(kind, 'immediate restart of PostgreSQL');
        await cluster.restartDatabase();
      } else {
        this.#mark(kind, `the wall clock of the servers jumps ahead by ${ms / 3_600_000} hours`);
        this.#clock.jump(ms);
      }
    }
    await Promise.all(starting);
  }

  /** Time continues in jumps until every delivery has ended and nothing is due. */
  async #drain(cluster: Cluster, client: SoakClient, sampling: Sampling): Promise<void> {
    for (let started = false; !started; await delay(100))
      started = cluster.nodes.every((node) => node.process !== undefined);
    const post = (path: string, token: string) =>
      client.send('write', { method: 'POST', path: `/_api/developer_api_${path}`, token, mayFail: true });
    await post('reset', volatile.key);
    await post('clock/reset', clocked.key);
    for (let jump = 0; jump < drainJumpsMax; jump += 1) {
      await delay(drainJumpEveryMs);
      for (const app of auditedApps) await enableEndpoints(client, app);
      if (await this.#areDeliveriesDone(client)) break;
      this.#clock.jump(drainJumpMs);
    }
    for (let attempt = 0; attempt < backlogReadsMax; attempt += 1) {
      const backlog = await sampling.read();
      if (backlog && backlogOf(backlog, this.#options).length === 0) break;
      await delay(backlogEveryMs);
    }
    await this.#take(sampling);
  }

  async #areDeliveriesDone(client: SoakClient): Promise<boolean> {
    for (const { key } of auditedApps) {
      const pending = await client.get('list', 'webhook_deliveries?status=pending&limit=1', key);
      if (pending?.body.data?.length !== 0) return false;
    }
    return true;
  }

  async #until(seconds: number): Promise<void> {
    await delay(Math.max(0, (seconds - this.#seconds) * 1_000));
  }

  #description(startedAt: Date): Omit<Run, 'marks' | 'samples' | 'audits' | 'totals'> {
    const { seed, minutes, warmUpSeconds, sampleSeconds, daySeconds, rate, database } = this.#options;
    const isOnPostgres = database === 'postgres';
    return {
      format: formatVersion,
      database: isOnPostgres ? 'PostgreSQL, two nodes' : 'Embedded database, one process',
      startedAt: startedAt.toISOString(),
      commit: commitText(),
      version: (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version,
      machine: [
        { name: 'Machine', value: `${machineText()}, shared with the load, the receivers and the database` },
      ],
      parameters: parametersOf(rate, daySeconds),
      ...{ seed, minutes, warmUpSeconds, sampleSeconds, daySeconds },
    };
  }
}

function parametersOf(rate: number, daySeconds: number): readonly Field[] {
  return [
    { name: 'Rate', value: `${rate} requests per second, sent at that rate whatever the response times are` },
    {
      name: 'Days',
      value:
        `The servers see a day in ${(daySeconds / 60).toFixed(1)} minutes: their wall clock jumps ahead by 6 hours every ${Math.round(daySeconds / 4)} seconds. ` +
        'Between the jumps time is real, so that leases, timeouts and retries have their real durations. The retention worker runs a minute after a start and then every ten real minutes.',
    },
    {
      name: 'Retention',
      value:
        'idempotency keys 24 hours (fixed), SANDBANK_REQUEST_DAYS=1 and SANDBANK_ATTEMPT_DAYS=1 instead of 7 and 30',
    },
  ];
}

function totalsOf(traffic: Traffic, receivers: Receivers): readonly Field[] {
  const count = (value: number) => value.toLocaleString('en');
  const { organizations, streams } = traffic;
  return [
    { name: 'Requests', value: count(traffic.requests) },
    { name: 'Acknowledged writes in audited organizations', value: count(traffic.acknowledged.lines.length) },
    { name: 'Payments created', value: count(traffic.payments) },
    { name: 'Webhook requests received', value: count(receivers.total) },
    { name: 'Organizations created', value: count(organizations.created) },
    { name: 'Organizations deleted by a request', value: count(organizations.deleted) },
    { name: 'Event streams opened', value: count(streams.connections) },
  ];
}

class Sampling {
  readonly #nodes: NodeSampler;
  readonly #machine = new MachineSampler();
  readonly #cluster: Cluster;
  readonly #sizes: () => Promise<DatabaseSizes>;
  readonly #payments: () => number;
  readonly #measurements: Measurements;

  constructor(
    cluster: Cluster,
    sizes: () => Promise<DatabaseSizes>,
    payments: () => number,
    measurements: Measurements,
  ) {
    this.#nodes = new NodeSampler(cluster);
    this.#cluster = cluster;
    this.#sizes = sizes;
    this.#payments = payments;
    this.#measurements = measurements;
  }

  read(): Promise<Sample['backlog']> {
    return this.#nodes.read();
  }

  /** While PostgreSQL restarts, the sizes of the last sample count. */
  async take(last: Sample | undefined): Promise<Omit<Sample, 'at'>> {
    const sizes = await this.#sizes().catch(() => ({
      tables: last?.tables ?? [],
      databaseBytes: last?.databaseBytes ?? 0,
    }));
    return {
      ...this.#nodes.take(),
      ...sizes,
      ...this.#measurements.take(),
      walBytes: bytesIn(this.#cluster.walDirectory),
      payments: this.#payments(),
      machineShare: this.#machine.take(),
    };
  }
}

function summaryOf({ at, nodes, latencies, backlog, machineShare, payments }: Sample): string {
  const megabytes = nodes
    .map(({ residentBytes }) => `${Math.round(residentBytes / 1_048_576)} MB`)
    .join(', ');
  const write = latencies.find(({ kind }) => kind === 'write');
  return (
    `minute ${(at / 60).toFixed(1)}: ${payments} payments, memory ${megabytes}, writes p50 ${write?.p50Ms.toFixed(0)} p99 ${write?.p99Ms.toFixed(0)} ms, ` +
    `due ${backlog?.deliveriesDue ?? '?'}, machine ${Math.round(machineShare * 100)} %`
  );
}

function commitText(): string {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim();
  try {
    return `${git('rev-parse', '--short=12', 'HEAD')}${git('status', '--porcelain') === '' ? '' : ' with changes'}`;
  } catch {
    return 'unknown';
  }
}
