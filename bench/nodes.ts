/**
 * One node compared with two nodes on one PostgreSQL under the same load: creates, and GETs of payments. A second node helps if
 * a core is free for it; on two cores it shares them with the database, the load generator and the first node.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Postgres } from '../test/support/postgres.ts';
import { startServer } from '../test/support/processes.ts';
import { API_KEY, countPayments, createPayments, readBalances, SEED } from './api.ts';
import { runLoad } from './load.ts';
import { median } from './measurement.ts';
import { waitForQuiet } from './neighbours.ts';
import { createRequests, type NextRequest, PAYMENTS_PATH, readRequests } from './requests.ts';

const ROUNDS = 5;
const CONNECTIONS = 64;
const WARMUP_MS = 500;
const MEASURE_MS = 3_000;
const READ = 1_000;

export interface NodesMeasured {
  readonly what: string;
  readonly one: number;
  readonly two: number;
  readonly ratio: number;
  readonly isQuiet: boolean;
}

export interface NodesContext {
  readonly postgres: Postgres;
  readonly folder: string;
  readonly log: (line: string) => void;
}

type Load = (connection: number) => NextRequest;

export async function measureNodes({
  postgres,
  folder,
  log,
}: NodesContext): Promise<readonly NodesMeasured[]> {
  const seed = path.join(folder, 'nodes-seed.json');
  writeFileSync(seed, JSON.stringify(SEED));
  const databaseUrl = await postgres.createDatabase('sandbank_nodes');
  const first = await startServer({ databaseUrl, seed });
  const second = await startServer({ databaseUrl, seed });
  const results: NodesMeasured[] = [];
  try {
    const paths = (await createPayments(first.url, READ)).map((id) => `${PAYMENTS_PATH}/${id}`);
    const loads: readonly (readonly [string, Load])[] = [
      ['creates', (connection) => createRequests(API_KEY, connection)],
      ['GETs of a payment', (connection) => readRequests(API_KEY, paths, connection)],
    ];
    for (const [what, requestsFor] of loads) {
      const rounds: { one: number; two: number; isQuiet: boolean }[] = [];
      for (let round = 0; round <= ROUNDS; round += 1) {
        const { isQuiet } = await waitForQuiet();
        const one = await rateOf([first.url], requestsFor);
        const two = await rateOf([first.url, second.url], requestsFor);
        if (round > 0) rounds.push({ one, two, isQuiet });
      }
      const measured = {
        what,
        one: median(rounds.map(({ one }) => one)),
        two: median(rounds.map(({ two }) => two)),
        ratio: median(rounds.map(({ one, two }) => two / one)),
        isQuiet: rounds.every(({ isQuiet }) => isQuiet),
      };
      log(`nodes: ${nodesLine(measured)}`);
      results.push(measured);
    }
    await check(first.url, second.url);
  } finally {
    await Promise.all([first.stop(), second.stop()]);
  }
  return results;
}

/** The same total number of connections, split between the nodes. */
async function rateOf(urls: readonly string[], requestsFor: Load): Promise<number> {
  const connections = CONNECTIONS / urls.length;
  const runs = urls.map((url, node) =>
    runLoad({
      url,
      warmupMs: WARMUP_MS,
      measureMs: MEASURE_MS,
      connections,
      requestsFor: (connection) => requestsFor(node * connections + connection),
    }),
  );
  return (await Promise.all(runs)).reduce((sum, { ratePerSecond }) => sum + ratePerSecond, 0);
}

/** Both nodes must return the same data. */
async function check(first: string, second: string): Promise<void> {
  const [one, other] = await Promise.all([first, second].map((url) => readBalances(url)));
  if (JSON.stringify(one?.accounts) !== JSON.stringify(other?.accounts))
    throw new Error('Two nodes return different balances.');
  const [counted, again] = await Promise.all([first, second].map((url) => countPayments(url, 'pending')));
  if (counted !== again) throw new Error(`One node lists ${counted} payments, the other ${again}.`);
}

export function nodesLine({ what, one, two, ratio, isQuiet }: NodesMeasured): string {
  const rate = (value: number) => Math.round(value).toLocaleString('en-US');
  const noise = isQuiet ? '' : ', started under other load';
  return `${what}: one node ${rate(one)} per second, two nodes ${rate(two)}, ratio ${ratio.toFixed(2)}${noise}`;
}
