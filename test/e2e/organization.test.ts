import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeInBrowser, desktop, everythingOf, expectAccessible, phone } from '../support/browser.ts';
import { type Caller, callerOf } from './caller.ts';
import { Office } from './office.ts';

const looks = [
  ['light', { viewport: desktop }],
  ['dark on a phone', { viewport: phone, theme: 'dark' }],
] as const;
const payment = { amount: 1250, currency: 'EUR' };

async function idsOf(caller: Caller): Promise<readonly string[]> {
  const { data } = await caller.get('payments');
  return (data as readonly { id: string }[]).map(({ id }) => id);
}

describeInBrowser('the page of an organization', () => {
  const office = new Office({
    who: ['owner', 'developer'],
    webhooks: () => [{ url: 'http://127.0.0.1:9/hook', retryProfile: 'none' }],
  });
  let page: Page;
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const dialog = () => page.getByRole('dialog');

  test.each(looks)('an owner downloads a snapshot without secrets, %s', async (name, look) => {
    const { id } = await office.caller.post('payments', payment);
    page = await office.open('owner', 'organization', look);
    await expectAccessible(page, `the page, ${name}`);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download snapshot' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/\.jsonl$/);
    const text = await readFile(await download.path(), 'utf8');
    expect(JSON.parse(text.slice(0, text.indexOf('\n')))).toMatchObject({
      organization: { name: 'Acme' },
      hasSecrets: false,
    });
    expect(text).toContain(id);
    expect(text).not.toContain('whsec_');
  });

  test('a fork has the same payments and keys of its own, which are shown once', async () => {
    const { id } = await office.caller.post('payments', payment);
    page = await office.open('owner', 'organization');
    await button('Fork organization…').click();
    await dialog().getByLabel('Name of the copy').fill('');
    expect(await button('Fork').isDisabled()).toBe(true);
    await dialog().getByLabel('Name of the copy').fill('Acme to break');
    await expectAccessible(page, 'the dialog that forks', { except: ['region'] });
    await button('Fork').click();
    await dialog().getByText('Organization forked').waitFor();
    await expectAccessible(page, 'the dialog with the secrets', { except: ['region'] });
    const shown = await dialog().locator('[data-secret]').innerText();
    expect(shown).toMatch(/whsec_/);
    const key = /sbk_sandbox_\w+/.exec(shown)?.[0] ?? '';
    const copy = callerOf(office.url, key);
    expect(await idsOf(copy)).toContain(id);
    await copy.post('payments', payment);
    expect(await idsOf(copy)).toHaveLength((await idsOf(office.caller)).length + 1);
    await page.getByRole('link', { name: 'Open Acme to break' }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.getByRole('banner').getByText('Acme to break').waitFor();
    expect(await everythingOf(page)).not.toContain(key);
  });

  test('a reset asks first, deletes all records and keeps the key', async () => {
    await office.caller.post('payments', payment);
    page = await office.open('owner', 'organization', looks[1][1]);
    await button('Reset organization…').click();
    const question = page.getByRole('alertdialog');
    await question.getByText('Delete all records of Acme?').waitFor();
    await expectAccessible(page, 'the question', { except: ['region'] });
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(await idsOf(office.caller)).not.toEqual([]);
    await button('Reset organization…').click();
    await question.getByRole('button', { name: 'Delete all records' }).click();
    await page.getByText(/Acme is empty: \d+ rows deleted/).waitFor();
    expect(await idsOf(office.caller)).toEqual([]);
  });

  test('a developer is told who may do these', async () => {
    page = await office.open('developer', 'organization');
    expect(await page.getByText('Admins and owners of the organization do this.').count()).toBe(2);
    expect(await page.getByRole('link', { name: 'Download snapshot' }).count()).toBe(0);
  });

  /** The row of an item; errors are links, which say where they lead. */
  const met = (name: string) =>
    page.getByRole('row').filter({ has: page.getByText(new RegExp(`^${name}( \\(opens|$)`)) });

  test('coverage shows what was met and the gaps, and is saved for a build server', async () => {
    await office.caller.post('coverage/reset');
    const { id } = await office.caller.post('payments', payment);
    await office.caller.post(`payments/${id}/advance`, { to: 'captured' });
    await office.caller.try(`payments/${id}/advance`, { action: 'cancel' });
    page = await office.open('developer', 'coverage');
    await met('payment.captured').getByText('1', { exact: true }).waitFor();
    await met('payment.expired').getByText('Not met').waitFor();
    await page.getByRole('tab', { name: /^Errors/ }).click();
    await met('invalid_state_transition').waitFor();
    await page.getByLabel('Show').selectOption('gaps');
    await met('quote_expired').waitFor();
    expect(await met('invalid_state_transition').count()).toBe(0);
    const resources = await page.getByLabel('Resource').locator('option').allInnerTexts();
    expect(resources.length).toBeGreaterThan(5);
    for (const resource of resources.slice(1)) {
      const [answer] = await Promise.all([
        page.waitForResponse(/developer_api_coverage\?resource=/),
        page.getByLabel('Resource').selectOption(resource),
      ]);
      expect(answer.status(), resource).toBe(200);
    }
    // Errors are about no resource.
    await page.getByRole('tab', { name: /^Errors/ }).waitFor({ state: 'detached' });
    await page.getByLabel('Resource').selectOption('Payment');
    const [download] = await Promise.all([page.waitForEvent('download'), button('JUnit XML').click()]);
    const xml = await readFile(await download.path(), 'utf8');
    expect(xml).toContain('<testcase classname="sandbank.state" name="payment.captured" time="0"/>');
    expect(xml).not.toContain('transfer.quoted');
  });

  test('a developer cannot delete the organization; an owner types its name first', async () => {
    page = await office.open('developer', 'organization');
    await page.getByText('Only an owner can delete the organization.', { exact: true }).waitFor();
    expect(await button('Delete organization…').count()).toBe(0);
    page = await office.open('owner', 'organization');
    await button('Fork organization…').click();
    await dialog().getByLabel('Name of the copy').fill('Acme to delete');
    await button('Fork').click();
    await page.getByRole('link', { name: 'Open Acme to delete' }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.goto(page.url().replace(/(org_\w+).*/, '$1/organization'));
    await button('Delete organization…').click();
    await expectAccessible(page, 'the dialog that deletes', { except: ['region'] });
    const confirm = dialog().getByRole('button', { name: 'Delete organization', exact: true });
    await dialog().getByLabel('Type Acme to delete to confirm').fill('Acme');
    expect(await confirm.isDisabled()).toBe(true);
    await dialog().getByLabel('Type Acme to delete to confirm').fill('Acme to delete');
    await confirm.click();
    await page.getByRole('banner').getByText('Acme', { exact: true }).waitFor();
    expect(await page.getByText('Acme to delete').count()).toBe(0);
    // The organization itself is untouched.
    await idsOf(office.caller);
  });

  test('a developer lets the counting start over', async () => {
    await office.caller.post('payments', payment);
    page = await office.open('developer', 'coverage?show=met', looks[1][1]);
    await met('payment.pending').waitFor();
    await button('Start over…').click();
    await expectAccessible(page, 'the question', { except: ['region'] });
    await page.getByRole('alertdialog').getByRole('button', { name: 'Start over' }).click();
    await page.getByText('Nothing was met yet').waitFor();
  });
});
