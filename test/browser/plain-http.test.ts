/** A shared server without TLS: browsers offer its pages no clipboard, locks or random UUIDs. */
import type { Page } from 'playwright-core';
import { expect, type TestContext, test } from 'vitest';
import { describeInBrowser, sharedHost, signIn } from '../support/browser.ts';
import { people, useConsole } from './console.ts';

describeInBrowser('plain http from another machine', () => {
  const suite = useConsole({ organizations: ['Shared'], env: { SANDBANK_ALLOWED_HOSTS: sharedHost } });

  async function openShared(context: TestContext, path: string): Promise<Page> {
    // Over plain http, Chromium reports that it ignores this header.
    const { page } = await suite.openTab(context, { ignoreComplaints: /Cross-Origin-Opener-Policy/ });
    const url = new URL(path, suite.url);
    url.hostname = sharedHost;
    await page.goto(url.href);
    expect(await page.evaluate('isSecureContext')).toBe(false);
    return page;
  }

  /** Pastes into a field, because reading the clipboard needs a secure page. */
  async function expectCopied(page: Page, field: string, text: RegExp): Promise<void> {
    await page.getByLabel(field).focus();
    await page.keyboard.press('ControlOrMeta+V');
    expect(await page.getByLabel(field).inputValue()).toMatch(text);
  }

  test('a person signs in, creates a payment, runs a request and copies an id; two tabs follow the API', async (context) => {
    const { id, api } = suite.organization('Shared');
    const page = await openShared(context, '/console/sign-in');
    await signIn(page, people.developer);
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    const other = await page.context().newPage();
    await other.goto(new URL(`/console/${id}/payments?create=1`, page.url()).href);
    await other.getByLabel('Amount').fill('12.50');
    await other.getByRole('dialog').getByRole('button', { name: 'Create payment' }).click();
    await other.getByRole('heading', { level: 1, name: /12\.50/ }).waitFor();
    const [created] = await api.list('payments');
    expect(created).toMatchObject({ amount: 1250 });
    await page
      .getByRole('link', { name: /payment\.created/ })
      .first()
      .waitFor();
    await api.post(`payments/${created?.id}/advance`, { to: 'captured' });
    await other.locator('[aria-current=step]', { hasText: 'Captured' }).waitFor();
    await other.getByRole('button', { name: 'Copy payment id' }).click();
    await other.keyboard.press('ControlOrMeta+K');
    await other.getByRole('combobox').waitFor();
    await other.keyboard.press('ControlOrMeta+V');
    expect(await other.getByRole('combobox').inputValue()).toBe(created?.id);
    await other.keyboard.press('Escape');
    await other.getByRole('button', { name: 'Code', exact: true }).click();
    await other.getByRole('button', { name: /^Run/ }).first().click();
    await other.getByLabel('Response', { exact: true }).waitFor();
  });

  test('the copy button of the documentation copies the code', async (context) => {
    const page = await openShared(context, '/docs/idempotency');
    await page.getByRole('tab', { name: 'curl' }).click();
    const code = page.locator('figure.code').first();
    await code.getByRole('button', { name: 'Copy' }).click();
    await code.getByRole('button', { name: 'Copied' }).waitFor();
    await expectCopied(page, 'Search', /^create\(\) \{ +curl /);
  });
});
