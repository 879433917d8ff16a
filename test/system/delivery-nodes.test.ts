import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createPayment } from './client.ts';
import { auditDeliveries } from './delivery-audit.ts';
import { allSent, endpoint, expireLeases, openHome } from './delivery-endpoints.ts';
import { type Answering, atOnce, openInbox } from './delivery-inbox.ts';
import { type Nodes, openNodes } from './delivery-roles.ts';
import { queryPostgres } from './records.ts';

const CREATES = 20;
const WAKE_MS_MEDIAN_MAX = 300;
const POLL_MS_MAX = 5_000;

const ends: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function opened(answering: Answering): Promise<Nodes> {
  const nodes = await openNodes(answering);
  ends.push(nodes.close);
  return nodes;
}

/** How long it took from the request to the arrival of its event. */
async function wake({ box, api }: Pick<Nodes, 'box' | 'api'>, key: string): Promise<number> {
  const since = performance.now();
  const { status, body } = await createPayment(api.url, key, key);
  expect(status, JSON.stringify(body)).toBe(201);
  const isIt = (text: string) => (JSON.parse(text) as { data: { id: string } }).data.id === body.id;
  const arrival = await vi.waitUntil(() => box.arrivals.find((one) => one.at > since && isIt(one.body)), {
    timeout: POLL_MS_MAX,
    interval: 5,
  });
  return arrival.at - since;
}

async function wakeMany(nodes: Pick<Nodes, 'box' | 'api'>, name: string): Promise<number> {
  const took: number[] = [];
  for (let i = 0; i < CREATES; i += 1) took.push(await wake(nodes, `${name}-${i}`));
  return median(took);
}

function median(numbers: readonly number[]): number {
  return Math.round(numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN);
}

describe('an event of the API node', () => {
  it('wakes the worker node at once, and arrives by its poll when the listener was cut off', async () => {
    const nodes = await opened(atOnce);
    const before = await wakeMany(nodes, 'before');
    const listener = `pid from pg_stat_activity where application_name = 'sandbank listener' and datname = current_database()`;
    const after = await queryPostgres(nodes.databaseUrl, async (query) => {
      const [old, ...others] = await query(`select ${listener}`);
      expect([old?.pid, others]).toEqual([expect.any(Number), []]);
      await query(`select pg_terminate_backend(pid) from (select ${listener}) one`);
      const cutOff = await wake(nodes, 'cut-off');
      const fresh = await vi.waitUntil(
        async () => (await query(`select ${listener}`)).find(({ pid }) => pid !== old?.pid),
        { timeout: POLL_MS_MAX, interval: 20 },
      );
      expect(fresh.pid).not.toBe(old?.pid);
      return { cutOff: Math.round(cutOff), again: await wakeMany(nodes, 'after') };
    });
    console.log(
      `median ${before} ms; without listener ${after.cutOff} ms; median afterwards ${after.again} ms`,
    );
    expect(before).toBeLessThan(WAKE_MS_MEDIAN_MAX);
    expect(after.again).toBeLessThan(WAKE_MS_MEDIAN_MAX);
  });
});

describe('an event of an embedded server', () => {
  it('is sent when it is committed, and not when the next round comes', async () => {
    const box = await openInbox({ hook: atOnce });
    const home = openHome(box, [endpoint('hook')]);
    ends.push(home.remove, box.close);
    const api = await home.start({ dataDir: path.join(home.path, 'data') });
    expect(await wakeMany({ box, api }, 'alone')).toBeLessThan(WAKE_MS_MEDIAN_MAX);
  });
});

describe('a worker that was taken for dead', () => {
  it('writes nothing about a delivery that another one has made since', async () => {
    const { box, api, worker, databaseUrl, endpoints, startWorker } = await opened(() => undefined);
    const made = [await createPayment(api.url, 'first', 'first')];
    await vi.waitUntil(() => box.open().length === 1, { interval: 10 });
    worker.child.kill('SIGSTOP');
    const other = await startWorker();
    // The answer comes, and nobody reads it.
    box.answer('hook', atOnce);
    await queryPostgres(databaseUrl, expireLeases);
    await allSent(api.url, POLL_MS_MAX);
    expect(box.arrivals).toHaveLength(2);

    worker.child.kill('SIGCONT');
    made.push(await createPayment(api.url, 'second', 'second'));
    await allSent(api.url, POLL_MS_MAX);
    expect(await Promise.all([api, worker, other].map((node) => node.stop()))).toEqual([0, 0, 0]);
    const acknowledged = made.map(({ body }) => String(body.id));
    const found = await queryPostgres(databaseUrl, (query) =>
      auditDeliveries(query, {
        endpoints,
        arrivals: box.arrivals,
        acknowledged,
        refused: new Set(),
        kills: 1,
      }),
    );
    expect(found).toMatchObject({ complaints: [], arrivals: 3, extra: 1, lost: 1 });
  });
});
