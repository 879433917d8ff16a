/** How much the console loads: the scripts of the first pages, and the pages of a list of 100,000 payments. */
import pg from 'pg';
import type { BrowserContext, Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { describeInBrowser, signIn, untilLoaded, waitMs } from '../support/browser.ts';
import { people, useConsole } from './console.ts';

const scriptBytesMax = 300_000;
const paymentCount = 100_000;
const rowsMax = 60;
const pageTurns = 10;
/** The median of a page of the list, for its request and until its rows are shown, on a machine that does nothing else. */
const pageMsMax = 300;
/** What a request without a list takes on such a machine. If it takes longer now, so may a page. */
const referenceMs = 10;

interface Loaded {
  readonly url: string;
  /** Bytes on the wire, with headers. */
  readonly bytes: number;
  readonly headers: Readonly<Record<string, string>>;
}

interface Loads {
  readonly loaded: Loaded[];
  /** Addresses of requests that have not finished. */
  pending(): readonly string[];
}

/** Records the requests of a page, with the numbers of the browser's network panel. */
async function watchLoads(context: BrowserContext, page: Page): Promise<Loads> {
  const session = await context.newCDPSession(page);
  const responses = new Map<string, Omit<Loaded, 'bytes'>>();
  const pending = new Map<string, string>();
  const loaded: Loaded[] = [];
  session.on('Network.requestWillBeSent', ({ requestId, request }) => pending.set(requestId, request.url));
  session.on('Network.loadingFailed', ({ requestId }) => pending.delete(requestId));
  session.on('Network.responseReceived', ({ requestId, response }) => {
    const headers = Object.entries(response.headers).map(([name, value]) => [name.toLowerCase(), value]);
    responses.set(requestId, { url: response.url, headers: Object.fromEntries(headers) });
  });
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    pending.delete(requestId);
    const response = responses.get(requestId);
    if (response !== undefined) loaded.push({ ...response, bytes: encodedDataLength });
  });
  await session.send('Network.enable');
  return { loaded, pending: () => [...pending.values()] };
}

const medianOf = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** Runs in the page: presses Next and resolves with the milliseconds until another row is first. */
const turnPage = `new Promise((resolve) => {
  const first = () => document.querySelector('tbody a')?.getAttribute('href');
  const before = first();
  const startedAt = performance.now();
  const observer = new MutationObserver(() => {
    if (first() === before) return;
    observer.disconnect();
    resolve(performance.now() - startedAt);
  });
  observer.observe(document.body, { subtree: true, childList: true, attributes: true });
  [...document.querySelectorAll('nav[aria-label=Pages] button')].at(-1).click();
})`;

/** Runs in the page: the duration of every request for a further page of payments. */
const requestDurations = `performance.getEntriesByType('resource')
  .filter(({ name }) => /developer_api_payments\\?.*cursor=/.test(name)).map(({ duration }) => duration)`;

/** Runs in the page: the durations of requests that read a few rows. */
const referenceDurations = `(async () => {
  const durations = [];
  for (let number = 0; number < 5; number += 1) {
    const startedAt = performance.now();
    await (await fetch('/console/api/session')).text();
    durations.push(performance.now() - startedAt);
  }
  return durations;
})()`;

const isScript = (url: string) => new URL(url).pathname.endsWith('.js');
const sumOf = (loaded: readonly Loaded[]) => loaded.reduce((sum, { bytes }) => sum + bytes, 0);

describeInBrowser('first load', () => {
  const suite = useConsole({ organizations: ['Acme'] });

  test('the scripts of the sign-in page and the overview are small, compressed and from this server', async (testContext) => {
    const { api } = suite.organization('Acme');
    for (const amount of [1_000, 2_000]) {
      const { id } = await api.post('payments', { amount, currency: 'EUR' });
      await api.post(`payments/${id}/advance`, { to: 'captured' });
    }
    const { context, page } = await suite.openTab(testContext);
    const requested: string[] = [];
    page.on('request', (request) => requested.push(request.url()));
    const { loaded, pending } = await watchLoads(context, page);
    const untilScriptsLoaded = () => vi.waitFor(() => expect(pending().filter(isScript)).toEqual([]), waitMs);
    await page.goto('/console/');
    await page.getByLabel('Email').waitFor();
    await untilScriptsLoaded();
    const ofSignIn = loaded.filter(({ url }) => isScript(url));
    await signIn(page, people.owner);
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await untilLoaded(page);
    await page.locator('.recharts-surface').first().waitFor();
    await untilScriptsLoaded();
    const scripts = loaded.filter(({ url }) => isScript(url));
    const largest = scripts.toSorted((a, b) => b.bytes - a.bytes).slice(0, 3);
    console.log(
      `scripts of the sign-in page: ${sumOf(ofSignIn)} bytes in ${ofSignIn.length} files; ` +
        `with the overview: ${sumOf(scripts)} bytes in ${scripts.length} files; ` +
        `largest: ${largest.map(({ url, bytes }) => `${url.split('/').at(-1)} ${bytes}`).join(', ')}`,
    );
    expect(ofSignIn.length).toBeGreaterThan(0);
    expect(scripts.length).toBeGreaterThan(ofSignIn.length);
    expect(sumOf(scripts)).toBeLessThan(scriptBytesMax);

    const assets = loaded.filter(({ url }) => url.includes('/console/assets/'));
    expect(assets.length).toBeGreaterThan(5);
    for (const { url, headers } of assets) {
      expect(headers['content-encoding'], url).toMatch(/^(br|gzip)$/);
      expect(headers['cache-control'], url).toBe('public, max-age=31536000, immutable');
    }
    const elsewhere = requested.filter(
      (url) => !url.startsWith(`${suite.url}/`) && !/^(data|blob):/.test(url),
    );
    expect(elsewhere).toEqual([]);
  });
});

describeInBrowser(`a list of ${paymentCount} payments`, () => {
  const suite = useConsole({ organizations: ['Acme'], isOnPostgres: true });

  /** Creates one payment in each of three states, and copies them with other ids and times. */
  async function multiply(database: pg.Client): Promise<void> {
    const { api } = suite.organization('Acme');
    const states = ['captured', 'pending', 'failed'];
    for (const [index, state] of states.entries()) {
      const { id } = await api.post('payments', { amount: 1250, currency: 'EUR', description: state });
      if (state !== 'pending') await api.post(`payments/${id}/advance`, { to: state });
      await database.query(
        `insert into payments select copy.* from payments model, generate_series($2::int, $3::int, $4::int) number,
          lateral jsonb_populate_record(model, jsonb_build_object(
            'id', 'pay_' || lpad(number::text, 26, '0'),
            'reference', 'order-' || number,
            'amount', 1000 + number, 'amount_captured', case when model.status = 'captured' then 1000 + number else 0 end,
            'created_at', model.created_at - make_interval(secs => $3 - number))) copy
         where model.id = $1`,
        [id, index + 1, paymentCount, states.length],
      );
    }
    await database.query('analyze payments');
  }

  test('is shown page by page, forward and by status, and each page reads few rows', async (testContext) => {
    const database = new pg.Client({ connectionString: suite.databaseUrl() });
    await database.connect();
    testContext.onTestFinished(() => database.end());
    await multiply(database);
    const { rows: counted } = await database.query('select count(*)::int as number from payments');
    expect(counted[0].number).toBeGreaterThanOrEqual(paymentCount);
    /** Rows of the table that queries have read so far, by the statistics of PostgreSQL. */
    const rowsRead = async () => {
      await database.query('select pg_stat_force_next_flush()');
      const { rows } = await database.query(
        `select idx_scan::int as scans, (seq_tup_read + idx_tup_fetch)::int as read
         from pg_stat_user_tables where relname = 'payments'`,
      );
      return rows[0] as { readonly scans: number; readonly read: number };
    };
    const before = await rowsRead();

    const page = await suite.open(testContext, 'owner', 'Acme', 'payments');
    const rows = page.getByRole('table', { name: 'Payments' }).getByRole('row');
    const seen = new Set<string>();
    const shownMs: number[] = [];
    const firstLink = () => rows.nth(1).getByRole('link').first().getAttribute('href');
    for (let turn = 1; turn <= pageTurns; turn += 1) {
      await rows.nth(1).waitFor();
      const first = String(await firstLink());
      seen.add(first);
      expect(await rows.count()).toBeLessThanOrEqual(rowsMax);
      await page.getByRole('button', { name: 'Next' }).and(page.locator(':not([aria-disabled])')).waitFor();
      shownMs.push(Number(await page.evaluate(turnPage)));
      expect(await firstLink()).not.toBe(first);
      await untilLoaded(page);
    }
    const requestMs = (await page.evaluate(requestDurations)) as readonly number[];
    expect(requestMs.length).toBeGreaterThanOrEqual(pageTurns);
    const reference = medianOf((await page.evaluate(referenceDurations)) as readonly number[]);
    const slowness = Math.max(1, reference / referenceMs);
    console.log(
      `a page of ${paymentCount} payments: request ${medianOf(requestMs).toFixed(0)} ms, rows shown after ` +
        `${medianOf(shownMs).toFixed(0)} ms (medians of ${pageTurns}); a reference request ${reference.toFixed(0)} ms`,
    );
    expect(medianOf(requestMs)).toBeLessThan(pageMsMax * slowness);
    expect(medianOf(shownMs)).toBeLessThan(pageMsMax * slowness);
    expect(seen.size, 'different pages').toBe(pageTurns);
    await page.getByRole('button', { name: /^Failed/ }).click();
    for (const index of [1, 2]) await rows.nth(index).filter({ hasText: 'Failed' }).waitFor();
    await untilLoaded(page);
    expect(await rows.count()).toBeLessThanOrEqual(rowsMax);
    expect(await page.getByRole('table', { name: 'Payments' }).getByText('Captured').count()).toBe(0);

    // A list that read the whole table would read it for each page, which a fast machine might hide.
    const after = await vi.waitFor(
      async () => {
        const now = await rowsRead();
        // A connection reports its statistics with a delay.
        expect(now.scans - before.scans).toBeGreaterThanOrEqual(pageTurns);
        return now;
      },
      { timeout: waitMs, interval: 500 },
    );
    const pages = pageTurns + 2;
    expect(after.read - before.read).toBeLessThan(pages * 20 * rowsMax);
  });
});
