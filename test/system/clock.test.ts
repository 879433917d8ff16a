import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { effort } from '../support/effort.ts';
import { type ServerProcess, startServer } from '../support/processes.ts';
import { newKey } from '../support/tenant.ts';
import { type Answer, call, expectRefusal, PAYMENTS, temporaryFolder } from './client.ts';
import { type Place, placesIn } from './kills.ts';

/** Dozens of rounds of timers. */
const MANY = effort(1_000, 3_000);
const FEWER = effort(400, 1_000);
const CLIENTS = 32;
const DAY_MS = 86_400_000;
/** Each payment is authorized, captured and settled on the way. */
const MOVES_EACH = 3;
const CLOCK = '/_api/developer_api_clock';
/** A lease of ten seconds, a slow machine, and the rest of the way. */
const PATIENCE = { timeout: 120_000, interval: 20 };
/** Longer than the kill and the start take on most machines; where it is not, the timer fires before the kill. */
const AHEAD_MS = 5_000;

const key = newKey();
const folder = temporaryFolder();
const seed = path.join(folder.path, 'clock.json');
const scopes = ['payments:read', 'payments:write', 'transfers:write'];
const applications = [{ name: 'web', apiKeys: [{ name: 'key', key, scopes }] }];
writeFileSync(seed, JSON.stringify({ organizations: [{ name: 'Acme', applications }] }));
const started: ServerProcess[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.kill()));
});
afterAll(() => folder.remove());

async function start(place: Place): Promise<ServerProcess> {
  const server = await startServer({ ...place.options, seed });
  started.push(server);
  return server;
}

function post(url: string, body: object, idempotencyKey: string = randomUUID()): Promise<Answer> {
  return call(url, { method: 'POST', key, body, idempotencyKey });
}

async function done(url: string, body: object): Promise<Answer['body']> {
  const { status, body: answer } = await post(url, body);
  expect(status, JSON.stringify(answer)).toBeLessThan(300);
  return answer;
}

async function clockAt(url: string): Promise<number> {
  return Date.parse(String((await call(url + CLOCK, { key })).body.now));
}

/** Payments that walk by themselves, on a clock that stands: nothing happens until it is moved. */
async function makePayments(url: string, count: number): Promise<number> {
  const { now } = await done(`${url + CLOCK}/freeze`, {});
  const body = { amount: 1_000, currency: 'EUR', captureMethod: 'manual', autoAdvance: true };
  let made = 0;
  const client = async () => {
    while (made < count) {
      made += 1;
      await done(url + PAYMENTS, body);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return Date.parse(String(now));
}

/** An advance over all of it, and the moment at which it has left its beginning and is far from its end. */
function beginAdvance(url: string, seconds: number, idempotencyKey: string) {
  const answer = post(`${url + CLOCK}/advance`, { seconds }, idempotencyKey).catch(() => undefined);
  const underway = (watcher: string, since: number) =>
    vi.waitUntil(async () => (await clockAt(watcher)) > since, PATIENCE);
  return { answer, underway };
}

const SECONDS = (3 * DAY_MS) / 1_000;

describe.each(placesIn(folder.path))('the clock on %s', (_name, open) => {
  it('carries an advance on after kill -9, brings everything about once, and keeps the answer', async () => {
    const place = await open();
    const isAlone = place.options.dataDir !== undefined;
    const first = await start(place);
    const beside = isAlone ? first : await start(place);
    const since = await makePayments(first.url, MANY);
    const { answer, underway } = beginAdvance(first.url, SECONDS, 'cut');
    await underway(beside.url, since);
    await first.kill();
    expect(await answer, 'a kill after the answer proves nothing').toBeUndefined();
    const { url } = isAlone ? await start(place) : beside;
    const to = since + 3 * DAY_MS;
    if (isAlone) {
      // Nobody asks for it again: it goes on by itself.
      await vi.waitUntil(async () => (await clockAt(url)) === to, PATIENCE);
    } else {
      // The dead node's lease holds for a while, and whoever comes with another wish has to wait as well.
      const early = await post(`${url + CLOCK}/advance`, { seconds: SECONDS }, 'cut');
      if (early.status !== 200) expectRefusal(early, 'idempotency_in_progress');
      const other = await post(`${url + CLOCK}/advance`, { to: new Date(since).toISOString() }, 'other');
      expectRefusal(other, other.status === 409 ? 'clock_advancing' : 'clock_moves_back');
    }
    const kept = await vi.waitUntil(async () => {
      const again = await post(`${url + CLOCK}/advance`, { seconds: SECONDS }, 'cut');
      return again.status === 200 && again;
    }, PATIENCE);
    expect(kept.isReplay).toBe(true);
    expect(kept.body).toMatchObject({ status: 'frozen', now: new Date(to).toISOString(), complete: true });
    expectEachOnce(kept.body.happened as readonly Happening[], MANY);
    expect(await clockAt(url)).toBe(to);
    await stopAll();
    await place.inspect((query) => expectHistory(query, MANY));
  });

  it('ends an advance in order on SIGTERM, says what is left, and finishes with the next one', async () => {
    const place = await inOwnPlace(open);
    const first = await start(place);
    const since = await makePayments(first.url, FEWER);
    const { answer, underway } = beginAdvance(first.url, SECONDS, 'stopped');
    await underway(first.url, since);
    expect(await first.stop()).toBe(0);
    const stopped = await answer;
    expect(stopped?.status, JSON.stringify(stopped?.body)).toBe(200);
    const happened = [...((stopped?.body.happened ?? []) as readonly Happening[])];
    const { url } = await start(place);
    if (stopped?.body.complete === false) {
      const left = stopped.body.left as { timers: number; to: string };
      expect(left.timers).toBeGreaterThan(0);
      expect(Date.parse(left.to)).toBe(since + 3 * DAY_MS);
      expect(await clockAt(url)).toBe(Date.parse(String(stopped.body.now)));
      const rest = await done(`${url + CLOCK}/advance`, { to: left.to });
      expect(rest).toMatchObject({ complete: true, now: left.to });
      happened.push(...(rest.happened as readonly Happening[]));
    }
    await stopAll();
    await place.inspect(async (query) => {
      await expectHistory(query, FEWER);
      // All are due at the same few instants: what was left at the one where the clock stood came about by itself after the start.
      const [alone] = await query(
        `select count(*)::integer as moves from state_history where resource = 'payment' and actor_kind = 'system'`,
      );
      expectEachOnce(happened, FEWER, Number(alone?.moves));
    });
  });

  it('fires on a running clock what waited through kill -9, with no request to see it', async () => {
    const place = await inOwnPlace(open);
    const first = await start(place);
    const { id } = await done(first.url + PAYMENTS, {
      amount: 1_000,
      currency: 'EUR',
      captureMethod: 'manual',
    });
    const held = await done(`${first.url + PAYMENTS}/${id}/advance`, { to: 'authorized' });
    const lapses = Date.parse(String(held.authorizationExpiresAt));
    await done(`${first.url + CLOCK}/advance`, { to: new Date(lapses - AHEAD_MS).toISOString() });
    await first.kill();
    const { url } = await start(place);
    const found = await vi.waitUntil(async () => {
      const { body } = await call(`${url + PAYMENTS}/${id}`, { key });
      return body.status === 'expired' && body;
    }, PATIENCE);
    expect(found.expiredAt).toBe(held.authorizationExpiresAt);
    expect(found.version).toBe(3);
  });
});

interface Happening {
  readonly at: string;
  readonly id: string;
  readonly action: string;
}

/** Three moves of each payment but for those that nobody asked for, no move twice, in order of time. */
function expectEachOnce(happened: readonly Happening[], payments: number, alone = 0): void {
  const moves = payments * MOVES_EACH - alone;
  expect(happened).toHaveLength(moves);
  expect(new Set(happened.map(({ id, action }) => `${id} ${action}`)).size).toBe(moves);
  if (alone === 0) expect(new Set(happened.map(({ id }) => id)).size).toBe(payments);
  const times = happened.map(({ at }) => at);
  expect(times.every((at, i) => i === 0 || at >= (times[i - 1] ?? ''))).toBe(true);
}

/** By the rows themselves: the clock made each move once, at its own instant, and left no timer behind. */
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
    where h.resource = 'payment' group by 1 order by 1`);
  const each = { moves: payments, payments, late: 0 };
  expect(moves).toEqual(['authorize', 'capture', 'create', 'settle'].map((action) => ({ action, ...each })));
  expect(await query('select count(*)::integer as timers from timers')).toEqual([{ timers: 0 }]);
  expect(await query('select count(*)::integer as lines from settlement_lines')).toEqual([
    { lines: payments },
  ]);
}

async function stopAll(): Promise<void> {
  for (const server of started.splice(0)) {
    if (server.child.exitCode !== null || server.child.signalCode !== null) continue;
    expect(await server.stop(), server.logs()).toBe(0);
  }
}

/** Data of its own: the embedded place is one folder, and what the test before left in it would be counted. */
async function inOwnPlace(open: () => Promise<Place>): Promise<Place> {
  const place = await open();
  if (place.options.dataDir === undefined) return place;
  const own = temporaryFolder();
  owned.push(own);
  const [, reopen] = placesIn(own.path)[0] ?? [];
  if (!reopen) throw new Error('there is an embedded place');
  return reopen();
}

const owned: ReturnType<typeof temporaryFolder>[] = [];
afterAll(() => {
  for (const one of owned) one.remove();
});
