import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { migratedDatabase } from '../support/postgres.ts';
import type { ServerOptions } from '../support/processes.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { API_KEY, call, SPARE_KEY } from './client.ts';
import { DELIVERIES, done, type Home, openHome } from './delivery-endpoints.ts';

const EVENTS = 64;
const ENDPOINTS = 100;
const RSS_MB_MAX = 700;
const SOON_MS_MAX = 1_000;
const WATCHED_MS = 15_000;
const QUIET_MS = 1_500;
const STATUS = '/_api/developer_api_status';
const CUSTOMERS = '/_api/developer_api_customers';

let receiver: Receiver | undefined;
let home: Home | undefined;

afterEach(async () => {
  await home?.remove();
  await receiver?.close();
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
    const nodes = openHome({ urlOf: () => hook.url }, []);
    home = nodes;
    const server = await nodes.start(await optionsFor(nodes.path));
    const { url, pid } = server;
    const metadata = Object.fromEntries(
      Array.from({ length: 50 }, (_, i) => [`key_${i}_`.padEnd(40, 'k'), 'v'.repeat(500)]),
    );
    for (let i = 0; i < EVENTS; i += 1)
      await done(url + CUSTOMERS, { name: `Ada ${i}`, metadata }, `ada-${i}`);
    for (let i = 0; i < ENDPOINTS; i += 1)
      await done(`${url}/_api/developer_api_webhooks`, { url: hook.url }, `hook-${i}`);

    let rssMax = 0;
    let asked = 0;
    /** Somebody else reads and writes, one request after the other; the median of what each takes. */
    const others = async (msMax: number): Promise<number> => {
      const tookMs: number[] = [];
      for (const until = performance.now() + msMax; performance.now() < until; asked += 1) {
        const { status, durationMs } = await call(url + CUSTOMERS, {
          key: SPARE_KEY,
          ...(asked % 2 === 0
            ? {}
            : { method: 'POST', idempotencyKey: `bob-${asked}`, body: { name: 'Bob' } }),
        });
        expect(status).toBeLessThan(300);
        const stranger = `sbk_sandbox_${String(asked).padStart(32, 'x')}`;
        expect((await call(url + STATUS, { key: stranger })).status).toBe(401);
        tookMs.push(durationMs);
        rssMax = Math.max(rssMax, rssMb(pid));
      }
      return tookMs.toSorted((a, b) => a - b)[tookMs.length >> 1] ?? 0;
    };
    // How fast the machine is just now.
    const before = await others(QUIET_MS);
    const window = { from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z', select: 'all' };
    const replay = (key: string) =>
      call(`${url + DELIVERIES}/replay`, { method: 'POST', key: API_KEY, idempotencyKey: key, body: window });
    const statuses = Promise.all(Array.from({ length: 8 }, (_, i) => replay(`replay-${i}`)));
    const median = await others(WATCHED_MS);
    expect((await statuses).map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(409)]);
    console.log(
      `${kind}: ${hook.received.length} requests sent; RSS at most ${Math.round(rssMax)} MB; ` +
        `a request of others took ${Math.round(before)} ms before and ${Math.round(median)} ms meanwhile`,
    );
    expect(rssMax).toBeLessThan(RSS_MB_MAX);
    expect(median).toBeLessThan(Math.max(SOON_MS_MAX, before * 20));
  });
});
