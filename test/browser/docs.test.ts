/** Every docs page once in a browser, and the docs scripts. Tests that need no browser are in `test/docs`. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { describe, expect, type TestContext, test } from 'vitest';
import { readServed } from '../docs/built.ts';
import {
  clipboardOf,
  describeInBrowser,
  desktop,
  expectAccessible,
  expectNoOverflow,
  phone,
  type TabOptions,
  untilStill,
  useBrowser,
  waitMs,
} from '../support/browser.ts';
import { startServer } from '../support/processes.ts';

const pages = readServed()
  .filter(({ kind }) => kind === 'page')
  .map(({ path }) => path);

describeInBrowser('docs', () => {
  const suite = useBrowser({ start: () => startServer({ dataDir: 'memory' }) });

  async function open(context: TestContext, path: string, options: TabOptions = {}): Promise<Page> {
    const { page } = await suite.openTab(context, options);
    await page.goto(path, { waitUntil: 'domcontentloaded' });
    return page;
  }

  describe('pages', () => {
    test('there are pages', () => expect(pages.length).toBeGreaterThan(50));

    test.concurrent.for(pages)('%s is accessible and fits a phone', async (path, context) => {
      const { page } = await suite.borrowTab(context, 'reader');
      await page.setViewportSize(desktop);
      await page.goto(path, { waitUntil: 'domcontentloaded' });
      expect(await page.title()).toMatch(/^\S.* · Sandbank$/);
      await untilStill(page);
      await expectAccessible(page, path);
      await page.setViewportSize(phone);
      await untilStill(page);
      const heading = page.getByRole('heading', { level: 1 });
      expect(await heading.count(), 'headings of level 1').toBe(1);
      expect(await heading.isVisible()).toBe(true);
      await expectNoOverflow(page, `${path} on a phone`);
    });
  });

  test('the search works with the keyboard, announces the number of results and opens one', async (context) => {
    const page = await open(context, '/docs');
    await page.keyboard.press('/');
    await page.keyboard.type('retry-after');
    const results = page.getByRole('search').getByRole('link');
    await results.first().waitFor();
    expect(await page.getByRole('status').textContent()).toMatch(/^(\d+ results|First 12 of \d+ results)$/);
    await expectAccessible(page, 'the search results');
    await page.keyboard.press('Escape');
    await results.first().waitFor({ state: 'hidden' });
    await page.getByRole('searchbox').fill('scope_missing');
    await results.first().waitFor();
    const excerpts = (await results.allTextContents()).join(' ');
    expect(excerpts).toContain('details.scope');
    expect(excerpts, 'plain text').not.toContain('`');
    await page.getByRole('searchbox').fill('dispute actions');
    await results.first().waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/disputes*');
    await page.getByRole('searchbox').fill('xyzzyplugh');
    await page.getByText('No results.').waitFor();
  });

  test('the search leads to an operation of the API reference, an error code and an event type', async (context) => {
    const { page } = await suite.openTab(context);
    const openFirst = async (query: string) => {
      await page.goto('/docs');
      await page.getByRole('searchbox').fill(query);
      await page.getByRole('search').getByRole('link').first().waitFor();
      await page.keyboard.press('Enter');
    };
    await openFirst('payment.partially_refunded');
    await page.waitForURL('**/docs/events#payment.partially_refunded');
    expect(await page.locator('tr:target').isVisible()).toBe(true);
    await openFirst('quote_expired');
    await page.waitForURL('**/docs/errors#quote_expired');
    expect(await page.locator('.entry:target').isVisible()).toBe(true);
    await openFirst('refundPayment');
    await page.waitForURL('**/docs/reference#tag/refunds/refundPayment');
    const operation = page.locator('[id$="tag/refunds/refundPayment"]').first();
    await operation.waitFor();
    await page.getByRole('heading', { name: 'Refund payment', exact: true }).first().waitFor();
    const isInWindow = async () => {
      const { y, height } = (await operation.boundingBox()) ?? { y: 0, height: 0 };
      return y + height > 0 && y < desktop.height;
    };
    await expect.poll(isInWindow, { timeout: waitMs }).toBe(true);
  });

  describe('tabs', () => {
    test('work with the keyboard, are accessible and remember the choice on other pages', async (context) => {
      const page = await open(context, '/docs/refunds');
      const tab = (name: string) => page.getByRole('tab', { name }).first();
      const panel = (name: string) => page.getByRole('tabpanel', { name }).first();
      await panel('curl').waitFor();
      expect(await page.getByRole('tabpanel').count()).toBe(1);
      await tab('curl').focus();
      await page.keyboard.press('ArrowLeft');
      await panel('Python').waitFor();
      await page.keyboard.press('Home');
      await panel('curl').waitFor();
      await page.keyboard.press('ArrowRight');
      await panel('TypeScript').waitFor();
      expect(await tab('TypeScript').getAttribute('aria-selected')).toBe('true');
      expect(await page.evaluate('document.activeElement.textContent')).toBe('TypeScript');
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.tagName')).toBe('PRE');
      await expectAccessible(page, 'tabs');
      await page.goto('/docs/idempotency');
      await panel('TypeScript').waitFor();
      expect(await page.getByRole('tabpanel', { name: 'TypeScript' }).count()).toBe(2);
      expect(await page.getByRole('tabpanel', { name: 'curl' }).count()).toBe(0);
    });

    test('change together, and the pressed tab stays at its place in the window', async (context) => {
      const page = await open(context, '/docs/quick-start');
      const tab = page.getByRole('tab', { name: 'Python' }).last();
      await tab.scrollIntoViewIfNeeded();
      const before = await tab.boundingBox();
      await tab.click();
      const after = await tab.boundingBox();
      expect(Math.abs((after?.y ?? 0) - (before?.y ?? 0))).toBeLessThan(2);
      expect(await page.getByRole('tabpanel', { name: 'Python' }).count()).toBe(2);
    });

    test('show all variants in order without scripts, and when printed', async (context) => {
      const names = ['curl', 'TypeScript', 'Python'];
      const page = await open(context, '/docs/refunds', { javaScriptEnabled: false });
      const labels = page.locator('.tab .tab-name');
      expect(await labels.allTextContents()).toEqual(names);
      for (const figure of await page.locator('.tab figure').all())
        expect(await figure.isVisible()).toBe(true);
      const printed = await open(context, '/docs/refunds');
      await printed.getByRole('tab').first().waitFor();
      await printed.emulateMedia({ media: 'print' });
      for (const label of await printed.locator('.tab .tab-name').all())
        expect(await label.isVisible()).toBe(true);
    });
  });

  test('the copy button copies the code as it is shown', async (context) => {
    const page = await open(context, '/docs/idempotency');
    // Another test may have chosen another language, which pages remember.
    await page.getByRole('tab', { name: 'curl' }).click();
    const code = page.locator('figure.code').first();
    await code.getByRole('button', { name: 'Copy' }).click();
    await code.getByRole('button', { name: 'Copied' }).waitFor();
    const snippet = readFileSync(new URL('../../docs/snippets/idempotency.sh', import.meta.url), 'utf8');
    expect(await clipboardOf(page)).toBe(snippet.trimEnd().replaceAll('http://127.0.0.1:4000', suite.url));
  });

  test('the theme is chosen once for all docs pages and the console', async (context) => {
    const page = await open(context, '/docs');
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
    await expectAccessible(page, '/docs/payments in the dark theme');
    await page.goto('/console/sign-in');
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await theme()).toBe('dark');
  });

  test('the menu of a phone is accessible and leads to the pages', async (context) => {
    const page = await open(context, '/docs', { viewport: phone });
    await page.getByText('Menu', { exact: true }).click();
    await expectAccessible(page, 'the menu');
    await page.locator('details.menu').getByRole('link', { name: 'Webhooks', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
  });

  test('the first stop of the Tab key skips to the text', async (context) => {
    const page = await open(context, '/docs/payments');
    await page.keyboard.press('Tab');
    await page.getByRole('link', { name: 'Skip to content' }).waitFor();
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
  });

  test('without scripts all text is readable, and there are no controls that do nothing', async (context) => {
    const page = await open(context, '/docs/payments', { javaScriptEnabled: false, viewport: phone });
    await page.getByRole('heading', { level: 1, name: 'Payments' }).waitFor();
    expect(await page.getByRole('button').count()).toBe(0);
    expect(await page.getByRole('searchbox').count()).toBe(0);
    await page.getByText('Menu', { exact: true }).click();
    await page.locator('details.menu').getByRole('link', { name: 'Refunds' }).click();
    await page.waitForURL('**/docs/refunds');
    await page.goto('/docs/reference');
    await page.getByRole('link', { name: 'Operations' }).waitFor();
  });

  test('a printed page contains the text without navigation', async (context) => {
    const page = await open(context, '/docs/payments');
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('navigation').count()).toBe(0);
    expect(await page.getByRole('searchbox').count()).toBe(0);
    expect(await page.getByRole('heading', { level: 1, name: 'Payments' }).isVisible()).toBe(true);
  });

  test('an unknown page says so in the layout of the others', async (context) => {
    const page = await open(context, '/docs/no-such-page');
    await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
    await expectAccessible(page, 'an unknown page');
  });

  test('the API reference shows operations, follows the theme and calls no other host', async (context) => {
    const blockedMessages: string[] = [];
    const { page } = await suite.openTab(context, { ignoreComplaints: /elsewhere\.test/ });
    page.on('console', (message) => {
      if (/Content Security Policy|Refused to/.test(message.text())) blockedMessages.push(message.text());
    });
    const requested: string[] = [];
    page.on('request', (request) => requested.push(request.url()));
    const isDark = () => page.evaluate("document.body.classList.contains('dark-mode')");

    await page.goto('/docs/reference');
    await page
      .getByRole('button', { name: /Payments/ })
      .first()
      .click();
    await page.getByText('Create payment', { exact: true }).first().click();
    await page.getByText('/_api/developer_api_payments', { exact: true }).first().waitFor();
    expect(await page.evaluate('document.body.innerText')).toContain('captureMethod');
    expect(await isDark()).toBe(false);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.goto('/docs/reference');
    await page
      .getByRole('button', { name: /Payments/ })
      .first()
      .waitFor();
    expect(await isDark()).toBe(true);

    expect(requested).toContain(`${suite.url}/openapi.json`);
    const isElsewhere = (url: string) => !url.startsWith(`${suite.url}/`) && !url.startsWith('data:');
    expect(requested.filter(isElsewhere)).toEqual([]);
    // The policy prevents a request to another host, and the browser reports the attempt.
    expect(blockedMessages).toEqual([]);
    await page.evaluate("fetch('https://elsewhere.test/').catch(() => undefined)");
    await expect.poll(() => blockedMessages, { timeout: waitMs }).not.toEqual([]);
  });
});
