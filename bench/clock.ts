/**
 * One request that moves the clock over ten thousand timers: authorizations that lapse, and payments that are all paid out at
 * the same instant. Measured once on each database, on servers of their own: what counts is that it takes seconds.
 */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import type { Postgres } from '../test/support/postgres.ts';
import { type ServerProcess, startServer } from '../test/support/processes.ts';
import { API_KEY, countPayments, SEED } from './api.ts';
import { runLoad } from './load.ts';
import { waitForQuiet } from './neighbours.ts';
import { KeyedPost, type NextRequest, PAYMENT_BODY, PAYMENTS_PATH } from './requests.ts';

const TIMERS = 10_000;
const DAY_SECONDS = 86_400;
/** Loads are repeated until all is done, so a slow machine only takes more of them; an ended one lives on until its time is over. */
const LOAD_MS = 5_000;
const LOADS_MAX = 60;
const PAYMENT_ID = /"id":"(pay_[0-9a-z]{26})"/;
const SAMPLE_ID = 'pay_00000000000000000000000000';
const SCOPES = ['payments:read', 'payments:write', 'transfers:write'];

interface Way {
  readonly words: string;
  /** The state in which a payment waits, and the one that its timer brings it to. */
  readonly waits: string;
  readonly arrives: string;
  readonly action: string;
  readonly days: number;
}

const WAYS: readonly Way[] = [
  { words: 'authorizations lapse', waits: 'authorized', arrives: 'expired', action: 'expire', days: 7 },
  {
    words: 'payments settle at one instant',
    waits: 'captured',
    arrives: 'settled',
    action: 'settle',
    days: 2,
  },
];

export interface ClockMeasured {
  readonly words: string;
  readonly database: string;
  readonly timers: number;
  readonly seconds: number;
  readonly isComplete: boolean;
  readonly isQuiet: boolean;
}

export interface ClockStage {
  readonly postgres: Postgres;
  readonly folder: string;
  readonly say: (line: string) => void;
}

export async function measureClock({ postgres, folder, say }: ClockStage): Promise<readonly ClockMeasured[]> {
  const seed = path.join(folder, 'clock-seed.json');
  writeFileSync(seed, JSON.stringify(seedWith(SCOPES)));
  const results: ClockMeasured[] = [];
  for (const way of WAYS) {
    const databaseUrl = await postgres.createDatabase(`sandbank_clock_${way.action}`);
    const dataDir = path.join(folder, `clock-${way.action}`);
    for (const [database, where] of [
      ['PostgreSQL', { databaseUrl }] as const,
      ['PGlite', { dataDir }] as const,
    ]) {
      const server = await startServer({ ...where, seed });
      try {
        const measured = { database, ...(await measure(server, way)) };
        say(`the clock on ${database}: ${clockLine(measured)}`);
        results.push(measured);
      } finally {
        await server.stop();
      }
    }
  }
  return results;
}

/** Moving the clock takes more than the keys of the other contenders may do. */
function seedWith(scopes: readonly string[]) {
  const [organization] = SEED.organizations;
  const apiKeys = [{ name: 'bench', key: API_KEY, scopes }];
  return { organizations: [{ name: organization?.name, applications: [{ name: 'bench', apiKeys }] }] };
}

async function measure({ url }: ServerProcess, way: Way): Promise<Omit<ClockMeasured, 'database'>> {
  const ids = await createPayments(url);
  await advancePayments(url, ids, way.waits);
  const { isQuiet } = await waitForQuiet();
  const startedAt = performance.now();
  const response = await fetch(`${url}/_api/developer_api_clock/advance`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${API_KEY}`,
      'idempotency-key': randomUUID(),
      'content-type': 'application/json',
    },
    body: JSON.stringify({ seconds: way.days * DAY_SECONDS }),
  });
  const text = await response.text();
  const seconds = (performance.now() - startedAt) / 1000;
  if (response.status !== 200) throw new Error(`The clock was answered with ${response.status}: ${text}`);
  const { complete, happened } = JSON.parse(text) as Advanced;
  await check(url, way, ids, happened);
  return { words: way.words, timers: happened.length, seconds, isComplete: complete, isQuiet };
}

interface Advanced {
  readonly complete: boolean;
  readonly happened: readonly { readonly id: string; readonly action: string }[];
}

/** Every payment, once, by the answer and by the list. */
async function check(
  url: string,
  { action, arrives }: Way,
  ids: readonly string[],
  happened: Advanced['happened'],
): Promise<void> {
  const moved = new Set(happened.filter((one) => one.action === action).map(({ id }) => id));
  const missing = ids.filter((id) => !moved.has(id));
  if (missing.length > 0 || happened.length !== ids.length)
    throw new Error(
      `Of ${ids.length} payments ${missing.length} did not ${action}; ${happened.length} moves are told.`,
    );
  const listed = await countPayments(url, arrives);
  if (listed !== ids.length) throw new Error(`${listed} of ${ids.length} payments are ${arrives}.`);
}

async function createPayments(url: string): Promise<readonly string[]> {
  const ids: string[] = [];
  let asked = 0;
  await load(
    url,
    () => ids.length === TIMERS,
    (connection) => {
      const post = new KeyedPost(API_KEY, connection, PAYMENTS_PATH, {
        ...PAYMENT_BODY,
        captureMethod: 'manual',
      });
      const answered = (body: string): void => {
        const id = PAYMENT_ID.exec(body)?.[1];
        if (id === undefined) throw new Error(`A created payment has no id: ${body}`);
        ids.push(id);
      };
      return () => {
        if (asked === TIMERS) return undefined;
        asked += 1;
        post.renewKey();
        return { bytes: post.bytes, expectedStatus: 201, moves: 1, answered };
      };
    },
  );
  return ids;
}

async function advancePayments(url: string, ids: readonly string[], to: string): Promise<void> {
  let asked = 0;
  await load(
    url,
    () => asked === ids.length,
    (connection) => {
      const post = new KeyedPost(API_KEY, connection, `${PAYMENTS_PATH}/${SAMPLE_ID}/advance`, { to });
      const idAt = post.bytes.indexOf(SAMPLE_ID);
      return () => {
        const id = ids[asked];
        if (id === undefined) return undefined;
        asked += 1;
        post.bytes.write(id, idAt, 'latin1');
        post.renewKey();
        return { bytes: post.bytes, expectedStatus: 200, moves: 1 };
      };
    },
  );
}

/** Until there is nothing left to ask; nothing is measured here. What was asked is answered when a load ends. */
async function load(
  url: string,
  isDone: () => boolean,
  requestsFor: (connection: number) => NextRequest,
): Promise<void> {
  for (let loads = 0; !isDone(); loads += 1) {
    if (loads === LOADS_MAX) throw new Error('The payments for the clock are not ready in time.');
    await runLoad({ url, warmupMs: 0, measureMs: LOAD_MS, requestsFor });
  }
}

export function clockLine({ words, timers, seconds, isComplete, isQuiet }: ClockMeasured): string {
  const rate = Math.round(timers / seconds).toLocaleString('en-US');
  const spoiled = isQuiet ? '' : ', begun beside other work';
  return `${timers.toLocaleString('en-US')} ${words} in ${seconds.toFixed(1)} s, ${rate} a second, complete: ${isComplete}${spoiled}`;
}
