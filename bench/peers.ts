/**
 * `--peers`: Sandbank on both databases beside other servers that are already running and speak the API of Stripe's payment
 * intents. Every server gets 1,000 payments first and is read before it is filled with creates, so that no list is longer than
 * another. Sandbank writes to its database; the usual peers store payments in memory. Every server gets 400 keys in turn, also
 * because some peers limit the requests of a key.
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
const PEER_KEYS = MANY_KEYS.map((_key, index) => `sk_test_${1_000 + index}`);
const PEER_PATH = '/v1/payment_intents';
const FORM = 'application/x-www-form-urlencoded';
const PEER_BODY = 'amount=1250&currency=eur';
const PAGE_LENGTH = 20;
const PEER_LIST = `${PEER_PATH}?limit=${PAGE_LENGTH}`;
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

/** Sandbank on both databases. */
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
    const gets = ids.map((id, index) => readRequest(keyOf(MANY_KEYS, index), `${PAYMENTS_PATH}/${id}`));
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
  const first = await createOnPeer(url, 0);
  const ids = [first.id];
  while (ids.length < PAYMENTS) {
    const some = Array.from({ length: Math.min(PEER_REQUESTS_AT_ONCE, PAYMENTS - ids.length) }, (_, i) =>
      createOnPeer(url, ids.length + i),
    );
    ids.push(...(await Promise.all(some)).map(({ id }) => id));
  }
  await checkReads(url, first.id);
  const gets = ids.map((id, index) => readRequest(keyOf(PEER_KEYS, index), `${PEER_PATH}/${id}`));
  const lists = PEER_KEYS.map((key) => readRequest(key, PEER_LIST));
  const creates = PEER_KEYS.map((key) => ({
    bytes: Buffer.from(
      `POST ${PEER_PATH} HTTP/1.1\r\nHost: ${new URL(url).host}\r\nAuthorization: Bearer ${key}\r\n` +
        `Content-Type: ${FORM}\r\nContent-Length: ${PEER_BODY.length}\r\n\r\n${PEER_BODY}`,
    ),
    expectedStatus: first.status,
    transitions: 1,
  }));
  return {
    name,
    url,
    requests: {
      get: (connection) => inTurn(gets, connection),
      list: (connection) => inTurn(lists, connection),
      create: (connection) => inTurn(creates, connection),
    },
  };
}

async function createOnPeer(
  url: string,
  index: number,
): Promise<{ readonly id: string; readonly status: number }> {
  const { body, status } = await callPeer(url + PEER_PATH, index, {
    method: 'POST',
    headers: { 'content-type': FORM },
    body: PEER_BODY,
  });
  return { id: (body as { id: string }).id, status };
}

/** The load checks only statuses: a peer that stores nothing, or has another list for each key, would be compared unfairly. */
async function checkReads(url: string, id: string): Promise<void> {
  const { body: payment } = await callPeer(`${url}${PEER_PATH}/${id}`, 1);
  const { body: page } = await callPeer(url + PEER_LIST, 2);
  const { length } = (page as { data: readonly unknown[] }).data;
  if ((payment as { id: string }).id !== id || length !== PAGE_LENGTH)
    throw new Error(
      `${url} lists ${length} payments instead of ${PAGE_LENGTH}, or returns another payment than ${id}.`,
    );
}

async function callPeer(
  address: string,
  index: number,
  { headers, ...init }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<{ readonly body: unknown; readonly status: number }> {
  const authorization = `Bearer ${keyOf(PEER_KEYS, index)}`;
  const response = await fetch(address, { ...init, headers: { ...headers, authorization } });
  const text = await response.text();
  if (!response.ok) throw new Error(`A request to ${address} failed with ${response.status}: ${text}`);
  return { body: JSON.parse(text), status: response.status };
}

function keyOf(keys: readonly string[], index: number): string {
  return keys[index % keys.length] ?? '';
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
