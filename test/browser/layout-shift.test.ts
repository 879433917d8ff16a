/**
 * Loading must not move what a person already reads or is about to click. Every page is loaded without a cache and over a
 * connection with latency, so that its parts arrive one after the other, and the browser reports what moved.
 */
import type { BrowserContext, Page, Request } from 'playwright-core';
import { afterAll, expect, test, vi } from 'vitest';
import {
  describeInBrowser,
  phone,
  pressEscape,
  type StorageState,
  step,
  untilLoaded,
  untilStill,
  useBrowser,
  waitMs,
} from '../support/browser.ts';
import { startServer } from '../support/processes.ts';
import { apiOf } from './api.ts';
import { consoleApiOf } from './console.ts';
import { type Ids, pages, readIds, titleOf } from './page-list.ts';
import { createSampleData, key, owner, type SampleData, seed } from './sample-data.ts';

/** The sum of all shifts of a load. Above 0.1 in a worst window, a page is rated as unstable. */
const shiftMax = 0.05;
const sizes = { desktop: { width: 1440, height: 900 }, phone } as const;
const connection = {
  offline: false,
  latency: 60,
  downloadThroughput: 2_000_000,
  uploadThroughput: 1_000_000,
};

/** Runs in the page before its scripts. */
const observeShifts = `(() => {
  globalThis.layoutShifts = [];
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
      if (hadRecentInput) continue;
      const moved = sources.map(({ node, previousRect, currentRect }) =>
        (node?.outerHTML ?? node?.textContent ?? 'a removed element').slice(0, 160) +
          ' from ' + previousRect.y + ' to ' + currentRect.y);
      layoutShifts.push({ value, moved });
    }
  }).observe({ type: 'layout-shift', buffered: true });
})()`;

interface Shift {
  readonly value: number;
  /** The elements that moved, and from where to where. */
  readonly moved: readonly string[];
}

/** Disables the cache of a page, and slows its connection down. Returns a function that waits until no request is pending, except for the event stream. */
async function openCold(context: BrowserContext, page: Page): Promise<() => Promise<void>> {
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  await session.send('Network.emulateNetworkConditions', connection);
  await page.addInitScript(observeShifts);
  const pending = new Set<Request>();
  page.on('request', (request) => {
    if (!request.url().endsWith('/event_stream')) pending.add(request);
  });
  const settle = (request: Request) => pending.delete(request);
  page.on('requestfinished', settle);
  page.on('requestfailed', settle);
  return () =>
    vi.waitFor(() => expect([...pending].map((request) => request.url())).toEqual([]), {
      timeout: waitMs,
      interval: 50,
    });
}

async function expectStable(page: Page, what: string): Promise<void> {
  const shifts = (await page.evaluate('layoutShifts')) as readonly Shift[];
  const sum = shifts.reduce((total, { value }) => total + value, 0);
  // Reports are cut off: the largest first.
  const largest = shifts.toSorted((one, other) => other.value - one.value);
  expect(sum, `${what}: ${JSON.stringify(largest, null, 2)}`).toBeLessThan(shiftMax);
}

describeInBrowser('layout shifts while a page loads', () => {
  let data: SampleData;
  let ids: Ids;
  let storageState: StorageState;
  const suite = useBrowser({
    start: (folder) => startServer({ dataDir: folder.data, seed: folder.seed(seed) }),
    prepare: async ({ browser, url }) => {
      const context = await browser.newContext({ baseURL: url });
      const api = consoleApiOf(context.request);
      await api.post('session/sign_in', owner);
      storageState = await context.storageState();
      data = await createSampleData(url);
      ids = await readIds(api, data);
    },
  });
  afterAll(async () => {
    await data?.close();
  });

  const cold = new WeakMap<Page, () => Promise<void>>();

  for (const one of pages) {
    for (const [name, viewport] of Object.entries(sizes)) {
      test.concurrent(`${titleOf(one)} is stable on a ${name}`, async (testContext) => {
        const options = one.by === 'owner' ? { storageState } : {};
        const tab = await suite.borrowTab(testContext, `${one.by} ${name}`, { ...options, viewport });
        const { context, page } = tab;
        const untilQuiet = cold.get(page) ?? (await openCold(context, page));
        cold.set(page, untilQuiet);
        await page.goto(`/console/${one.address(ids)}`, { waitUntil: 'domcontentloaded' });
        // A response can cause the next request.
        for (const _round of [1, 2]) {
          await untilLoaded(page);
          await untilQuiet();
          await untilStill(page);
        }
        await expectStable(page, titleOf(one));
      });
    }
  }

  test('a list does not move, whatever arrives last', async (context) => {
    const api = apiOf(suite.url, key);
    const fault = { type: 'error', code: 'service_unavailable' };
    await api.post('fault_plans', { on: 'requests', fault, count: 5, operations: ['createTransfer'] });
    await api.post('clock/advance', { seconds: 60 });
    for (const last of ['developer_api_clock', 'developer_api_fault_plans', 'customer_names']) {
      const { page } = await suite.openTab(context, { storageState, viewport: sizes.desktop });
      await page.addInitScript(observeShifts);
      let release = () => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      await page.route(new RegExp(`/${last}(\\?|$)`), async (route) => {
        await held;
        await route.continue();
      });
      const names = page.waitForResponse(/\/customer_names\?/);
      await page.goto(`/console/${ids.acme}/payments`, { waitUntil: 'domcontentloaded' });
      // Everything else has arrived when the rows are rendered, which may not be shown yet.
      await page.locator('tbody tr td time').first().waitFor({ state: 'attached' });
      await untilStill(page);
      release();
      await page.getByRole('region', { name: 'Active faults' }).waitFor();
      await page.getByRole('region', { name: 'Application clock' }).waitFor();
      await names;
      await untilLoaded(page);
      await untilStill(page);
      await expectStable(page, `payments, ${last} last`);
    }
  });

  test('a record does not move when the name of its customer arrives', async (context) => {
    const api = apiOf(suite.url, key);
    for (const name of ['Al', 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerk']) {
      const customer = await api.post('customers', { name });
      const fields = { customerId: customer.id, reference: 'order-2026-1001' };
      const payment = await api.post('payments', { amount: 1_250, currency: 'EUR', ...fields });
      const { page } = await suite.openTab(context, { storageState, viewport: sizes.desktop });
      await page.addInitScript(observeShifts);
      let release = () => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      await page.route(`**/developer_api_customers/${customer.id}`, async (route) => {
        await held;
        await route.continue();
      });
      await page.goto(`/console/${ids.acme}/payments/${payment.id}`, { waitUntil: 'domcontentloaded' });
      const link = page.getByRole('main').locator(`header a[href*="${customer.id}"]`);
      await link.getByText(customer.id).waitFor();
      await page.getByRole('heading', { level: 3 }).first().waitFor();
      await untilStill(page);
      release();
      await link.getByText(name).waitFor();
      await untilLoaded(page);
      await untilStill(page);
      await expectStable(page, `a payment of ${name}`);
    }
  });

  test('nothing moves when the scrollbar of the window appears, or disappears behind a dialog', async (context) => {
    const { page } = await suite.openTab(context, { storageState, viewport: { width: 1280, height: 600 } });
    await page.goto(`/console/${ids.acme}/start`);
    await untilLoaded(page);
    await untilStill(page);
    const account = page.getByRole('button', { name: /account of/, includeHidden: true });
    const hasScrollbar = () => page.evaluate('document.scrollingElement.scrollHeight > innerHeight');
    const place = await account.boundingBox();
    await step('a dialog and a menu', async () => {
      expect(await hasScrollbar()).toBe(true);
      await page.keyboard.press('ControlOrMeta+K');
      await page.getByRole('dialog').waitFor();
      expect(await account.boundingBox()).toEqual(place);
      await pressEscape(page.getByRole('dialog'));
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await account.boundingBox()).toEqual(place);
      await account.click();
      await page.getByRole('menu').waitFor();
      expect(await account.boundingBox()).toEqual(place);
      await pressEscape(page.getByRole('menu'));
      await page.getByRole('menu').waitFor({ state: 'detached' });
    });
    await step('a window in which the page needs no scrollbar', async () => {
      await page.setViewportSize({ width: 1280, height: 3_000 });
      await untilStill(page);
      expect(await hasScrollbar()).toBe(false);
      expect(await account.boundingBox()).toEqual(place);
    });
  });

  test('with reduced motion a hidden page appears at once, not one level after the other', async (context) => {
    const { page } = await suite.openTab(context, { storageState });
    await page.goto(`/console/${ids.acme}/payments`);
    await untilLoaded(page);
    const deepest = await page.evaluate(`(() => {
      const main = document.querySelector('main');
      const cell = main.querySelector('td a, td');
      const seen = [];
      for (const visibility of ['hidden', 'visible']) {
        main.style.visibility = visibility;
        seen.push(getComputedStyle(cell).visibility);
      }
      return seen;
    })()`);
    expect(deepest).toEqual(['hidden', 'visible']);
  });
});
