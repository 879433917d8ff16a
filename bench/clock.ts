/**
 * One request that advances the clock past 10,000 timers: authorizations that expire, and payments that all settle at the same
 * instant. Measured once on each database, on separate servers. The expected magnitude is seconds.
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
export const CLOCK_SECONDS_MAX = { PostgreSQL: 1, PGlite: 2.5 } as const;
const DAY_SECONDS = 86_400;
/** Loads are repeated until all requests are done, so a slow machine needs more of them. A finished load still runs for its full time. */
const LOAD_MS = 5_000;
const LOADS_MAX = 60;
const PAYMENT_ID = /"id":"(pay_[0-9a-z]{26})"/;
const SAMPLE_ID = 'pay_00000000000000000000000000';
const SCOPES = ['payments:read', 'payments:write', 'transfers:write'];

interface ClockCase {
  readonly label: string;
  /** The state before the timer fires, and the state after it. */
  readonly waits: string;
  readonly arrives: string;
  readonly action: string;
  readonly days: number;
}

const CASES: readonly ClockCase[] = [
  { label: 'authorizations expire', waits: 'authorized', arrives: 'expired', action: 'expire', days: 7 },
  {
    label: 'payments settle at one instant',
    waits: 'captured',
    arrives: 'settled',
    action: 'settle',
    days: 2,
  },
];

export interface ClockMeasured {
  readonly label: string;
  readonly database: keyof typeof CLOCK_SECONDS_MAX;
  readonly timers: number;
  readonly seconds: number;
  readonly isComplete: boolean;
  readonly isQuiet: boolean;
}

export interface ClockContext {
  readonly postgres: Postgres;
  readonly folder: string;
  readonly log: (line: string) => void;
}

export async function measureClock({
  postgres,
  folder,
  log,
}: ClockContext): Promise<readonly ClockMeasured[]> {
  const seed = path.join(folder, 'clock-seed.json');
  writeFileSync(seed, JSON.stringify(seedWith(SCOPES)));
  const results: ClockMeasured[] = [];
  for (const clockCase of CASES) {
    const databaseUrl = await postgres.createDatabase(`sandbank_clock_${clockCase.action}`);
    const dataDir = path.join(folder, `clock-${clockCase.action}`);
    for (const [database, where] of [
      ['PostgreSQL', { databaseUrl }] as const,
      ['PGlite', { dataDir }] as const,
    ]) {
      const server = await startServer({ ...where, seed });
      try {
        const measured = { database, ...(await measure(server, clockCase)) };
        log(`clock on ${database}: ${clockLine(measured)}`);
        results.push(measured);
      } finally {
        await server.stop();
      }
    }
  }
  return results;
}

/** Advancing the clock needs more scopes than the keys of the other benchmarks have. */
function seedWith(scopes: readonly string[]) {
  const [organization] = SEED.organizations;
  const apiKeys = [{ name: 'bench', key: API_KEY, scopes }];
  return { organizations: [{ name: organization?.name, applications: [{ name: 'bench', apiKeys }] }] };
}

async function measure(
  { url }: ServerProcess,
  clockCase: ClockCase,
): Promise<Omit<ClockMeasured, 'database'>> {
  const ids = await createPayments(url);
  await advancePayments(url, ids, clockCase.waits);
  const { isQuiet } = await waitForQuiet();
  const startedAt = performance.now();
  const response = await fetch(`${url}/_api/developer_api_clock/advance`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${API_KEY}`,
      'idempotency-key': randomUUID(),
      'content-type': 'application/json',
    },
    body: JSON.stringify({ seconds: clockCase.days * DAY_SECONDS }),
  });
  const text = await response.text();
  const seconds = (performance.now() - startedAt) / 1000;
  if (response.status !== 200) throw new Error(`The clock request failed with ${response.status}: ${text}`);
  const { complete, happened } = JSON.parse(text) as Advanced;
  await check(url, clockCase, ids, happened);
  return { label: clockCase.label, timers: happened.length, seconds, isComplete: complete, isQuiet };
}

interface Advanced {
  readonly complete: boolean;
  readonly happened: readonly { readonly id: string; readonly action: string }[];
}

/** Every payment must be in the response once, and be listed in its new state. */
async function check(
  url: string,
  { action, arrives }: ClockCase,
  ids: readonly string[],
  happened: Advanced['happened'],
): Promise<void> {
  const moved = new Set(happened.filter((one) => one.action === action).map(({ id }) => id));
  const missing = ids.filter((id) => !moved.has(id));
  if (missing.length > 0 || happened.length !== ids.length)
    throw new Error(
      `Of ${ids.length} payments ${missing.length} did not ${action}; the response has ${happened.length} effects.`,
    );
  const listed = await countPayments(url, arrives);
  if (listed !== ids.length) throw new Error(`${listed} of ${ids.length} payments are ${arrives}.`);
}

async function createPayments(url: string): Promise<readonly string[]> {
  const ids: string[] = [];
  let sent = 0;
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
        if (sent === TIMERS) return undefined;
        sent += 1;
        post.renewKey();
        return { bytes: post.bytes, expectedStatus: 201, transitions: 1, answered };
      };
    },
  );
  return ids;
}

async function advancePayments(url: string, ids: readonly string[], to: string): Promise<void> {
  let sent = 0;
  await load(
    url,
    () => sent === ids.length,
    (connection) => {
      const post = new KeyedPost(API_KEY, connection, `${PAYMENTS_PATH}/${SAMPLE_ID}/advance`, { to });
      const idAt = post.bytes.indexOf(SAMPLE_ID);
      return () => {
        const id = ids[sent];
        if (id === undefined) return undefined;
        sent += 1;
        post.bytes.write(id, idAt, 'latin1');
        post.renewKey();
        return { bytes: post.bytes, expectedStatus: 200, transitions: 1 };
      };
    },
  );
}

/** Sends requests until none is left, without measuring. All sent requests are answered when a load ends. */
async function load(
  url: string,
  isDone: () => boolean,
  requestsFor: (connection: number) => NextRequest,
): Promise<void> {
  for (let loads = 0; !isDone(); loads += 1) {
    if (loads === LOADS_MAX) throw new Error('The payments for the clock benchmark were not ready in time.');
    await runLoad({ url, warmupMs: 0, measureMs: LOAD_MS, requestsFor });
  }
}

export function clockLine({ label, timers, seconds, isComplete, isQuiet }: ClockMeasured): string {
  const rate = Math.round(timers / seconds).toLocaleString('en-US');
  const noise = isQuiet ? '' : ', started under other load';
  return `${timers.toLocaleString('en-US')} ${label} in ${seconds.toFixed(1)} s, ${rate} per second, complete: ${isComplete}${noise}`;
}
