import { afterEach, expect, it, vi } from 'vitest';
import { PAYMENTS, SPARE_KEY } from './client.ts';
import { done, endpoint, type Home, openHome } from './delivery-endpoints.ts';
import { atOnce, type Inbox, openInbox } from './delivery-inbox.ts';

/** Together they want more open than an organization has. */
const HANGING = Array.from({ length: 60 }, (_, i) => `hanging-${i}`);
const CUSTOMERS = 12;
/** Far more than one endpoint may have. */
const CROWDED = 450;
const SOON_MS_MAX = 3_000;

let inbox: Inbox | undefined;
let home: Home | undefined;

afterEach(async () => {
  await home?.remove();
  await inbox?.close();
});

it('endpoints that hang, however many an organization has, do not delay those of another', async () => {
  const box = await openInbox({ good: atOnce });
  inbox = box;
  const hanging = HANGING.map((name) => endpoint(name));
  const nodes = openHome(box, hanging, [endpoint('good')]);
  home = nodes;
  const { url } = await nodes.start({ dataDir: 'memory' });
  const create = (_: unknown, n: number) =>
    done(`${url}/_api/developer_api_customers`, { name: `Ada ${n}` }, `customer-${n}`);
  await Promise.all(Array.from({ length: CUSTOMERS }, create));
  await vi.waitUntil(() => box.open().length >= CROWDED, { timeout: 60_000, interval: 10 });
  const since = performance.now();
  await done(url + PAYMENTS, { amount: 1_000, currency: 'EUR' }, 'payment', SPARE_KEY);
  await vi.waitUntil(() => box.of('good').length > 0, { timeout: 60_000, interval: 10 });
  const tookMs = Math.round(performance.now() - since);
  console.log(`beside ${box.open().length} requests that hang an event arrived after ${tookMs} ms`);
  expect(tookMs).toBeLessThan(SOON_MS_MAX);
});
