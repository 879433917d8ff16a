/**
 * CPU time per request of the node and of PostgreSQL, for the capacity model. Reads the per-process counters of Linux before a load
 * and when the machine is idle again after it, so that background work (request log, sealing, vacuum) is included. Other systems
 * have no such counters, and nothing is measured.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Postgres } from '../test/support/postgres.ts';
import { type ServerProcess, startServer } from '../test/support/processes.ts';
import { API_KEY, createPayments } from './api.ts';
import { secondsOf, secondsOfDatabase } from './cpu-time.ts';
import { countLoad } from './load.ts';
import { waitForQuiet } from './neighbours.ts';
import { createRequests, PAYMENTS_PATH, readRequest, readRequests } from './requests.ts';
import { Caller, openReceiver, scaleSeed } from './scale-sides.ts';
import { value } from './value.ts';

const LOAD_MS = 5_500;
const READ = 1_000;
const BURSTS = 5;
const BURST = 1_000;

export interface Cost {
  readonly what: string;
  readonly count: number;
  readonly nodeMicros: number;
  readonly databaseMicros: number;
  /** Growth of the database. */
  readonly bytes: number;
}

export interface CostsContext {
  readonly postgres: Postgres;
  readonly folder: string;
  readonly log: (line: string) => void;
}

export async function measureCosts(stage: CostsContext): Promise<readonly Cost[]> {
  if (process.platform !== 'linux') return [];
  const cleanups: (() => Promise<unknown>)[] = [];
  try {
    return await measure(stage, cleanups);
  } finally {
    for (const cleanUp of cleanups.reverse()) await cleanUp();
  }
}

async function measure(
  { postgres, folder, log }: CostsContext,
  cleanups: (() => Promise<unknown>)[],
): Promise<readonly Cost[]> {
  const receiver = await openReceiver(cleanups);
  const seed = path.join(folder, 'costs-seed.json');
  writeFileSync(seed, JSON.stringify(scaleSeed(receiver.url)));
  const databaseUrl = await postgres.createDatabase('sandbank_costs');
  const start = async (role: 'api' | 'all'): Promise<ServerProcess> => {
    const env = { SANDBANK_PRIVATE_WEBHOOKS: 'on' };
    const server = await startServer({ databaseUrl, seed, env, args: ['--role', role] });
    cleanups.push(() => server.stop());
    return server;
  };
  const size = async () => Number(await value(databaseUrl, 'select pg_database_size(current_database())'));
  const costs: Cost[] = [];
  const cost = async (what: string, { pid }: ServerProcess, work: () => Promise<number>): Promise<void> => {
    await value(postgres.url, 'checkpoint');
    await waitForQuiet();
    const sizeBefore = await size();
    const before = { node: secondsOf(pid), database: secondsOfDatabase(postgres) };
    const count = await work();
    await waitForQuiet();
    const micros = (from: number, to: number) => ((to - from) * 1e6) / count;
    const one = {
      what,
      count,
      nodeMicros: micros(before.node, secondsOf(pid)),
      databaseMicros: micros(before.database, secondsOfDatabase(postgres)),
      bytes: ((await size()) - sizeBefore) / count,
    };
    log(`costs: ${costLine(one)}`);
    costs.push(one);
  };

  const api = await start('api');
  const paths = (await createPayments(api.url, READ)).map((id) => `${PAYMENTS_PATH}/${id}`);
  await value(databaseUrl, 'analyze');
  const creates = ({ url }: ServerProcess) =>
    countLoad(url, LOAD_MS, (connection) => createRequests(API_KEY, connection));
  await creates(api);
  await cost('create, node with role api', api, () => creates(api));
  await cost('GET payment, 1,000 different ones', api, () =>
    countLoad(api.url, LOAD_MS, (connection) => readRequests(API_KEY, paths, connection)),
  );
  const page = readRequest(API_KEY, PAYMENTS_PATH);
  await cost('first page of 20 payments', api, () => countLoad(api.url, LOAD_MS, () => () => page));
  await api.stop();

  const all = await start('all');
  await creates(all);
  await waitForQuiet();
  await cost('create, node with role all, which also seals the audit trail', all, () => creates(all));
  const caller = new Caller(all.url, receiver);
  cleanups.push(() => caller.close());
  await caller.burst(BURST);
  await cost('create with one delivery', all, async () => {
    for (let burst = 0; burst < BURSTS; burst += 1) await caller.burst(BURST);
    return BURSTS * BURST;
  });
  return costs;
}

export function costLine({ what, count, nodeMicros, databaseMicros, bytes }: Cost): string {
  const micros = (figure: number) => `${Math.round(figure).toLocaleString('en-US')} µs`;
  const disk = `${(bytes / 1_000).toFixed(1)} KB on disk`;
  return `${what}: ${micros(nodeMicros)} on the node, ${micros(databaseMicros)} in PostgreSQL, ${disk} (${count.toLocaleString('en-US')} requests)`;
}
