import { afterEach, describe, expect, inject, it, vi } from 'vitest';
import { createDatabase } from '../support/postgres.ts';
import type { ServerProcess } from '../support/processes.ts';
import { createPayment } from './client.ts';
import { auditDeliveries } from './delivery-audit.ts';
import { allSent, type Endpoint, endpoint, expireLeases, type Home, openHome } from './delivery-endpoints.ts';
import { type Answering, atOnce, type Inbox, openInbox } from './delivery-inbox.ts';
import { queryPostgres } from './records.ts';

const CREATES = 20;
const WAKE_MS_MEDIAN_MAX = 300;
const POLL_MS_MAX = 5_000;

let inbox: Inbox | undefined;
let home: Home | undefined;

afterEach(async () => {
  await home?.remove();
  await inbox?.close();
});

interface Nodes {
  readonly box: Inbox;
  readonly api: ServerProcess;
  readonly worker: ServerProcess;
  readonly databaseUrl: string;
  readonly endpoints: readonly Endpoint[];
  startWorker(): Promise<ServerProcess>;
}

async function openNodes(answering: Answering): Promise<Nodes> {
  const box = await openInbox({ hook: answering });
  inbox = box;
  const endpoints = [endpoint('hook')];
  const nodes = openHome(box, endpoints);
  home = nodes;
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  const api = await nodes.start({ databaseUrl }, '--role', 'api');
  const startWorker = () => nodes.start({ databaseUrl }, '--role', 'worker');
  return { box, api, databaseUrl, endpoints, startWorker, worker: await startWorker() };
}

/** How long it took from the request to the arrival of its event. */
async function wake({ box, api }: Nodes, key: string): Promise<number> {
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

function median(numbers: readonly number[]): number {
  return Math.round(numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN);
}

describe('an event of the API node', () => {
  it('wakes the worker node at once, and arrives by its poll when the listener was cut off', {
    timeout: 60_000,
  }, async () => {
    const nodes = await openNodes(atOnce);
    const wakeMany = async (name: string) => {
      const took: number[] = [];
      for (let i = 0; i < CREATES; i += 1) took.push(await wake(nodes, `${name}-${i}`));
      return median(took);
    };
    const before = await wakeMany('before');
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
      return { cutOff: Math.round(cutOff), again: await wakeMany('after') };
    });
    console.log(
      `median ${before} ms; without listener ${after.cutOff} ms; median afterwards ${after.again} ms`,
    );
    expect(before).toBeLessThan(WAKE_MS_MEDIAN_MAX);
    expect(after.again).toBeLessThan(WAKE_MS_MEDIAN_MAX);
  });
});

describe('a worker that was taken for dead', () => {
  it('writes nothing about a delivery that another one has made since', { timeout: 60_000 }, async () => {
    const { box, api, worker, databaseUrl, endpoints, startWorker } = await openNodes(() => undefined);
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
