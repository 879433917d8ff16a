/**
 * Servers that are killed at named points while clients create and advance payments, deliveries are in flight, a clock advances and fault plans
 * count. After each kill the clients repeat their requests; at the end the audits compare the database and the receiver with the responses.
 */
import { randomUUID } from 'node:crypto';
import { expect, vi } from 'vitest';
import type { ServerProcess } from '../../support/processes.ts';
import {
  type Answer,
  call,
  PAYMENTS,
  post,
  postOk,
  SPARE_KEY,
  THIRD_KEY,
  whileUnavailable,
} from './client.ts';
import { expectExecutedOnce, expectSound } from './crash-audit.ts';
import { sleep, type TestDatabase } from './databases.ts';
import { auditDeliveries } from './delivery-audit.ts';
import { type Claim, retry } from './load.ts';
import { balancesIn } from './payment-requests.ts';
import { type PaymentRun, startPaymentRuns } from './payment-runs.ts';
import { startTraffic } from './traffic.ts';
import {
  type Arrival,
  acceptImmediately,
  chanceOf,
  type Inbox,
  openInbox,
  type ResponsePolicy,
} from './webhook-receiver.ts';
import {
  allSent,
  CLOCK,
  type Deployment,
  endpoint,
  expireLeases,
  openDeployment,
} from './webhook-servers.ts';

/**
 * Where a process is killed: see crash-points.mjs; `advance` is while a delivery of an advance is in flight, `random` is a random time.
 */
export type Point = 'response' | 'query' | 'commit' | 'wal' | 'claim' | 'outcome' | 'advance' | 'random';

export interface Setup {
  readonly database: TestDatabase;
  readonly deployment: Deployment;
  readonly inbox: Inbox;
  readonly nodes: number;
  readonly points: readonly Point[];
  readonly random: () => number;
}

const CLIENTS = 4;
const RUN_CLIENTS = 2;
const COUNTDOWN_MAX = 15;
const RANDOM_MS_MAX = 400;
const WAIT = { interval: 5 };
const ADVANCE_SECONDS = 3 * 86_400;
/** Each of them is authorized, captured and settled while the clock advances. */
const ADVANCED_PAYMENTS = 2;
const ADVANCED_MOVES = 3;
const NARROW = 4;
/**
 * The next process of an embedded server does not wait for the leases of the killed one, which last 25 s. A slow machine has more time, by
 * how long a start takes.
 */
const AGAIN_EMBEDDED_MS_MAX = 15_000;
const AGAIN_STARTS_MAX = 8;
const CUSTOMERS = '/_api/developer_api_customers';
const FAULT_PLANS = '/_api/developer_api_fault_plans';
const EVENTS = '/_api/developer_api_webhook_events';

const application = 'Acme web';
const endpoints = [
  endpoint('steady', { application }),
  endpoint('flaky', { application, eventTypes: ['payment.created', 'payment.captured'] }),
  endpoint('failing', { application, eventTypes: ['payment.captured'], retryProfile: 'none' }),
  endpoint('hanging', { application, eventTypes: ['customer.created'] }),
  endpoint('narrow', { application, eventTypes: ['payment.created'], maxConcurrency: NARROW }),
  endpoint('unwanted', { application, eventTypes: ['transfer.*'] }),
];
const advanceEndpoint = endpoint('advance', { application: 'Globex web' });
const faultEndpoint = endpoint('faults');

const responses: Readonly<Record<string, ResponsePolicy>> = {
  steady: (id) => ({ status: 204, afterMs: chanceOf(id) < 0.2 ? 250 : 0 }),
  // A third fails once, and some of those twice.
  flaky: (id, nth) => {
    const chance = chanceOf(`flaky ${id}`);
    const failures = chance < 0.1 ? 2 : chance < 0.33 ? 1 : 0;
    return { status: nth <= failures ? 500 : 204, afterMs: chance > 0.9 ? 300 : 0 };
  },
  failing: () => ({ status: 503, afterMs: 0 }),
  hanging: () => undefined,
  narrow: (id) => ({ status: 204, afterMs: 2 + Math.round(chanceOf(id) * 6) }),
  unwanted: acceptImmediately,
  advance: () => ({ status: 204, afterMs: 200 }),
  faults: acceptImmediately,
};

export const openCrashInbox = (): Promise<Inbox> => openInbox(responses);
export const openCrashDeployment = (inbox: Inbox): Deployment =>
  openDeployment(inbox, endpoints, [advanceEndpoint], [faultEndpoint]);

export interface Summary {
  readonly text: string;
  /** Deliveries that a kill cut. */
  readonly cut: number;
}

/** Kills once at each point. */
export async function runCrashes({
  database,
  deployment,
  inbox,
  nodes: count,
  points,
  random,
}: Setup): Promise<Summary> {
  const isEmbedded = database.options.dataDir !== undefined;
  const env = { NODE_OPTIONS: `--import=${new URL('./crash-points.mjs', import.meta.url).href}` };
  const start = () => deployment.start({ ...database.options, env });
  const nodes: ServerProcess[] = await Promise.all(Array.from({ length: count }, start));
  const claims: Claim[] = [];
  const runs: PaymentRun[] = [];
  const refused = new Set<string>();
  const totals = { found: 0, created: 0, cut: 0, customers: 0 };

  await postOk(`${urlOf(nodes[0])}${CLOCK}/freeze`, {}, randomUUID(), SPARE_KEY);
  for (const [round, point] of points.entries()) {
    const at = round % count;
    const victim = nodes[at];
    if (!victim) throw new Error('no node to kill');
    const { url } = victim;
    const fault = await startFaultPlan(url);
    const heldBack = point === 'advance' ? await holdBackEvents(url, inbox) : undefined;
    const advance = point === 'advance' ? await prepareAdvance(url, round) : undefined;

    const traffic = nodes.map((node, n) => startTraffic(node.url, `${round}-${n}`, CLIENTS));
    const moving = nodes.map((node, n) => startPaymentRuns(node.url, `run-${round}-${n}`, RUN_CLIENTS));
    await Promise.all([
      ...traffic.map(({ load }) => load.acknowledged(1)),
      ...moving.map(({ started }) => started),
    ]);
    await postOk(url + CUSTOMERS, { name: `Ada ${round}` }, `customer-${round}`);
    totals.customers += 1;
    const armedAt = performance.now();
    await killAt(victim, point, random, inbox, advance);
    for (const one of [...traffic, ...moving]) one.stop();
    await Promise.all([...traffic, ...moving].map(({ ended }) => ended));

    for (const [n, { load }] of traffic.entries()) {
      expect(load.refused.map(({ text }) => text)).toEqual([]);
      if (n !== at) expect(load.lost(), 'the other node answers every request').toBe(0);
    }
    if (!isEmbedded)
      await database.inspect(async (query) => {
        await expectSound(query);
        if (count === 1 && round < points.length - 1) await expireLeases(query);
      });

    // The other node answers the repeated requests, while the killed one starts again.
    const startedAt = performance.now();
    const restarting = start();
    const survivor = nodes[(at + 1) % count];
    const liveUrl = count === 1 ? (await restarting).url : urlOf(survivor);
    const mine = traffic.flatMap(({ load }) => load.claims);
    const counts = await retry(liveUrl, mine);
    const cut = moving.flatMap((one) => one.runs);
    const outcomes = await Promise.all(cut.map((run) => run.resume(liveUrl)));
    await Promise.all(cut.map((run) => run.complete(liveUrl)));
    await balancesIn(liveUrl, 'EUR');
    totals.found += counts.found + outcomes.filter((outcome) => outcome === 'found').length;
    totals.created += counts.created + outcomes.filter((outcome) => outcome === 'created').length;
    claims.push(...mine);
    runs.push(...cut);
    for (const one of traffic) for (const id of one.refused) refused.add(id);

    const restarted = await restarting;
    const startMs = performance.now() - startedAt;
    nodes[at] = restarted;
    await expectFaultPlanContinues(restarted.url, fault);
    if (advance) await expectAdvanceCompletes(restarted.url, advance);
    if (heldBack) await heldBack(restarted.url);
    const cutDeliveries = cutSince(inbox, armedAt);
    totals.cut += cutDeliveries.length;
    if (isEmbedded) await expectSentAgain(inbox, cutDeliveries, startMs);
  }

  // Every acknowledged request of every round is still replayed after the last kill.
  const last = urlOf(nodes[0]);
  await retry(last, claims);
  await Promise.all(runs.map((run) => run.resume(last)));
  // While one endpoint hangs and one fails, every other delivery is attempted.
  await vi.waitUntil(() => new Set(inbox.of('hanging').map(({ id }) => id)).size === totals.customers, WAIT);
  inbox.answer('hanging', acceptImmediately);
  for (const key of [undefined, SPARE_KEY]) await allSent(last, undefined, key);
  const codes = await Promise.all(nodes.map((node) => node.stop()));
  expect(codes).toEqual(nodes.map(() => 0));

  const delivered = await database.inspect(async (query, verify) => {
    await expectSound(query);
    expect(await verify()).toEqual([]);
    await expectExecutedOnce(query, claims, runs);
    return auditDeliveries(query, {
      endpoints: [...endpoints, advanceEndpoint],
      arrivals: inbox.arrivals.filter((arrival) => arrival.endpoint !== faultEndpoint.name),
      acknowledged: [...claims.map(({ id }) => String(id)), ...runs.map(({ paymentId }) => paymentId)],
      refused,
      kills: points.length,
      // On a slow machine the tries of a hanging endpoint are used up before it answers.
      mayFail: ['failing', 'hanging'],
      testEventsOf: 'Initech',
    });
  });
  if (delivered.complaints.length > 0) throw new Error(delivered.complaints.slice(0, 10).join('\n'));
  for (const { name, maxConcurrency } of endpoints)
    expect(inbox.peak(name), `requests open at ${name}`).toBeLessThanOrEqual(maxConcurrency);
  const { complaints: _none, ...found } = delivered;
  const text =
    `${points.length} kills, ${claims.length} payments and ${runs.length} runs, ${totals.found + totals.created} unknown outcomes ` +
    `of which ${totals.found} were executed, ${totals.cut} deliveries cut, ${JSON.stringify(found)}`;
  return { text, cut: totals.cut };
}

const urlOf = (node: ServerProcess | undefined): string => node?.url ?? '';

/** Resolves when the process is gone. */
async function killAt(
  { child, url }: ServerProcess,
  point: Point,
  random: () => number,
  inbox: Inbox,
  advance: Advance | undefined,
): Promise<void> {
  if (advance) {
    const before = inbox.of('advance').length;
    advance.send(url);
    await vi.waitUntil(() => inbox.of('advance').length > before, { interval: 1 });
    child.kill('SIGKILL');
  } else if (point === 'random') {
    await sleep(random() * RANDOM_MS_MAX);
    child.kill('SIGKILL');
  } else {
    const countdown = 1 + Math.floor(random() * COUNTDOWN_MAX);
    child.stdin?.write(JSON.stringify({ point, countdown }));
  }
  await vi
    .waitUntil(() => child.signalCode === 'SIGKILL', WAIT)
    .catch((error: unknown) => {
      throw new Error(`The server did not reach the point ${point}.`, { cause: error });
    });
}

/** Deliveries that the kill cut, once the receiver has noticed. One that hangs may end by its timeout instead. */
function cutSince(inbox: Inbox, since: number): readonly Arrival[] {
  return inbox.arrivals.filter(
    ({ answered, endedAt, endpoint: name }) =>
      answered === 'cut' && name !== 'hanging' && endedAt !== null && endedAt >= since,
  );
}

async function expectSentAgain(inbox: Inbox, cut: readonly Arrival[], startMs: number): Promise<void> {
  const isSentAgain = ({ endpoint: name, id, endedAt }: Arrival) =>
    inbox.of(name).some((arrival) => arrival.id === id && arrival.at > (endedAt ?? 0));
  await vi.waitUntil(() => cut.every(isSentAgain), {
    timeout: Math.max(AGAIN_EMBEDDED_MS_MAX, startMs * AGAIN_STARTS_MAX),
    interval: 20,
  });
}

/** A plan that fails three requests, two of them before the kill. Returns its id. */
async function startFaultPlan(url: string): Promise<string> {
  const body = {
    ...{ on: 'requests', fault: { type: 'error', code: 'internal_error' }, count: 3 },
    operations: ['listCustomers'],
  };
  const { id } = await postOk(url + FAULT_PLANS, body, randomUUID(), THIRD_KEY);
  expect([await listCustomers(url), await listCustomers(url)]).toEqual([500, 500]);
  return String(id);
}

async function expectFaultPlanContinues(url: string, id: string): Promise<void> {
  expect([await listCustomers(url), await listCustomers(url)]).toEqual([500, 200]);
  const { body } = await call(`${url + FAULT_PLANS}/${id}`, { key: THIRD_KEY });
  expect(body).toMatchObject({ status: 'exhausted', seen: 3, applied: 3 });
}

async function listCustomers(url: string): Promise<number> {
  return (await whileUnavailable(() => call(url + CUSTOMERS, { key: THIRD_KEY }))).status;
}

/** Plans hold back three events before the kill: all of them arrive when the clock has advanced after it. */
async function holdBackEvents(url: string, inbox: Inbox): Promise<(url: string) => Promise<void>> {
  for (const fault of [{ type: 'delay', seconds: 3_600 }, { type: 'drop' }, { type: 'reorder' }])
    await postOk(url + FAULT_PLANS, { on: 'webhooks', fault, count: 1 }, randomUUID(), THIRD_KEY);
  const ids: string[] = [];
  for (let i = 0; i < 3; i += 1) {
    const { id } = await postOk(url + EVENTS, { type: 'customer.created' }, randomUUID(), THIRD_KEY);
    ids.push(String(id));
  }
  const active = async () =>
    (await call(`${url + FAULT_PLANS}?status=active`, { key: THIRD_KEY })).body.data as readonly {
      on: string;
    }[];
  await vi.waitUntil(async () => (await active()).every(({ on }) => on !== 'webhooks'), WAIT);
  return async (restarted) => {
    const { complete } = await postOk(
      `${restarted + CLOCK}/advance`,
      { seconds: 7_200 },
      randomUUID(),
      THIRD_KEY,
    );
    expect(complete).toBe(true);
    const arrived = new Set(inbox.of('faults').map(({ id }) => id));
    expect(ids.filter((id) => !arrived.has(id))).toEqual([]);
  };
}

interface Advance {
  readonly key: string;
  readonly to: string;
  send(url: string): void;
}

/** Payments that advance automatically with the clock, and the clock advance. */
async function prepareAdvance(url: string, round: number): Promise<Advance> {
  const { body: clock } = await call(url + CLOCK, { key: SPARE_KEY });
  const body = { amount: 1_000, currency: 'EUR', captureMethod: 'manual', autoAdvance: true };
  for (let i = 0; i < ADVANCED_PAYMENTS; i += 1) await postOk(url + PAYMENTS, body, randomUUID(), SPARE_KEY);
  await allSent(url, undefined, SPARE_KEY);
  const key = `advance-${round}`;
  return {
    key,
    to: new Date(Date.parse(String(clock.now)) + ADVANCE_SECONDS * 1_000).toISOString(),
    send: (node) => void sendAdvance(node, key).catch(() => undefined),
  };
}

function sendAdvance(url: string, key: string): Promise<Answer> {
  return post(`${url + CLOCK}/advance`, { seconds: ADVANCE_SECONDS }, key, SPARE_KEY);
}

interface Effect {
  readonly type: string;
  readonly id: string;
  readonly action: string;
  readonly to: string;
  readonly event?: string;
}

/** The advance is completed by another process, and its key then has the response: every transition once, each event delivered once. */
async function expectAdvanceCompletes(url: string, { key, to }: Advance): Promise<void> {
  const { body } = await vi.waitUntil(
    async () => {
      const answer = await sendAdvance(url, key);
      expect([200, 409, 503], answer.text).toContain(answer.status);
      return answer.status === 200 && answer;
    },
    { interval: 100 },
  );
  expect(body).toMatchObject({ status: 'frozen', now: to, complete: true });
  const effects = body.happened as readonly Effect[];
  const moves = effects.filter(({ type }) => type === 'payment');
  expect(moves).toHaveLength(ADVANCED_PAYMENTS * ADVANCED_MOVES);
  expect(new Set(moves.map(({ id, action }) => `${id} ${action}`)).size).toBe(moves.length);
  const sent = effects.filter(({ type, to: status }) => type === 'delivery' && status === 'succeeded');
  expect(sent.map(({ event }) => event).sort()).toEqual(moves.flatMap(({ event }) => event ?? []).sort());
  expect(new Set(sent.map(({ id }) => id)).size).toBe(sent.length);
}
