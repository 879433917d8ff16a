/**
 * `--peers`: Sandbank on both databases beside other servers that are already running and speak the API of Stripe's payment
 * intents. Every server gets 1,000 payments first and is read before it is filled with creates, so that no list is longer than
 * another. Sandbank writes to its database; the usual peers store payments in memory.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Postgres } from '../test/support/postgres.ts';
import { startServer } from '../test/support/processes.ts';
import { createPayments, MANY_KEYS, SEED_WITH_MANY_KEYS } from './api.ts';
import { runLoad } from './load.ts';
import { median } from './measurement.ts';
import { waitForQuiet } from './neighbours.ts';
import type { Peer } from './options.ts';
import { createRequestsInTurn, inTurn, type NextRequest, PAYMENTS_PATH, readRequest } from './requests.ts';

const PAYMENTS = 1_000;
const PEER_KEY = 'sk_test_123';
const PEER_PATH = '/v1/payment_intents';
const PEER_BODY = 'amount=1250&currency=eur';
const PEER_REQUESTS_AT_ONCE = 50;

const BENCHMARKS = {
  get: 'GET of one payment',
  list: 'list of 20 payments',
  create: 'creates',
} as const;

type BenchmarkName = keyof typeof BENCHMARKS;

interface Contender {
  readonly name: string;
  readonly url: string;
  readonly requests: Readonly<Record<BenchmarkName, (connection: number) => NextRequest>>;
}

export interface PeersContext {
  readonly peers: readonly Peer[];
  readonly rounds: number;
  readonly seconds: number;
  readonly warmupSeconds: number;
  readonly postgres: Postgres;
  readonly folder: string;
  readonly cleanups: (() => Promise<unknown>)[];
  readonly log: (line: string) => void;
}

interface PeerMeasured {
  readonly what: string;
  /** Median rate of each server, by name. */
  readonly rates: Readonly<Record<string, number>>;
  /** Rate of each Sandbank server divided by that of the best peer in the same round; median over the rounds. */
  readonly ratios: Readonly<Record<string, number>>;
}

export async function measurePeers(context: PeersContext): Promise<readonly PeerMeasured[]> {
  const { log, rounds, seconds, warmupSeconds } = context;
  log(`creating ${PAYMENTS} payments on every server`);
  const own = await startOwn(context);
  const peers: Contender[] = [];
  for (const peer of context.peers) peers.push(await contenderOf(peer));
  const results: PeerMeasured[] = [];
  for (const benchmark of Object.keys(BENCHMARKS) as BenchmarkName[]) {
    const measured: ReadonlyMap<string, number>[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const rates = new Map<string, number>();
      for (const { name, url, requests } of [...own, ...peers]) {
        await waitForQuiet();
        const { ratePerSecond } = await runLoad({
          url,
          warmupMs: warmupSeconds * 1000,
          measureMs: seconds * 1000,
          requestsFor: requests[benchmark],
        });
        rates.set(name, ratePerSecond);
        log(`round ${round} of ${rounds}: ${BENCHMARKS[benchmark]}: ${name} ${Math.round(ratePerSecond)}/s`);
      }
      measured.push(rates);
    }
    const rateOf = (round: ReadonlyMap<string, number>, { name }: Contender) => round.get(name) ?? 0;
    const best = (round: ReadonlyMap<string, number>) =>
      Math.max(...peers.map((peer) => rateOf(round, peer)));
    const medians = (
      servers: readonly Contender[],
      of: (round: (typeof measured)[number], server: Contender) => number,
    ) =>
      Object.fromEntries(
        servers.map((server) => [server.name, median(measured.map((round) => of(round, server)))]),
      );
    results.push({
      what: BENCHMARKS[benchmark],
      rates: medians([...own, ...peers], rateOf),
      ratios: medians(own, (round, server) => rateOf(round, server) / best(round)),
    });
  }
  return results;
}

/** Sandbank on both databases, with 400 API keys in turn. */
async function startOwn({ postgres, folder, cleanups }: PeersContext): Promise<readonly Contender[]> {
  const seed = path.join(folder, 'peers-seed.json');
  writeFileSync(seed, JSON.stringify(SEED_WITH_MANY_KEYS));
  const own: Contender[] = [];
  for (const [name, where] of [
    ['Sandbank on PostgreSQL', { databaseUrl: await postgres.createDatabase('sandbank_peers') }] as const,
    ['Sandbank on PGlite', { dataDir: path.join(folder, 'peers') }] as const,
  ]) {
    const server = await startServer({ ...where, seed });
    cleanups.push(() => server.stop());
    const ids = await createPayments(server.url, PAYMENTS);
    const keyOf = (index: number): string => MANY_KEYS[index % MANY_KEYS.length] ?? '';
    const gets = ids.map((id, index) => readRequest(keyOf(index), `${PAYMENTS_PATH}/${id}`));
    const lists = MANY_KEYS.map((key) => readRequest(key, PAYMENTS_PATH));
    own.push({
      name,
      url: server.url,
      requests: {
        get: (connection) => inTurn(gets, connection),
        list: (connection) => inTurn(lists, connection),
        create: (connection) => createRequestsInTurn(MANY_KEYS, connection),
      },
    });
  }
  return own;
}

/** Stripe answers a create with 200, some of its substitutes with 201. */
async function contenderOf({ name, url }: Peer): Promise<Contender> {
  const first = await createOnPeer(url);
  const ids = [first.id];
  while (ids.length < PAYMENTS) {
    const some = Array.from({ length: Math.min(PEER_REQUESTS_AT_ONCE, PAYMENTS - ids.length) }, () =>
      createOnPeer(url),
    );
    ids.push(...(await Promise.all(some)).map(({ id }) => id));
  }
  const gets = ids.map((id) => readRequest(PEER_KEY, `${PEER_PATH}/${id}`));
  const list = readRequest(PEER_KEY, `${PEER_PATH}?limit=20`);
  const bytes = Buffer.from(
    `POST ${PEER_PATH} HTTP/1.1\r\nHost: ${new URL(url).host}\r\nAuthorization: Bearer ${PEER_KEY}\r\n` +
      `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${PEER_BODY.length}\r\n\r\n${PEER_BODY}`,
  );
  const create = { bytes, expectedStatus: first.status, transitions: 1 };
  return {
    name,
    url,
    requests: {
      get: (connection) => inTurn(gets, connection),
      list: () => () => list,
      create: () => () => create,
    },
  };
}

async function createOnPeer(url: string): Promise<{ readonly id: string; readonly status: number }> {
  const response = await fetch(url + PEER_PATH, {
    method: 'POST',
    headers: { authorization: `Bearer ${PEER_KEY}`, 'content-type': 'application/x-www-form-urlencoded' },
    body: PEER_BODY,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`A create request to ${url} failed with ${response.status}: ${text}`);
  return { id: (JSON.parse(text) as { id: string }).id, status: response.status };
}

export function renderPeers(measured: readonly PeerMeasured[]): string {
  const [first] = measured;
  if (first === undefined) return '';
  const ownNames = Object.keys(first.ratios);
  const heads = ['per second', ...Object.keys(first.rates), ...ownNames.map((name) => `${name} / best peer`)];
  const lines = measured.map(({ what, rates, ratios }) => [
    what,
    ...Object.values(rates).map((rate) => Math.round(rate).toLocaleString('en-US')),
    ...Object.values(ratios).map((ratio) => ratio.toFixed(2)),
  ]);
  return [heads, heads.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

/** Sandbank must be ahead in every row. */
export function peersMissed(measured: readonly PeerMeasured[]): readonly string[] {
  return measured.flatMap(({ what, ratios }) =>
    Object.entries(ratios)
      .filter(([, ratio]) => ratio <= 1)
      .map(
        ([name, ratio]) =>
          `${what}, ${name} relative to the best peer: ${ratio.toFixed(2)}, target more than 1`,
      ),
  );
}
