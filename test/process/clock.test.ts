import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { type ServerProcess, startServer } from '../support/processes.ts';
import { newKey } from '../support/tenant.ts';
import { type Answer, call, expectRefusal, PAYMENTS, temporaryFolder } from './support/client.ts';
import { databasesIn, type TestDatabase } from './support/databases.ts';

/** Dozens of rounds of timers, so that the kill comes in the middle of them. */
const PAYMENTS_AT_KILL = 1_000;
const PAYMENTS_AT_STOP = 400;
const CLIENTS = 8;
const DAY_MS = 86_400_000;
const ADVANCE_SECONDS = (3 * DAY_MS) / 1_000;
/** Each payment is authorized, captured and settled on the way. */
const MOVES_EACH = 3;
const CLOCK = '/_api/developer_api_clock';
/** For hangs only. */
const PATIENCE = { timeout: 240_000, interval: 20 };
/** Longer than the kill and the start take on most machines. Where they take longer, the timer is overdue at the start. */
const AHEAD_MS = 5_000;

const key = newKey();
/** A second application: each application has its own clock. */
const runningKey = newKey();
const scopes = ['payments:read', 'payments:write', 'transfers:write'];
const applications = [
  { name: 'web', apiKeys: [{ name: 'key', key, scopes }] },
  { name: 'running', apiKeys: [{ name: 'key', key: runningKey, scopes }] },
];

/** The servers of one test on one database, in a separate folder. */
class Fleet {
  readonly #folder = temporaryFolder();
  readonly #seed = path.join(this.#folder.path, 'clock.json');
  readonly #started: ServerProcess[] = [];
  #database: TestDatabase | undefined;

  async open(kind: number): Promise<TestDatabase> {
    writeFileSync(this.#seed, JSON.stringify({ organizations: [{ name: 'Acme', applications }] }));
    const [, open] = databasesIn(this.#folder.path)[kind] ?? [];
    if (!open) throw new Error('unknown database');
    this.#database = await open();
    return this.#database;
  }

  async start(): Promise<ServerProcess> {
    const server = await startServer({ ...this.#database?.options, seed: this.#seed });
    this.#started.push(server);
    return server;
  }

  async stopAll(): Promise<void> {
    const running = this.#started.filter(({ child }) => child.exitCode === null && child.signalCode === null);
    for (const server of running) expect(await server.stop(), server.logs()).toBe(0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#started.map((server) => server.kill()));
    this.#folder.remove();
  }
}

function post(url: string, body: object, options: { key?: string; idempotencyKey?: string } = {}) {
  return call(url, { method: 'POST', key, body, idempotencyKey: randomUUID(), ...options });
}

async function done(url: string, body: object, usedKey = key): Promise<Answer['body']> {
  const { status, body: answer } = await post(url, body, { key: usedKey });
  expect(status, JSON.stringify(answer)).toBeLessThan(300);
  return answer;
}

async function clockAt(url: string): Promise<number> {
  return Date.parse(String((await call(url + CLOCK, { key })).body.now));
}

/** Payments that advance automatically, on a frozen clock: nothing happens until the clock moves. */
async function createPayments(url: string, count: number): Promise<number> {
  const { now } = await done(`${url + CLOCK}/freeze`, {});
  const body = { amount: 1_000, currency: 'EUR', captureMethod: 'manual', autoAdvance: true };
  let created = 0;
  const client = async () => {
    while (created < count) {
      created += 1;
      await done(url + PAYMENTS, body);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return Date.parse(String(now));
}

/** Begins an advance over all timers; `underway` resolves when the clock has moved, and most timers are still pending. */
function beginAdvance(url: string, idempotencyKey: string) {
  const answer = post(`${url + CLOCK}/advance`, { seconds: ADVANCE_SECONDS }, { idempotencyKey }).catch(
    () => undefined,
  );
  const underway = (watcher: string, since: number) =>
    vi.waitUntil(async () => (await clockAt(watcher)) > since, PATIENCE);
  return { answer, underway };
}

/** A payment on a running clock, whose authorization expires soon. */
async function authorizeUntilSoon(url: string) {
  const body = { amount: 1_000, currency: 'EUR', captureMethod: 'manual' };
  const { id } = await done(url + PAYMENTS, body, runningKey);
  const held = await done(`${url + PAYMENTS}/${id}/advance`, { to: 'authorized' }, runningKey);
  const expiresAt = String(held.authorizationExpiresAt);
  const to = new Date(Date.parse(expiresAt) - AHEAD_MS).toISOString();
  await done(`${url + CLOCK}/advance`, { to }, runningKey);
  return {
    /** The timer fires without any request that writes, once, at its own time. */
    expectExpired: async (server: string) => {
      const found = await vi.waitUntil(async () => {
        const { body: payment } = await call(`${server + PAYMENTS}/${id}`, { key: runningKey });
        return payment.status === 'expired' && payment;
      }, PATIENCE);
      expect(found).toMatchObject({ expiredAt: expiresAt, version: 3 });
    },
  };
}

const kinds = databasesIn('').map(([name], kind) => [name, kind] as const);

describe.each(kinds)('the clock on %s', (_name, kind) => {
  it('continues an advance after kill -9, makes every transition once, and stores the response', async () => {
    await using fleet = new Fleet();
    const database = await fleet.open(kind);
    const isAlone = database.options.dataDir !== undefined;
    const [first, second] = await Promise.all([fleet.start(), isAlone ? undefined : fleet.start()]);
    const since = await createPayments(first.url, PAYMENTS_AT_KILL);
    const held = await authorizeUntilSoon(first.url);
    const { answer, underway } = beginAdvance(first.url, 'cut');
    await underway((second ?? first).url, since);
    await first.kill();
    expect(await answer, 'a kill after the response proves nothing').toBeUndefined();
    const { url } = second ?? (await fleet.start());
    const to = since + 3 * DAY_MS;
    if (isAlone) {
      // No client repeats the request: the server continues by itself.
      await vi.waitUntil(async () => (await clockAt(url)) === to, PATIENCE);
    } else {
      // The killed node's lease is valid for a while, and another advance has to wait as well.
      const early = await post(
        `${url + CLOCK}/advance`,
        { seconds: ADVANCE_SECONDS },
        { idempotencyKey: 'cut' },
      );
      if (early.status !== 200) expectRefusal(early, 'idempotency_in_progress');
      const other = await post(`${url + CLOCK}/advance`, { to: new Date(since).toISOString() });
      expectRefusal(other, other.status === 409 ? 'clock_advancing' : 'clock_moves_back');
    }
    await held.expectExpired(url);
    const stored = await vi.waitUntil(async () => {
      const again = await post(
        `${url + CLOCK}/advance`,
        { seconds: ADVANCE_SECONDS },
        { idempotencyKey: 'cut' },
      );
      return again.status === 200 && again;
    }, PATIENCE);
    expect(stored.isReplay).toBe(true);
    expect(stored.body).toMatchObject({ status: 'frozen', now: new Date(to).toISOString(), complete: true });
    expectEachOnce(stored.body.happened as readonly Effect[], PAYMENTS_AT_KILL);
    expect(await clockAt(url)).toBe(to);
    await fleet.stopAll();
    await database.inspect((query) => expectHistory(query, PAYMENTS_AT_KILL));
  });

  it('ends an advance cleanly on SIGTERM, reports the rest, and finishes with the next advance', async () => {
    await using fleet = new Fleet();
    const database = await fleet.open(kind);
    const first = await fleet.start();
    const since = await createPayments(first.url, PAYMENTS_AT_STOP);
    const { answer, underway } = beginAdvance(first.url, 'stopped');
    await underway(first.url, since);
    expect(await first.stop()).toBe(0);
    const stopped = await answer;
    expect(stopped?.status, JSON.stringify(stopped?.body)).toBe(200);
    const happened = [...((stopped?.body.happened ?? []) as readonly Effect[])];
    const { url } = await fleet.start();
    if (stopped?.body.complete === false) {
      const left = stopped.body.left as { timers: number; to: string };
      expect(left.timers).toBeGreaterThan(0);
      expect(Date.parse(left.to)).toBe(since + 3 * DAY_MS);
      expect(await clockAt(url)).toBe(Date.parse(String(stopped.body.now)));
      const rest = await done(`${url + CLOCK}/advance`, { to: left.to });
      expect(rest).toMatchObject({ complete: true, now: left.to });
      happened.push(...(rest.happened as readonly Effect[]));
    }
    await fleet.stopAll();
    await database.inspect(async (query) => {
      await expectHistory(query, PAYMENTS_AT_STOP);
      // Many timers are due at the same instant. Those left at the instant where the clock stopped fired by themselves after the start.
      const [alone] = await query(
        `select count(*)::integer as moves from state_history where resource = 'payment' and actor_kind = 'system'`,
      );
      expectEachOnce(happened, PAYMENTS_AT_STOP, Number(alone?.moves));
    });
  });
});

it('the clock on PostgreSQL fires pending timers after kill -9 and a restart, without a request', async () => {
  await using fleet = new Fleet();
  await fleet.open(kinds.findIndex(([name]) => name === 'PostgreSQL'));
  const first = await fleet.start();
  const held = await authorizeUntilSoon(first.url);
  await first.kill();
  await held.expectExpired((await fleet.start()).url);
});

interface Effect {
  readonly at: string;
  readonly id: string;
  readonly action: string;
}

/** Three transitions of each payment except those that fired by themselves, none twice, in order of time. */
function expectEachOnce(happened: readonly Effect[], payments: number, alone = 0): void {
  const moves = payments * MOVES_EACH - alone;
  expect(happened).toHaveLength(moves);
  expect(new Set(happened.map(({ id, action }) => `${id} ${action}`)).size).toBe(moves);
  if (alone === 0) expect(new Set(happened.map(({ id }) => id)).size).toBe(payments);
  const times = happened.map(({ at }) => at);
  expect(times.every((at, i) => i === 0 || at >= (times[i - 1] ?? ''))).toBe(true);
}

/** From the rows: each transition happened once, at its own time, and no timer is left. */
async function expectHistory(
  query: (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>,
  payments: number,
): Promise<void> {
  const moves =
    await query(`select h.action, count(*)::integer as moves, count(distinct h.resource_id)::integer as payments,
      count(*) filter (where h.at <> case h.action when 'create' then p.created_at
        when 'authorize' then p.created_at + interval '1 second' when 'capture' then p.created_at + interval '2 seconds'
        else date_trunc('day', p.created_at at time zone 'UTC') at time zone 'UTC' + interval '30 hours' end)::integer as late
    from state_history h join payments p on p.org_id = h.org_id and p.id = h.resource_id
    where h.resource = 'payment' and p.app_id = (select id from applications where name = 'web') group by 1 order by 1`);
  const each = { moves: payments, payments, late: 0 };
  expect(moves).toEqual(['authorize', 'capture', 'create', 'settle'].map((action) => ({ action, ...each })));
  expect(await query('select count(*)::integer as timers from timers')).toEqual([{ timers: 0 }]);
  expect(await query('select count(*)::integer as lines from settlement_lines')).toEqual([
    { lines: payments },
  ]);
}
