/**
 * The capacity model of docs/SCALING.md compared with measurements: a mixed load arrives at fixed rates, whether or not the server is ready
 * for it, and the CPU time, the disk space and the connections that it needs are compared with what the costs of single
 * requests predict. Linux only, like the costs.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { startServer } from '../test/support/processes.ts';
import { type Cost, type CostsContext, measureCosts } from './costs.ts';
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

export interface CapacityLevel {
  readonly writesPerSecond: number;
  readonly nodeCores: number;
  readonly nodeCoresPredicted: number;
  readonly databaseCores: number;
  readonly databaseCoresPredicted: number;
  /** Growth of the database for each payment. */
  readonly bytes: number;
  readonly bytesPredicted: number;
  readonly connections: number;
  readonly writeP99Ms: number;
  /** From the response to the receipt of the event. */
  readonly deliveryP99Ms: number;
}

export interface CapacityMeasured {
  readonly costs: readonly Cost[];
  readonly idle: { readonly nodeCores: number; readonly databaseCores: number };
  readonly levels: readonly CapacityLevel[];
}

export async function measureCapacity(context: CostsContext): Promise<CapacityMeasured | undefined> {
  const costs = await measureCosts(context);
  if (costs.length === 0) return undefined;
  const { postgres, folder, log } = context;
  const cleanups: (() => Promise<unknown>)[] = [];
  try {
    const receiver = await openReceiver(cleanups);
    const seed = path.join(folder, 'capacity-seed.json');
    writeFileSync(seed, JSON.stringify(scaleSeed(receiver.url)));
    const databaseUrl = await postgres.createDatabase('sandbank_capacity');
    const env = { SANDBANK_PRIVATE_WEBHOOKS: 'on', SANDBANK_RATE_LIMIT: 'off' };
    const { url, pid, stop } = await startServer({ databaseUrl, seed, env });
    cleanups.push(stop);
    const caller = new Caller(url, receiver);
    cleanups.push(() => caller.close());
    await caller.burst(1_000);
    await waitForQuiet();

    const usage = async (work: () => Promise<unknown>) => {
      const [node, database, at] = [secondsOf(pid), secondsOfDatabase(postgres), performance.now()];
      await work();
      const seconds = (performance.now() - at) / 1_000;
      return {
        nodeCores: (secondsOf(pid) - node) / seconds,
        databaseCores: (secondsOfDatabase(postgres) - database) / seconds,
      };
    };
    const size = async () => Number(await value(databaseUrl, 'select pg_database_size(current_database())'));
    const idle = await usage(() => wait(IDLE_MS));
    const levels: CapacityLevel[] = [];
    for (const rate of RATES) {
      const sizeBefore = await size();
      let load: Loaded | undefined;
      const used = await usage(async () => {
        load = await offer(caller, rate, LOAD_MS);
      });
      if (load === undefined) throw new Error('No load was measured.');
      const connections = Number(
        await value(
          databaseUrl,
          `select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
        ),
      );
      await waitForQuiet();
      const level = {
        writesPerSecond: rate,
        ...used,
        ...predict(costs, idle, rate),
        bytes: ((await size()) - sizeBefore) / load.writes,
        connections,
        writeP99Ms: load.writeP99Ms,
        deliveryP99Ms: load.deliveryP99Ms,
      };
      log(`capacity: ${capacityLine(level)}`);
      levels.push(level);
    }
    return { costs, idle, levels };
  } finally {
    for (const cleanUp of cleanups.reverse()) await cleanUp();
  }
}

/** What docs/SCALING.md computes, with the costs of this run. */
function predict(costs: readonly Cost[], idle: CapacityMeasured['idle'], writes: number) {
  const named = (start: string): Cost => {
    const cost = costs.find(({ what }) => what.startsWith(start));
    if (cost === undefined) throw new Error(`The costs of "${start}" were not measured.`);
    return cost;
  };
  const [write, read] = [named('create with one delivery'), named('GET payment')];
  const cores = (of: 'nodeMicros' | 'databaseMicros') =>
    (writes * (write[of] + READS_PER_WRITE * read[of])) / 1e6;
  return {
    nodeCoresPredicted: idle.nodeCores + cores('nodeMicros'),
    databaseCoresPredicted: idle.databaseCores + cores('databaseMicros'),
    bytesPredicted: write.bytes,
  };
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

export function capacityLine(level: CapacityLevel): string {
  const cores = (measured: number, predicted: number) =>
    `${measured.toFixed(3)} cores, predicted ${predicted.toFixed(3)} (${(measured / predicted).toFixed(2)} times)`;
  return (
    `${level.writesPerSecond} creates a second, ${READS_PER_WRITE} GETs and one delivery each: ` +
    `node ${cores(level.nodeCores, level.nodeCoresPredicted)}; ` +
    `PostgreSQL ${cores(level.databaseCores, level.databaseCoresPredicted)}; ` +
    `${(level.bytes / 1_000).toFixed(1)} KB on disk each, predicted ${(level.bytesPredicted / 1_000).toFixed(1)}; ` +
    `${level.connections} connections; p99 of creates ${level.writeP99Ms.toFixed(1)} ms, of deliveries ${level.deliveryP99Ms.toFixed(1)} ms`
  );
}
