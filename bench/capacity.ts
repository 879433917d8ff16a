/**
 * The capacity model of docs/SCALING.md compared with measurements: a mixed load arrives at fixed rates, whether or not the server is ready
 * for it, and the CPU time, the disk space and the connections that it needs are compared with what the model predicts from
 * the costs of single requests, alone and under full load. Linux only, like the costs.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { startServer } from '../test/support/processes.ts';
import { type CostsContext, measureCosts } from './costs.ts';
import { secondsOf, secondsOfDatabase } from './cpu-time.ts';
import { percentile } from './measurement.ts';
import { waitForQuiet } from './neighbours.ts';
import { Caller, openReceiver, scaleSeed } from './scale-sides.ts';
import { value } from './value.ts';

/** Creates a second, each with one delivery: the load of a team, ten times and a hundred times that. */
const RATES = [5, 50, 500];
const READS_PER_WRITE = 3;
const LOAD_MS = 60_000;
const IDLE_MS = 20_000;
const TICK_MS = 5;

/** More requests of a kind in a second than this share batches. */
const BATCHES_PER_SECOND_MAX = 100;
const ALONE_WRITES = 300;
const ALONE_READS = 2_000;

/** Of one request with everything that follows from it. */
interface Cost {
  readonly nodeMicros: number;
  readonly databaseMicros: number;
}

interface Cores {
  readonly node: number;
  readonly database: number;
}

interface Growth {
  /** For each create, without the request log. */
  readonly recordBytes: number;
  /** For each request in the log. */
  readonly requestBytes: number;
  /** Of the write-ahead log, for each create. */
  readonly walBytes: number;
}

interface CapacityLevel extends Growth {
  readonly writesPerSecond: number;
  readonly batchesPerSecond: number;
  readonly used: Cores;
  readonly predicted: Cores;
  readonly storedRequests: number;
  readonly connections: number;
  readonly writeP99Ms: number;
  /** From the response to the receipt of the event. */
  readonly deliveryP99Ms: number;
}

interface Inputs {
  readonly idle: Cores;
  readonly write: { readonly alone: Cost; readonly full: Cost };
  readonly read: { readonly alone: Cost; readonly full: Cost };
}

/** False on systems without the counters. */
export async function measureCapacity(context: CostsContext): Promise<boolean> {
  const costs = await measureCosts(context);
  if (costs.length === 0) return false;
  const named = (start: string): Cost => {
    const cost = costs.find(({ what }) => what.startsWith(start));
    if (cost === undefined) throw new Error(`The costs of "${start}" were not measured.`);
    return cost;
  };
  // Otherwise autovacuum works on its rows during the first level, which cost three times what the requests cost.
  await value(context.postgres.url, 'drop database sandbank_costs with (force)');
  const cleanups: (() => Promise<unknown>)[] = [];
  try {
    const server = await MeasuredServer.open(context, cleanups);
    const idle = await server.used(() => wait(IDLE_MS));
    const ids: string[] = [];
    const inputs = {
      idle: idle.cores,
      write: {
        full: named('create with one delivery'),
        alone: await server.cost('create with one delivery, alone', idle.cores, ALONE_WRITES, async () => {
          const { id, receivedAt } = await server.caller.deliver();
          await receivedAt;
          ids.push(id);
        }),
      },
      read: {
        full: named('GET payment'),
        alone: await server.cost('GET payment, alone', idle.cores, ALONE_READS, (n) =>
          server.caller.get(ids[n % ids.length]),
        ),
      },
    };
    for (const rate of RATES) context.log(`capacity: ${levelLine(await server.level(rate, inputs))}`);
    return true;
  } finally {
    for (const cleanUp of cleanups.reverse()) await cleanUp();
  }
}

/** What docs/SCALING.md computes. */
function predict({ idle, write, read }: Inputs, writes: number, reads: number): Cores {
  const cores = (of: keyof Cost) =>
    (sharedMicros(writes, write.alone[of], write.full[of]) +
      sharedMicros(reads, read.alone[of], read.full[of])) /
    1e6;
  return { node: idle.node + cores('nodeMicros'), database: idle.database + cores('databaseMicros') };
}

/** A part of the cost of a request is that of its batch. */
function sharedMicros(perSecond: number, alone: number, full: number): number {
  return Math.min(perSecond, BATCHES_PER_SECOND_MAX) * (alone - full) + perSecond * full;
}

/** A server with the webhook of `scaleSeed`, and what its processes use. */
class MeasuredServer {
  readonly #context: CostsContext;
  readonly #databaseUrl: string;
  readonly #pid: number;
  readonly caller: Caller;

  private constructor(context: CostsContext, databaseUrl: string, pid: number, caller: Caller) {
    this.#context = context;
    this.#databaseUrl = databaseUrl;
    this.#pid = pid;
    this.caller = caller;
  }

  static async open(context: CostsContext, cleanups: (() => Promise<unknown>)[]): Promise<MeasuredServer> {
    const receiver = await openReceiver(cleanups);
    const seed = path.join(context.folder, 'capacity-seed.json');
    writeFileSync(seed, JSON.stringify(scaleSeed(receiver.url)));
    const databaseUrl = await context.postgres.createDatabase('sandbank_capacity');
    const env = { SANDBANK_PRIVATE_WEBHOOKS: 'on', SANDBANK_RATE_LIMIT: 'off' };
    const { url, pid, stop } = await startServer({ databaseUrl, seed, env });
    cleanups.push(stop);
    const caller = new Caller(url, receiver);
    cleanups.push(() => caller.close());
    const server = new MeasuredServer(context, databaseUrl, pid, caller);
    await caller.burst(1_000);
    // Otherwise autovacuum reads the rows of the burst during the first measurement.
    await server.#value('vacuum analyze');
    await waitForQuiet();
    return server;
  }

  async used(work: () => Promise<unknown>): Promise<{ readonly cores: Cores; readonly seconds: number }> {
    const { postgres } = this.#context;
    const [node, database, at] = [secondsOf(this.#pid), secondsOfDatabase(postgres), performance.now()];
    await work();
    const seconds = (performance.now() - at) / 1_000;
    return {
      cores: {
        node: (secondsOf(this.#pid) - node) / seconds,
        database: (secondsOfDatabase(postgres) - database) / seconds,
      },
      seconds,
    };
  }

  /** One request after the other; the idle time of the server is not part of their cost. */
  async cost(what: string, idle: Cores, count: number, request: (n: number) => Promise<void>): Promise<Cost> {
    const { cores, seconds } = await this.used(async () => {
      for (let n = 0; n < count; n += 1) await request(n);
      await waitForQuiet();
    });
    const micros = (used: number, atRest: number) => ((used - atRest) * seconds * 1e6) / count;
    const cost = {
      nodeMicros: micros(cores.node, idle.node),
      databaseMicros: micros(cores.database, idle.database),
    };
    const text = (figure: number) => `${Math.round(figure).toLocaleString('en-US')} µs`;
    this.#context.log(
      `capacity: ${what}: ${text(cost.nodeMicros)} on the node, ${text(cost.databaseMicros)} in PostgreSQL`,
    );
    return cost;
  }

  async level(writesPerSecond: number, inputs: Inputs): Promise<CapacityLevel> {
    const sizes = await this.#sizes();
    let load: Loaded | undefined;
    const { cores } = await this.used(async () => {
      load = await offer(this.caller, writesPerSecond, LOAD_MS);
    });
    if (load === undefined) throw new Error('No load was measured.');
    const connections = await this.#number(
      `select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    );
    await waitForQuiet();
    const grown = await this.#sizes();
    const storedRequests = grown.requests - sizes.requests;
    return {
      writesPerSecond,
      batchesPerSecond: (grown.batches - sizes.batches) / (LOAD_MS / 1_000),
      used: cores,
      predicted: predict(inputs, writesPerSecond, writesPerSecond * READS_PER_WRITE),
      recordBytes: (grown.recordBytes - sizes.recordBytes) / load.writes,
      requestBytes: (grown.requestBytes - sizes.requestBytes) / storedRequests,
      walBytes: (grown.walBytes - sizes.walBytes) / load.writes,
      storedRequests: storedRequests / (load.writes * (1 + READS_PER_WRITE)),
      connections,
      writeP99Ms: load.writeP99Ms,
      deliveryP99Ms: load.deliveryP99Ms,
    };
  }

  async #sizes() {
    const requestBytes = await this.#number(`select pg_total_relation_size('requests')`);
    return {
      requestBytes,
      recordBytes: (await this.#number('select pg_database_size(current_database())')) - requestBytes,
      walBytes: await this.#number(`select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')`),
      requests: await this.#number('select count(*) from requests'),
      // The payments of one batch have the same transaction.
      batches: await this.#number('select count(distinct xmin::text) from payments'),
    };
  }

  #value(query: string): Promise<string> {
    return value(this.#databaseUrl, query);
  }

  async #number(query: string): Promise<number> {
    return Number(await this.#value(query));
  }
}

interface Loaded {
  readonly writes: number;
  readonly writeP99Ms: number;
  readonly deliveryP99Ms: number;
}

/** Sends requests at this rate, whether or not earlier ones have been answered, and resolves when all events have arrived. */
async function offer(caller: Caller, writesPerSecond: number, ms: number): Promise<Loaded> {
  const writes: number[] = [];
  const deliveries: number[] = [];
  const pending: Promise<unknown>[] = [];
  const ids: string[] = [];
  const startedAt = performance.now();
  const write = async () => {
    const sentAt = performance.now();
    const { id, answeredAt, receivedAt } = await caller.deliver();
    ids.push(id);
    writes.push(answeredAt - sentAt);
    deliveries.push(Math.max(0, (await receivedAt) - answeredAt));
  };
  for (let elapsed = 0; elapsed < ms; elapsed = performance.now() - startedAt) {
    const due = Math.floor((elapsed / 1_000) * writesPerSecond);
    for (let sent = pending.length / (1 + READS_PER_WRITE); sent < due; sent += 1) {
      pending.push(write());
      for (let read = 0; read < READS_PER_WRITE; read += 1)
        pending.push(caller.get(ids[(sent * READS_PER_WRITE + read) % Math.max(1, ids.length)]));
    }
    await wait(TICK_MS);
  }
  await Promise.all(pending);
  return {
    writes: writes.length,
    writeP99Ms: percentile(writes, 99),
    deliveryP99Ms: percentile(deliveries, 99),
  };
}

function levelLine(level: CapacityLevel): string {
  const { writesPerSecond, used, predicted } = level;
  const cores = (measured: number, model: number) =>
    `${measured.toFixed(3)} cores, predicted ${model.toFixed(3)} (${(measured / model).toFixed(2)} times)`;
  const kilobytes = (bytes: number) => `${(bytes / 1_000).toFixed(1)} KB`;
  return (
    `${writesPerSecond} creates a second, ${READS_PER_WRITE} GETs and one delivery each, in ${level.batchesPerSecond.toFixed(0)} batches a second: ` +
    `node ${cores(used.node, predicted.node)}; PostgreSQL ${cores(used.database, predicted.database)}; ` +
    `${kilobytes(level.recordBytes)} on disk for each create, ${kilobytes(level.requestBytes)} for each request in the log, ` +
    `which contains ${(level.storedRequests * 100).toFixed(0)} % of them, ${kilobytes(level.walBytes)} of write-ahead log for each create; ${level.connections} connections; ` +
    `p99 of creates ${level.writeP99Ms.toFixed(1)} ms, of deliveries ${level.deliveryP99Ms.toFixed(1)} ms`
  );
}
