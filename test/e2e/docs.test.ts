import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readServed } from '../docs/built.ts';
import {
  clipboardOf,
  describeInBrowser,
  desktop,
  expectAccessible,
  openBrowser,
  openWindow,
  phone,
  type Watched,
} from '../support/browser.ts';
import { isThorough } from '../support/effort.ts';
import { type ServerProcess, startServer } from '../support/processes.ts';
import { closenessOf, expectWhole } from './looks.ts';

const looks = [
  { name: 'light', theme: 'light', viewport: desktop },
  { name: 'phone', theme: 'light', viewport: phone },
] as const;
// The decisions are all alike: one stands for them.
const pages = readServed().filter(({ kind, path }) => kind === 'page' && !/decisions\/000[2-9]/.test(path));
describeInBrowser('the docs in a browser', () => {
  let server: ServerProcess;
  let browser: Browser;
  const windows = new Map<string, Watched>();
  beforeAll(async () => {
    [server, browser] = await Promise.all([startServer({ dataDir: 'memory' }), openBrowser()]);
    for (const { name, theme, viewport } of looks)
      windows.set(name, await openWindow(browser, server.url, { theme, viewport }));
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  const windowOf = (look: string): Watched => {
    const watched = windows.get(look);
    if (watched === undefined) throw new Error(`no window is ${look}`);
    return watched;
  };
  const visit = async (path: string, look = 'light'): Promise<Page> => {
    const { page, complaints } = windowOf(look);
    complaints.length = 0;
    await page.goto(path);
    return page;
  };
  test.each(pages)('$path is whole and fits a phone, and by turns looked at closely', async ({ path }) => {
    await visit(path);
    // Their colours come from one style sheet, and are made by one program.
    const index = pages.findIndex((one) => one.path === path);
    await expectWhole(windowOf('light'), path, closenessOf(index, 7));
  });

  test('the search finds by keyboard alone, says how much, and leads there', async () => {
    const page = await visit('/docs');
    await page.keyboard.press('/');
    await page.keyboard.type('retry-after');
    const found = page.getByRole('search').getByRole('link');
    await found.first().waitFor();
    expect(await page.getByRole('status').textContent()).toMatch(/^(\d+ places|The first 12 of \d+ places)$/);
    await expectAccessible(page, 'the search');
    await page.keyboard.press('Escape');
    await found.first().waitFor({ state: 'hidden' });
    await page.getByRole('searchbox').fill('escalate');
    await found.first().waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/disputes*');
    await page.getByRole('searchbox').fill('xyzzy');
    await page.getByText('Nothing was found.').waitFor();
  });

  test('code is copied as it stands on the page', async () => {
    const page = await visit('/docs/idempotency');
    const code = page.locator('figure.code').first();
    await code.getByRole('button', { name: 'Copy' }).click();
    await code.getByRole('button', { name: 'Copied' }).waitFor();
    const snippet = readFileSync(new URL('../../docs/snippets/idempotency.sh', import.meta.url), 'utf8');
    expect(await clipboardOf(page)).toBe(snippet.trimEnd().replaceAll('http://127.0.0.1:4000', server.url));
  });

  test('the theme is chosen once for all pages, and the console has the same', async () => {
    const { context, page } = await openWindow(browser, server.url, { theme: 'light' });
    await page.goto('/docs');
    const theme = () => page.evaluate('document.documentElement.dataset.theme');
    const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    const light = await background();
    await page.getByRole('button', { name: 'Theme: Auto' }).click();
    await page.getByRole('button', { name: 'Theme: Light' }).click();
    await page.getByRole('button', { name: 'Theme: Dark' }).waitFor();
    expect(await theme()).toBe('dark');
    expect(await background()).not.toBe(light);
    await page.goto('/docs/payments');
    expect(await theme()).toBe('dark');
    await page.goto('/console/sign-in');
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await theme()).toBe('dark');
    await context.close();
  });

  test('the menu of a phone leads to every page', async () => {
    const page = await visit('/docs', 'phone');
    await page.getByText('Menu', { exact: true }).click();
    await expectAccessible(page, 'the menu');
    await page.locator('details.menu').getByRole('link', { name: 'Webhooks' }).click();
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
  });

  test('by keyboard one can skip to the text', async () => {
    const page = await visit('/docs/payments');
    await page.keyboard.press('Tab');
    await page.getByRole('link', { name: 'Skip to the text' }).waitFor();
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
  });

  test('without scripts everything can be read, and nothing is there that does nothing', async () => {
    const context = await browser.newContext({
      baseURL: server.url,
      javaScriptEnabled: false,
      viewport: phone,
    });
    const page = await context.newPage();
    await page.goto('/docs/payments');
    await page.getByRole('heading', { level: 1, name: 'Payments' }).waitFor();
    expect(await page.getByRole('button').count()).toBe(0);
    expect(await page.getByRole('searchbox').count()).toBe(0);
    await page.getByText('Menu', { exact: true }).click();
    await page.locator('details.menu').getByRole('link', { name: 'Refunds' }).click();
    await page.waitForURL('**/docs/refunds');
    await page.goto('/docs/reference');
    await page.getByRole('link', { name: 'Operations' }).waitFor();
    await context.close();
  });

  test('on paper there is the text alone', async () => {
    const page = await visit('/docs/payments');
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('navigation').count()).toBe(0);
    expect(await page.getByRole('searchbox').count()).toBe(0);
    expect(await page.getByRole('heading', { level: 1, name: 'Payments' }).isVisible()).toBe(true);
    await page.emulateMedia({ media: null });
  });

  test('an address that no page has says so, in the frame of the others', async () => {
    const page = await visit('/docs/no-such-page');
    await page.getByRole('heading', { level: 1, name: 'There is no such page' }).waitFor();
    await expectAccessible(page, 'a page that is not there');
  });

  test.each(isThorough ? ['light', 'dark'] : ['dark'])(
    'the API reference shows operations, and asks nobody else (%s)',
    async (look) => {
      const { context, page, complaints } = await openWindow(browser, server.url, {
        theme: look === 'dark' ? 'dark' : 'light',
      });
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      await page.goto('/docs/reference');
      await page
        .getByRole('button', { name: /Payments/ })
        .first()
        .click();
      await page.getByText('Create a payment', { exact: true }).first().click();
      await page.getByText('/_api/developer_api_payments', { exact: true }).first().waitFor();
      expect(await page.evaluate('document.body.innerText')).toContain('captureMethod');
      await page.waitForLoadState('networkidle');
      expect(asked).toContain(`${server.url}/openapi.json`);
      expect(asked.filter((url) => !url.startsWith(`${server.url}/`) && !url.startsWith('data:'))).toEqual(
        [],
      );
      // A request that the policy forbids never starts, so it is looked for among the complaints.
      expect(
        complaints.filter((words) => /Content Security Policy|Refused to|pageerror|TypeError/.test(words)),
      ).toEqual([]);
      expect(await page.evaluate("document.body.classList.contains('dark-mode')")).toBe(look === 'dark');
      await context.close();
    },
  );
});
