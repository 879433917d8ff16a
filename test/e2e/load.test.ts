import pg from 'pg';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import {
  describeInBrowser,
  openBrowser,
  openWindow,
  signedInState,
  signIn,
  untilLoaded,
} from '../support/browser.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { type ServerProcess, startServer } from '../support/processes.ts';
import { callerOf, type Folder, temporaryFolder } from './caller.ts';
import { owner, populate, seed, type World } from './world.ts';

const scriptBytesMax = 300_000;
const paymentCount = 100_000;
const rowsMax = 60;
const pageMsMax = 1_500;

interface Loaded {
  readonly url: string;
  /** What came over the wire, its headers too. */
  readonly bytes: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** What a window loads from now on, as the browser's own network panel counts it. */
async function watchLoads(context: BrowserContext, page: Page): Promise<Loaded[]> {
  const session = await context.newCDPSession(page);
  const answers = new Map<string, Omit<Loaded, 'bytes'>>();
  const loaded: Loaded[] = [];
  session.on('Network.responseReceived', ({ requestId, response }) => {
    const headers = Object.entries(response.headers).map(([name, value]) => [name.toLowerCase(), value]);
    answers.set(requestId, { url: response.url, headers: Object.fromEntries(headers) });
  });
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const answer = answers.get(requestId);
    if (answer !== undefined) loaded.push({ ...answer, bytes: encodedDataLength });
  });
  await session.send('Network.enable');
  return loaded;
}

const isScript = ({ url }: Loaded) => new URL(url).pathname.endsWith('.js');
const sumOf = (loaded: readonly Loaded[]) => loaded.reduce((sum, { bytes }) => sum + bytes, 0);

describeInBrowser('the first load', () => {
  let folder: Folder;
  let server: ServerProcess;
  let browser: Browser;
  let world: World;

  beforeAll(async () => {
    folder = temporaryFolder();
    [server, browser] = await Promise.all([
      startServer({ dataDir: folder.data, seed: folder.seed(seed) }),
      openBrowser(),
    ]);
    world = await populate(server.url);
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
    await server?.stop();
    folder.remove();
  });

  test('of the sign-in page and of the overview with its charts is small, compressed, and from here alone', async () => {
    const { context, page } = await openWindow(browser, server.url);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    const loaded = await watchLoads(context, page);
    await page.goto('/console/');
    await page.getByLabel('Email').waitFor();
    await page.waitForLoadState('networkidle');
    const atSignIn = loaded.filter(isScript);
    await signIn(page, owner);
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await untilLoaded(page);
    await page
      .getByRole('img', { name: /volume/i })
      .or(page.locator('.recharts-surface'))
      .first()
      .waitFor();
    await page.waitForLoadState('networkidle');
    const scripts = loaded.filter(isScript);
    const largest = scripts.toSorted((a, b) => b.bytes - a.bytes).slice(0, 3);
    console.log(
      `scripts of the sign-in page: ${sumOf(atSignIn)} bytes in ${atSignIn.length} files; ` +
        `with those of the overview: ${sumOf(scripts)} bytes in ${scripts.length} files; ` +
        `the largest: ${largest.map(({ url, bytes }) => `${url.split('/').at(-1)} ${bytes}`).join(', ')}`,
    );
    expect(atSignIn.length).toBeGreaterThan(0);
    expect(sumOf(scripts)).toBeLessThan(scriptBytesMax);

    const assets = loaded.filter(({ url }) => url.includes('/console/assets/'));
    expect(assets.length).toBeGreaterThan(5);
    for (const { url, headers } of assets) {
      expect(headers['content-encoding'], url).toMatch(/^(br|gzip)$/);
      expect(headers['cache-control'], url).toBe('public, max-age=31536000, immutable');
    }
    const elsewhere = asked.filter((url) => !url.startsWith(`${server.url}/`) && !/^(data|blob):/.test(url));
    expect(elsewhere).toEqual([]);
    await context.close();
  });
});

describeInBrowser('a list of 100,000 payments', () => {
  let folder: Folder;
  let server: ServerProcess;
  let browser: Browser;
  let page: Page;
  const key = 'sbk_sandbox_0123456789abcdefghijABCDEFGHIJ01';

  beforeAll(async () => {
    folder = temporaryFolder();
    const databaseUrl = await migratedDatabase(inject('postgresUrl'));
    [server, browser] = await Promise.all([
      startServer({ databaseUrl, seed: folder.seed({ organizations: seed.organizations.slice(0, 1) }) }),
      openBrowser(),
    ]);
    await multiply(databaseUrl);
    ({ page } = await openWindow(browser, server.url, {
      signedIn: await signedInState(browser, server.url, owner),
    }));
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    folder.remove();
  });

  /** One payment in each of three states, and then copies of them with ids and times of their own. */
  async function multiply(databaseUrl: string): Promise<void> {
    const caller = callerOf(server.url, key);
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    try {
      const states = ['captured', 'pending', 'failed'];
      for (const [place, state] of states.entries()) {
        const { id } = await caller.post('payments', { amount: 1250, currency: 'EUR', description: state });
        if (state !== 'pending') await caller.post(`payments/${id}/advance`, { to: state });
        await client.query(
          `insert into payments select copy.* from payments model, generate_series($2::int, $3::int, $4::int) number,
            lateral jsonb_populate_record(model, jsonb_build_object(
              'id', 'pay_' || lpad(number::text, 26, '0'),
              'reference', 'order-' || number,
              'amount', 1000 + number, 'amount_captured', case when model.status = 'captured' then 1000 + number else 0 end,
              'created_at', model.created_at - make_interval(secs => $3 - number))) copy
           where model.id = $1`,
          [id, place + 1, paymentCount, states.length],
        );
      }
      await client.query('analyze payments');
      const { rows } = await client.query('select count(*)::int as number from payments');
      expect(rows[0].number).toBeGreaterThanOrEqual(paymentCount);
    } finally {
      await client.end();
    }
  }

  const rows = () => page.getByRole('table', { name: 'Payments' }).getByRole('row');

  async function took(act: () => Promise<unknown>): Promise<number> {
    const from = performance.now();
    await act();
    await untilLoaded(page);
    return Math.round(performance.now() - from);
  }

  test('shows a page at a time, each quickly, forward and by status', async () => {
    await page.goto('/console/');
    await untilLoaded(page);
    const link = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Payments' });
    const times: [string, number][] = [
      [
        'first',
        await took(async () => {
          await link.click();
          await rows().nth(1).waitFor();
        }),
      ],
    ];
    const seen = new Set<string>();
    for (let turn = 1; turn <= 10; turn += 1) {
      const last = await rows().nth(1).innerText();
      seen.add(last);
      expect(await rows().count()).toBeLessThanOrEqual(rowsMax);
      const ms = await took(async () => {
        await page.getByRole('button', { name: 'Next' }).click();
        await rows()
          .nth(1)
          .filter({ hasNotText: last.split('\n')[0] ?? '' })
          .waitFor();
      });
      times.push([`page ${turn + 1}`, ms]);
    }
    expect(seen.size, 'every page shows others').toBe(10);
    const filtered = await took(async () => {
      await page.getByLabel('Status').selectOption('failed');
      await rows().nth(1).filter({ hasText: 'Failed' }).waitFor();
      await rows().nth(2).filter({ hasText: 'Failed' }).waitFor();
    });
    times.push(['failed ones', filtered]);
    console.log(
      `lists of ${paymentCount} payments: ${times.map(([what, ms]) => `${what} ${ms} ms`).join(', ')}`,
    );
    expect(await rows().count()).toBeLessThanOrEqual(rowsMax);
    expect(await page.getByRole('table', { name: 'Payments' }).getByText('Captured').count()).toBe(0);
    expect(times.filter(([, ms]) => ms > pageMsMax)).toEqual([]);
  });
});
