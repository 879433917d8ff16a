import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, inject, it, vi } from 'vitest';
import { migratedDatabase } from '../support/postgres.ts';
import type { ServerOptions } from '../support/processes.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { API_KEY, call, PAYMENTS, postOk, SPARE_KEY } from './support/client.ts';
import { acceptImmediately, type Inbox, openInbox } from './support/webhook-receiver.ts';
import { DELIVERIES, type Deployment, endpoint, openDeployment } from './support/webhook-servers.ts';

/** Together these endpoints want more requests open than an organization may have. */
const HANGING = Array.from({ length: 60 }, (_, i) => `hanging-${i}`);
const HANGING_CUSTOMERS = 12;
/** Far more than one endpoint may have. */
const CROWDED = 450;

const EVENTS = 64;
const ENDPOINTS = 100;
const RSS_MB_MAX = 700;
/** The replay is in progress while this many of its requests arrive. */
const REPLAYED = 2_000;
/**
 * Requests that the other organization completes meanwhile, one after the other. A duration would depend on the machine: a client that waits behind the
 * replay completes none on any machine.
 */
const REQUESTS_MIN = 8;
const STATUS = '/_api/developer_api_status';
const CUSTOMERS = '/_api/developer_api_customers';

let inbox: Inbox | undefined;
let receiver: Receiver | undefined;
let deployment: Deployment | undefined;

afterEach(async () => {
  await deployment?.remove();
  await inbox?.close();
  await receiver?.close();
});

it('hanging endpoints of one organization do not delay those of another', async () => {
  const box = await openInbox({ good: acceptImmediately });
  inbox = box;
  const nodes = openDeployment(
    box,
    HANGING.map((name) => endpoint(name)),
    [endpoint('good')],
  );
  deployment = nodes;
  const { url } = await nodes.start({ dataDir: 'memory' });
  const create = (_: unknown, n: number) => postOk(url + CUSTOMERS, { name: `Ada ${n}` }, `customer-${n}`);
  await Promise.all(Array.from({ length: HANGING_CUSTOMERS }, create));
  await vi.waitUntil(() => box.open().length >= CROWDED, { interval: 10 });
  await postOk(url + PAYMENTS, { amount: 1_000, currency: 'EUR' }, 'payment', SPARE_KEY);
  const committedAt = performance.now();
  await vi.waitUntil(() => box.of('good').length > 0, { interval: 10 });
  const [{ at: arrivedAt } = { at: Number.NaN }] = box.of('good');
  // It did not wait until a hanging request timed out and freed its slot.
  const ended = box.arrivals.filter(
    ({ endedAt }) => endedAt !== null && endedAt > committedAt && endedAt < arrivedAt,
  );
  expect(ended).toEqual([]);
});

function rssMb(pid: number): number {
  const [, kb = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kb) / 1_024;
}

describe.runIf(process.platform === 'linux')('a replay of 64 events of 28 KB to 100 endpoints', () => {
  it.each<[string, (folder: string) => Promise<ServerOptions>]>([
    ['embedded', async (folder) => ({ dataDir: path.join(folder, 'data') })],
    ['PostgreSQL', async () => ({ databaseUrl: await migratedDatabase(inject('postgresUrl')) })],
  ])('leaves memory and time for others, %s', async (kind, optionsFor) => {
    const large = Buffer.alloc(64 * 1_024, 'x');
    const padding = 'y'.repeat(8_000);
    const hook = await openReceiver((_received, response) => {
      response.writeHead(500, { 'x-padding': padding }).end(large);
    });
    receiver = hook;
    const nodes = openDeployment({ urlOf: () => hook.url }, []);
    deployment = nodes;
    const { url, pid } = await nodes.start({ ...(await optionsFor(nodes.path)), nodeArgs: [] });
    const metadata = Object.fromEntries(
      Array.from({ length: 50 }, (_, i) => [`key_${i}_`.padEnd(40, 'k'), 'v'.repeat(500)]),
    );
    const customer = (_: unknown, i: number) =>
      postOk(url + CUSTOMERS, { name: `Ada ${i}`, metadata }, `ada-${i}`);
    await Promise.all(Array.from({ length: EVENTS }, customer));
    const webhook = (_: unknown, i: number) =>
      postOk(`${url}/_api/developer_api_webhooks`, { url: hook.url }, `hook-${i}`);
    await Promise.all(Array.from({ length: ENDPOINTS }, webhook));

    let rssMax = 0;
    let sent = 0;
    /** Another organization reads and writes, one request after the other. */
    const others = async (isDone: () => boolean): Promise<void> => {
      while (!isDone()) {
        sent += 1;
        const { status } = await call(url + CUSTOMERS, {
          key: SPARE_KEY,
          ...(sent % 2 === 0 ? {} : { method: 'POST', idempotencyKey: `bob-${sent}`, body: { name: 'Bob' } }),
        });
        expect(status).toBeLessThan(300);
        const unknownKey = `sbk_sandbox_${String(sent).padStart(32, 'x')}`;
        expect((await call(url + STATUS, { key: unknownKey })).status).toBe(401);
        rssMax = Math.max(rssMax, rssMb(pid));
      }
    };
    const window = { from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z', select: 'all' };
    const replay = (key: string) =>
      call(`${url + DELIVERIES}/replay`, { method: 'POST', key: API_KEY, idempotencyKey: key, body: window });
    const answers = Promise.all(Array.from({ length: 8 }, (_, i) => replay(`replay-${i}`)));
    await vi.waitUntil(() => hook.received.length > 0);
    await others(() => hook.received.length >= REPLAYED);
    expect((await answers).map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(409)]);
    console.log(
      `${kind}: ${hook.received.length} requests sent; RSS at most ${Math.round(rssMax)} MB; others completed ${sent} meanwhile`,
    );
    expect(rssMax).toBeLessThan(RSS_MB_MAX);
    expect(sent).toBeGreaterThanOrEqual(REQUESTS_MIN);
  });
});
