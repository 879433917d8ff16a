import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { migratedDatabase } from '../support/postgres.ts';
import type { ServerProcess } from '../support/processes.ts';
import {
  type Answer,
  API_KEY,
  call,
  createPayment,
  listPayments,
  PAYMENTS,
  post,
  postOk,
  SPARE_KEY,
  THIRD_KEY,
} from './support/client.ts';
import { queryPostgres } from './support/database-rows.ts';
import { auditDeliveries } from './support/delivery-audit.ts';
import { acceptImmediately, chanceOf, type Inbox, openInbox } from './support/webhook-receiver.ts';
import {
  allSent,
  CLOCK,
  type Deployment,
  endpoint,
  expireLeases,
  openDeployment,
} from './support/webhook-servers.ts';

const WAIT = { interval: 5 };
/**
 * A worker polls every second. An event that only the poll finds takes about a second after the previous one: the fastest of several
 * events shows whether a commit wakes the worker, also on a machine that is ten times slower.
 */
const CREATES = 10;
const WAKE_MS_MAX = 500;
/** On a slower machine the request itself takes long: an event may take as many times longer. */
const WAKE_REQUESTS_MAX = 5;
/** A hanging request times out after 15 s, and a lease ends after 25 s: less than both. A slow machine has more, by its starts. */
const PROMPT_MS_MAX = 12_000;
const PROMPT_STARTS_MAX = 8;
let startMs = 0;
const promptMsMax = (): number => Math.max(PROMPT_MS_MAX, startMs * PROMPT_STARTS_MAX);

async function timed(start: () => Promise<ServerProcess>): Promise<ServerProcess> {
  const since = performance.now();
  const server = await start();
  startMs = performance.now() - since;
  return server;
}
const DAY_MS = 86_400_000;
const SECONDS = (3 * DAY_MS) / 1_000;
const ADVANCED_PAYMENTS = 5;
/** Each payment is authorized, captured and settled while the clock advances. */
const MOVES_EACH = 3;
const NARROW = Array.from({ length: 30 }, (_, i) => `narrow-${i}`);
const LIMIT = 2;
const CREATES_SHARED = 60;

interface Effect {
  readonly type: string;
  readonly id: string;
  readonly action: string;
  readonly to: string;
  readonly event?: string;
}

/** Of some events that are created one after the other, at least one arrives too soon for the poll. */
async function expectWakes(box: Inbox, api: ServerProcess, name: string): Promise<void> {
  const took: number[] = [];
  for (let i = 0; i < CREATES; i += 1) {
    const { tookMs, requestMs } = await wake(box, api, `${name}-${i}`);
    took.push(tookMs / Math.max(WAKE_MS_MAX, requestMs * WAKE_REQUESTS_MAX));
  }
  expect(Math.min(...took)).toBeLessThan(1);
}

interface Wake {
  /** From the request to the arrival of its event. */
  readonly tookMs: number;
  readonly requestMs: number;
}

async function wake(box: Inbox, { url }: ServerProcess, key: string): Promise<Wake> {
  const since = performance.now();
  const { status, body, text, durationMs: requestMs } = await createPayment(url, key, key);
  expect(status, text).toBe(201);
  const isIt = (sent: string) => (JSON.parse(sent) as { data: { id: string } }).data.id === body.id;
  const arrival = await vi.waitUntil(
    () => box.arrivals.find((one) => one.at > since && isIt(one.body)),
    WAIT,
  );
  return { tookMs: arrival.at - since, requestMs };
}

/** Every transition of every payment once, and for each of its events the attempt that delivered it. */
function expectAllListed(body: Answer['body']): void {
  const effects = body.happened as readonly Effect[];
  const moves = effects.filter(({ type }) => type === 'payment');
  expect(new Set(moves.map(({ id, action }) => `${id} ${action}`)).size).toBe(ADVANCED_PAYMENTS * MOVES_EACH);
  expect(moves).toHaveLength(ADVANCED_PAYMENTS * MOVES_EACH);
  const sent = effects.filter(({ type, to }) => type === 'delivery' && to === 'succeeded');
  expect(sent.map(({ event }) => event).sort()).toEqual(moves.flatMap(({ event }) => event ?? []).sort());
  expect(new Set(sent.map(({ id }) => id)).size).toBe(sent.length);
}

/** Stops a server whose delivery hangs at `hook`; the next one sends it again. */
async function expectStopsAndSendsAgain(
  box: Inbox,
  api: () => ServerProcess,
  stop: () => Promise<number>,
  start: () => Promise<unknown>,
): Promise<void> {
  box.answer('hook', () => undefined);
  const before = box.of('hook').length;
  await createPayment(api().url, 'hangs', 'hangs');
  await vi.waitUntil(() => box.of('hook').length === before + 1, WAIT);
  const since = performance.now();
  expect(await stop()).toBe(0);
  expect(performance.now() - since).toBeLessThan(promptMsMax());
  await vi.waitUntil(() => box.of('hook').at(-1)?.answered === 'cut', WAIT);
  box.answer('hook', acceptImmediately);
  await start();
  const startedAt = performance.now();
  const again = await vi.waitUntil(() => box.of('hook')[before + 1], WAIT);
  expect(again.at - startedAt).toBeLessThan(promptMsMax());
  expect(again.id).toBe(box.of('hook')[before]?.id);
}

describe('API and worker nodes on one PostgreSQL', () => {
  const endpoints = [
    endpoint('hook', { application: 'Acme web' }),
    endpoint('advance', { application: 'Globex web' }),
    ...NARROW.map((name) => endpoint(name, { application: 'Initech web', maxConcurrency: LIMIT })),
  ];
  let box: Inbox;
  let deployment: Deployment;
  let databaseUrl = '';
  let api: ServerProcess;
  let worker: ServerProcess;
  let kills = 0;
  const startApi = () => timed(() => deployment.start({ databaseUrl }, '--role', 'api'));
  const startWorker = () => timed(() => deployment.start({ databaseUrl }, '--role', 'worker'));

  beforeAll(async () => {
    const narrow = (id: string) => ({ status: 204, afterMs: 2 + Math.round(chanceOf(id) * 6) });
    box = await openInbox({
      ...{ hook: acceptImmediately, advance: acceptImmediately },
      ...Object.fromEntries(NARROW.map((name) => [name, narrow])),
    });
    deployment = openDeployment(box, endpoints.slice(0, 1), endpoints.slice(1, 2), endpoints.slice(2));
    databaseUrl = await migratedDatabase(inject('postgresUrl'));
    api = await startApi();
    worker = await startWorker();
  });
  afterAll(async () => {
    await deployment?.remove();
    await box?.close();
  });

  /** Payments that advance automatically with the clock; the events of their creation are delivered. Returns the time. */
  async function prepareAdvance(): Promise<number> {
    const { now } = await postOk(`${api.url + CLOCK}/freeze`, {}, randomUUID(), SPARE_KEY);
    const body = { amount: 1_000, currency: 'EUR', captureMethod: 'manual', autoAdvance: true };
    for (let i = 0; i < ADVANCED_PAYMENTS; i += 1)
      await postOk(api.url + PAYMENTS, body, randomUUID(), SPARE_KEY);
    await allSent(api.url, undefined, SPARE_KEY);
    return Date.parse(String(now));
  }
  const advance = (url: string, key: string) =>
    post(`${url + CLOCK}/advance`, { seconds: SECONDS }, key, SPARE_KEY);

  it('an event wakes the worker immediately, and is found by its poll when the LISTEN connection is lost', async () => {
    await expectWakes(box, api, 'before');
    const listener = `pid from pg_stat_activity where application_name = 'sandbank listener' and datname = current_database()`;
    await queryPostgres(databaseUrl, async (query) => {
      const [old, ...others] = await query(`select ${listener}`);
      expect([old?.pid, others]).toEqual([expect.any(Number), []]);
      await query(`select pg_terminate_backend(pid) from (select ${listener}) one`);
      await wake(box, api, 'cut-off');
      await vi.waitUntil(
        async () => (await query(`select ${listener}`)).some(({ pid }) => pid !== old?.pid),
        WAIT,
      );
    });
    await expectWakes(box, api, 'after');
  });

  it('an advance waits for the deliveries of the worker, and lists them', async () => {
    await prepareAdvance();
    box.answer('advance', () => ({ status: 204, afterMs: 300 }));
    const before = box.of('advance').length;
    const { status, body } = await advance(api.url, 'waits');
    expect({ status, complete: body.complete }).toEqual({ status: 200, complete: true });
    expect(box.open()).toEqual([]);
    expect(box.of('advance')).toHaveLength(before + ADVANCED_PAYMENTS * MOVES_EACH);
    expectAllListed(body);
  });

  it('an advance is complete although the worker that sends for it is killed', async () => {
    await prepareAdvance();
    box.answer('advance', () => undefined);
    const answer = advance(api.url, 'worker-killed');
    await vi.waitUntil(() => box.open().length > 0, WAIT);
    await worker.kill();
    kills += 1;
    await queryPostgres(databaseUrl, expireLeases);
    box.answer('advance', acceptImmediately);
    worker = await startWorker();
    const { status, body } = await answer;
    expect({ status, complete: body.complete }).toEqual({ status: 200, complete: true });
    expectAllListed(body);
  });

  it('an advance is completed although its API node is killed, and its key then has the response', async () => {
    const since = await prepareAdvance();
    box.answer('advance', () => ({ status: 204, afterMs: 1_000 }));
    const before = box.of('advance').length;
    const cut = advance(api.url, 'api-killed').catch(() => undefined);
    await vi.waitUntil(() => box.of('advance').length > before, WAIT);
    await api.kill();
    expect(await cut, 'a kill after the response proves nothing').toBeUndefined();
    box.answer('advance', acceptImmediately);
    api = await startApi();
    const { body } = await vi.waitUntil(
      async () => {
        const answer = await advance(api.url, 'api-killed');
        expect([200, 409], answer.text).toContain(answer.status);
        return answer.status === 200 && answer;
      },
      { interval: 100 },
    );
    const to = new Date(since + 3 * DAY_MS).toISOString();
    expect(body).toMatchObject({ status: 'frozen', now: to, complete: true });
    expect((await call(api.url + CLOCK, { key: SPARE_KEY })).body.now).toBe(to);
    expectAllListed(body);
  });

  it('a hanging delivery does not delay SIGTERM, and the next worker retries it without waiting for a lease', async () => {
    await expectStopsAndSendsAgain(
      box,
      () => api,
      () => worker.stop(),
      async () => {
        worker = await startWorker();
      },
    );
    kills += 1;
    await allSent(api.url);
  });

  it('a suspended worker records nothing for a delivery that another worker has sent since', async () => {
    box.answer('hook', () => undefined);
    const before = box.of('hook').length;
    const first = await createPayment(api.url, 'first', 'first');
    await vi.waitUntil(() => box.open().length === 1, WAIT);
    worker.child.kill('SIGSTOP');
    const other = await startWorker();
    // The response is sent, and the suspended worker does not read it.
    box.answer('hook', acceptImmediately);
    await queryPostgres(databaseUrl, expireLeases);
    await allSent(api.url);
    expect(box.of('hook')).toHaveLength(before + 2);

    worker.child.kill('SIGCONT');
    kills += 1;
    await createPayment(api.url, 'second', 'second');
    await allSent(api.url);
    expect(box.of('hook')).toHaveLength(before + 3);
    await queryPostgres(databaseUrl, async (query) => {
      const attempts = await query(`select a.status from delivery_attempts a
        join deliveries d on d.org_id = a.org_id and d.id = a.delivery_id
        join events e on e.org_id = d.org_id and e.id = d.event_id
        where e.resource_id = '${first.body.id}' order by a.number`);
      expect(attempts).toEqual([{ status: 'pending' }, { status: 'succeeded' }]);
    });
    expect(other.child.exitCode).toBeNull();
  });

  it('two workers both send, and never have more requests open at an endpoint than it allows', async () => {
    const senders = new Map<string, Set<string>>();
    let acknowledged = 0;
    let isStopped = false;
    const creator = async (_: unknown, n: number) => {
      for (let i = 0; !isStopped; i += 1) {
        await postOk(api.url + PAYMENTS, { amount: 5, currency: 'EUR' }, `shared-${n}-${i}`, THIRD_KEY);
        acknowledged += 1;
      }
    };
    const creators = [0, 1].map(creator);
    await queryPostgres(databaseUrl, (query) =>
      vi.waitUntil(
        async () => {
          for (const { sender, webhook_id: id } of await query(
            'select sender, webhook_id from webhook_health where sender is not null',
          ))
            senders.set(String(sender), (senders.get(String(sender)) ?? new Set()).add(String(id)));
          const shares = [...senders.values()].filter(({ size }) => size > 1);
          return acknowledged >= CREATES_SHARED && shares.length === 2;
        },
        { interval: 2 },
      ),
    ).finally(() => {
      isStopped = true;
    });
    await Promise.all(creators);
    await allSent(api.url, undefined, THIRD_KEY);
    const shared = box.arrivals.filter(({ endpoint: name }) => name.startsWith('narrow'));
    expect(shared).toHaveLength(acknowledged * NARROW.length);
    // No process has died, so nothing arrives twice.
    expect(new Set(shared.map(({ endpoint: name, id }) => `${name} ${id}`)).size).toBe(shared.length);
    expect(Math.max(...NARROW.map((name) => box.peak(name)))).toBe(LIMIT);
  });

  it('after all of it every node stops, and every delivery is explained', async () => {
    for (const key of [API_KEY, SPARE_KEY, THIRD_KEY]) await allSent(api.url, undefined, key);
    const alive = deployment.servers.filter(
      ({ child }) => child.exitCode === null && child.signalCode === null,
    );
    expect(alive).toHaveLength(3);
    expect(await Promise.all(alive.map((server) => server.stop()))).toEqual([0, 0, 0]);
    const { complaints } = await queryPostgres(databaseUrl, (query) =>
      auditDeliveries(query, {
        ...{ endpoints, arrivals: box.arrivals, acknowledged: [], refused: new Set<string>(), kills },
      }),
    );
    expect(complaints.slice(0, 10)).toEqual([]);
  });
});

describe('an embedded server', () => {
  let box: Inbox;
  let deployment: Deployment;
  let server: ServerProcess;
  const start = async () => {
    server = await timed(() => deployment.start({ dataDir: path.join(deployment.path, 'data') }));
  };

  beforeAll(async () => {
    box = await openInbox({ hook: acceptImmediately });
    deployment = openDeployment(box, [endpoint('hook')]);
    await start();
  });
  afterAll(async () => {
    await deployment?.remove();
    await box?.close();
  });

  it('creates one payment for 100 identical concurrent requests', async () => {
    for (let round = 0; round < 5; round += 1) {
      const send = () => createPayment(server.url, `same-${round}`, `same-${round}`);
      const answers = await Promise.all(Array.from({ length: 100 }, send));
      expect(answers.filter(({ status }) => status !== 201)).toEqual([]);
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect(answers.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
      expect(await listPayments(server.url)).toHaveLength(round + 1);
    }
    await allSent(server.url);
  });

  it('sends an event at its commit, not at the next poll', async () => {
    await expectWakes(box, server, 'embedded');
  });

  it('is not delayed by a hanging delivery on SIGTERM, and retries it after its next start', async () => {
    await expectStopsAndSendsAgain(
      box,
      () => server,
      () => server.stop(),
      start,
    );
    await allSent(server.url);
  });

  it('fires timers of other clocks while a resumed advance waits for hanging deliveries', async () => {
    box.answer('hook', () => undefined);
    await createPayment(server.url, 'hangs-again', 'hangs-again');
    const cut = post(`${server.url + CLOCK}/advance`, { seconds: SECONDS }, 'cut').catch(() => undefined);
    await vi.waitUntil(
      async () => Date.parse(String((await call(server.url + CLOCK)).body.now)) > Date.now() + DAY_MS,
      WAIT,
    );
    await server.kill();
    expect(await cut).toBeUndefined();
    await start();
    await vi.waitUntil(() => box.open().length > 0, WAIT);
    const body = { amount: 1_000, currency: 'EUR', captureMethod: 'manual', autoAdvance: true };
    const { id } = await postOk(server.url + PAYMENTS, body, randomUUID(), SPARE_KEY);
    const since = performance.now();
    const isMoved = async () =>
      (await call(`${server.url + PAYMENTS}/${id}`, { key: SPARE_KEY })).body.version !== 1;
    await vi.waitUntil(isMoved, { interval: 50 });
    expect(performance.now() - since).toBeLessThan(promptMsMax());
  });
});
