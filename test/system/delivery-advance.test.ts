import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Answer, call, createPayment, PAYMENTS, SPARE_KEY } from './client.ts';
import { auditDeliveries } from './delivery-audit.ts';
import { allSent, CLOCK, done, endpoint, expireLeases, openHome, post } from './delivery-endpoints.ts';
import { type Answering, atOnce, openInbox } from './delivery-inbox.ts';
import { type Nodes, openNodes } from './delivery-roles.ts';
import { queryPostgres } from './records.ts';

const POLL_MS_MAX = 5_000;
const DAY_MS = 86_400_000;
const SECONDS = (3 * DAY_MS) / 1_000;
/** A second until it is due, a second until it is looked for, and a slow machine. */
const NEIGHBOUR_MS_MAX = 6_000;
const WALKERS = 5;
/** Each payment is authorized, captured and settled on the way. */
const MOVES_EACH = 3;
/** A clock's lease of ten seconds, and the slow deliveries that are left. */
const PATIENCE = { timeout: 60_000, interval: 100 };

const ends: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function opened(answering: Answering): Promise<Nodes> {
  const nodes = await openNodes(answering);
  ends.push(nodes.close);
  return nodes;
}

interface Happening {
  readonly type: string;
  readonly id: string;
  readonly action: string;
  readonly to: string;
  readonly event?: string;
}

/** Payments that walk by themselves when the clock is moved; all is sent that their creation brings about. */
async function makeWalkers({ api }: Nodes): Promise<number> {
  const { now } = await done(`${api.url + CLOCK}/freeze`, {}, randomUUID());
  const body = { amount: 1_000, currency: 'EUR', captureMethod: 'manual', autoAdvance: true };
  for (let i = 0; i < WALKERS; i += 1) await done(api.url + PAYMENTS, body, randomUUID());
  await allSent(api.url, PATIENCE.timeout);
  return Date.parse(String(now));
}

/** Every move of every payment once, and for each event of it the attempt that delivered it. */
function expectAllTold(body: Answer['body']): void {
  const happened = body.happened as readonly Happening[];
  const moves = happened.filter(({ type }) => type === 'payment');
  expect(new Set(moves.map(({ id, action }) => `${id} ${action}`)).size).toBe(WALKERS * MOVES_EACH);
  expect(moves).toHaveLength(WALKERS * MOVES_EACH);
  const told = moves.flatMap(({ event }) => event ?? []).sort();
  const sent = happened.filter(({ type, to }) => type === 'delivery' && to === 'succeeded');
  expect(sent.map(({ event }) => event).sort()).toEqual(told);
  expect(new Set(sent.map(({ id }) => id)).size).toBe(sent.length);
}

async function expectSound({ databaseUrl, endpoints, box }: Nodes): Promise<void> {
  const evidence = { endpoints, arrivals: box.arrivals, acknowledged: [], refused: new Set<string>() };
  const { complaints } = await queryPostgres(databaseUrl, (query) =>
    auditDeliveries(query, { ...evidence, kills: 1 }),
  );
  expect(complaints.slice(0, 10)).toEqual([]);
}

describe('an advance of the clock on the API node', () => {
  it('waits for what the worker node sends, and lists it', async () => {
    const nodes = await opened(() => ({ status: 204, afterMs: 300 }));
    const { box, api } = nodes;
    await makeWalkers(nodes);
    const before = box.arrivals.length;
    const { status, body } = await post(`${api.url + CLOCK}/advance`, { seconds: SECONDS }, 'advance');
    expect({ status, complete: body.complete }).toEqual({ status: 200, complete: true });
    expect(box.open()).toEqual([]);
    expect(box.arrivals).toHaveLength(before + WALKERS * MOVES_EACH);
    expectAllTold(body);
    await expectSound(nodes);
  });

  it('arrives although its node is killed while deliveries are slow, and its key then has the answer', async () => {
    const nodes = await opened(() => ({ status: 204, afterMs: 2_000 }));
    const { box, api, startApi } = nodes;
    const since = await makeWalkers(nodes);
    const before = box.arrivals.length;
    const advance = (url: string) => post(`${url + CLOCK}/advance`, { seconds: SECONDS }, 'cut');
    const cut = advance(api.url).catch(() => undefined);
    await vi.waitUntil(() => box.arrivals.length > before, { timeout: POLL_MS_MAX, interval: 5 });
    await api.kill();
    const killedAt = performance.now();
    expect(await cut, 'a kill after the answer proves nothing').toBeUndefined();

    const { url } = await startApi();
    const kept = await vi.waitUntil(async () => {
      const answer = await advance(url);
      expect([200, 409], JSON.stringify(answer.body)).toContain(answer.status);
      return answer.status === 200 && answer;
    }, PATIENCE);
    console.log(`the answer is there ${Math.round(performance.now() - killedAt)} ms after the kill`);
    const to = new Date(since + 3 * DAY_MS).toISOString();
    expect(kept.body).toMatchObject({ status: 'frozen', now: to, complete: true });
    expect((await call(url + CLOCK)).body.now).toBe(to);
    expectAllTold(kept.body);
    await expectSound(nodes);
  });

  it('is complete although the worker that sends for it is killed', async () => {
    const nodes = await opened(atOnce);
    const { box, api, worker, databaseUrl, startWorker } = nodes;
    await makeWalkers(nodes);
    box.answer('hook', () => undefined);
    const answer = post(`${api.url + CLOCK}/advance`, { seconds: SECONDS }, 'advance');
    await vi.waitUntil(() => box.open().length > 0, { timeout: POLL_MS_MAX, interval: 5 });
    await worker.kill();
    await queryPostgres(databaseUrl, expireLeases);
    box.answer('hook', atOnce);
    await startWorker();
    const { status, body } = await answer;
    expect({ status, complete: body.complete }).toEqual({ status: 200, complete: true });
    expectAllTold(body);
    await expectSound(nodes);
  });
});

describe('an advance that lost its process and whose deliveries hang', () => {
  it('does not keep the clocks of other applications from what falls due by them', async () => {
    const box = await openInbox({ hook: () => undefined });
    const nodes = openHome(box, [endpoint('hook')]);
    ends.push(nodes.remove, box.close);
    const options = { dataDir: path.join(nodes.path, 'data') };
    const first = await nodes.start(options);
    await createPayment(first.url, 'hangs', 'hangs');
    const cut = post(`${first.url + CLOCK}/advance`, { seconds: SECONDS }, 'cut').catch(() => undefined);
    const isUnderWay = async () => {
      const { now } = (await call(first.url + CLOCK)).body;
      return Date.parse(String(now)) > Date.now() + DAY_MS;
    };
    await vi.waitUntil(isUnderWay, PATIENCE);
    await first.kill();
    expect(await cut).toBeUndefined();

    const { url } = await nodes.start(options);
    await vi.waitUntil(() => box.open().length > 0, PATIENCE);
    const body = { amount: 1_000, currency: 'EUR', captureMethod: 'manual', autoAdvance: true };
    const { id } = await done(url + PAYMENTS, body, randomUUID(), SPARE_KEY);
    const since = performance.now();
    const isMoved = async () => {
      const { body: found } = await call(`${url + PAYMENTS}/${id}`, { key: SPARE_KEY });
      return found.version !== 1;
    };
    await vi.waitUntil(isMoved, { ...PATIENCE, timeout: NEIGHBOUR_MS_MAX });
    console.log(
      `a payment of another application was moved after ${Math.round(performance.now() - since)} ms`,
    );
  });
});
