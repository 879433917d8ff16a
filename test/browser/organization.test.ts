/** The organization page (snapshot, fork, reset, deletion) and the coverage page. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import {
  describeInBrowser,
  expectAccessible,
  expectNoOverflow,
  pageContent,
  phone,
  step,
} from '../support/browser.ts';
import { type Api, apiOf } from './api.ts';
import { useConsole } from './console.ts';

const payment = { amount: 1250, currency: 'EUR' };
const idsOf = async (api: Api) => (await api.list('payments')).map(({ id }) => id);

describeInBrowser('organization', () => {
  const names = ['Snapshot', 'Restore', 'Fork', 'Reset', 'Delete', 'Coverage'] as const;
  const suite = useConsole({
    organizations: names,
    webhooks: async () =>
      Object.fromEntries(
        names.map((name) => [name, [{ url: 'http://127.0.0.1:9/hook', retryProfile: 'none' }]]),
      ),
  });
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const organizationNames = async () =>
    ((await suite.session('owner').get('session')).organizations as readonly { name: string }[]).map(
      ({ name }) => name,
    );

  test('an owner downloads a snapshot without secrets', async (context) => {
    const { id } = await suite.organization('Snapshot').api.post('payments', payment);
    const page = await suite.open(context, 'owner', 'Snapshot', 'organization');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download snapshot' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/\.jsonl$/);
    const text = await readFile(await download.path(), 'utf8');
    expect(JSON.parse(text.slice(0, text.indexOf('\n')))).toMatchObject({
      organization: { name: 'Snapshot' },
      hasSecrets: false,
    });
    expect(text).toContain(id);
    expect(text).not.toContain('whsec_');
  });

  test('an owner restores a snapshot into the same organization, and as a new one', async (context) => {
    const { api, id: orgId } = suite.organization('Restore');
    const { id } = await api.post('payments', payment);
    const page = await suite.open(context, 'owner', 'Restore', 'organization');
    const dialog = page.getByRole('dialog');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download snapshot' }).click(),
    ]);
    const file = {
      name: 'restore.jsonl',
      mimeType: 'application/jsonl',
      buffer: await readFile(await download.path()),
    };
    await api.post('payments', payment);
    await step('replace the content of the organization', async () => {
      await button(page, 'Restore snapshot…').click();
      await dialog.getByLabel('Snapshot file').setInputFiles(file);
      await dialog.getByRole('radio', { name: 'This organization' }).check();
      await expectAccessible(page, 'the dialog that restores', { except: ['region'] });
      const confirm = dialog.getByRole('button', { name: 'Replace all records' });
      await confirm.click();
      await dialog.getByText('Type Restore exactly as it is written here.').waitFor();
      expect(await idsOf(api)).toHaveLength(2);
      await dialog.getByLabel('Type Restore to confirm').fill('Restore');
      await confirm.click();
      await page.getByText('Restore restored').waitFor();
      expect(await idsOf(api)).toEqual([id]);
    });
    await step('restore it as a new organization', async () => {
      await button(page, 'Restore snapshot…').click();
      await dialog.getByLabel('Snapshot file').setInputFiles(file);
      await dialog.getByLabel('Name of the new organization').fill('Second life');
      await dialog.getByRole('button', { name: 'Restore', exact: true }).click();
      await dialog.getByText('Snapshot restored').waitFor();
      const shown = await dialog.locator('[data-secret]').innerText();
      const key = /sbk_sandbox_\w+/.exec(shown)?.[0] ?? '';
      expect(await idsOf(apiOf(suite.url, key))).toEqual([id]);
      expect(await organizationNames()).toContain('Second life');
      expect(page.url()).toContain(orgId);
    });
  });

  test('a developer sees which roles may download, fork, reset and delete', async (context) => {
    const page = await suite.open(context, 'developer', 'Snapshot', 'organization');
    expect(await page.getByText('Requires the admin or owner role.').count()).toBe(2);
    expect(await page.getByRole('link', { name: 'Download snapshot' }).count()).toBe(0);
    await page.getByText('Only an owner can delete the organization.', { exact: true }).waitFor();
    expect(await button(page, 'Delete organization…').count()).toBe(0);
  });

  test('a fork has the same payments and its own keys, which are shown once', async (context) => {
    const { api } = suite.organization('Fork');
    const { id } = await api.post('payments', payment);
    const page = await suite.open(context, 'owner', 'Fork', 'organization');
    const dialog = page.getByRole('dialog');
    const key = await step('fork the organization', async () => {
      await button(page, 'Fork organization…').click();
      await dialog.getByLabel('Name of the copy').fill('');
      await button(page, 'Fork').click();
      await dialog.getByText('Enter a name.').waitFor();
      await dialog.getByLabel('Name of the copy').fill('Copy');
      await expectAccessible(page, 'the dialog that forks', { except: ['region'] });
      await button(page, 'Fork').click();
      await dialog.getByText('Organization forked').waitFor();
      await expectAccessible(page, 'the dialog with the secrets', { except: ['region'] });
      const shown = await dialog.locator('[data-secret]').innerText();
      expect(shown).toMatch(/whsec_/);
      return /sbk_sandbox_\w+/.exec(shown)?.[0] ?? '';
    });
    await step('the copy has the payment, and a new payment does not reach the original', async () => {
      const copy = apiOf(suite.url, key);
      expect(await idsOf(copy)).toEqual([id]);
      await copy.post('payments', payment);
      expect(await idsOf(copy)).toHaveLength(2);
      expect(await idsOf(api)).toEqual([id]);
    });
    await step('open the copy, where the keys are not shown again', async () => {
      await page.getByRole('link', { name: 'Open Copy' }).click();
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      await page.getByRole('banner').getByText('Copy').waitFor();
      expect(await pageContent(page)).not.toContain(key);
    });
  });

  test('a reset on a phone asks first, deletes all records and keeps the key', async (context) => {
    const { api } = suite.organization('Reset');
    await api.post('payments', payment);
    const options = { viewport: phone, theme: 'dark' } as const;
    const page = await suite.open(context, 'owner', 'Reset', 'organization', options);
    await expectAccessible(page, 'the organization page on a phone in the dark theme');
    const question = page.getByRole('dialog');
    await button(page, 'Reset organization…').click();
    await question.getByText('Delete all records of Reset?').waitFor();
    await expectAccessible(page, 'the question', { except: ['region'] });
    await expectNoOverflow(page, 'the question');
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'detached' });
    expect(await idsOf(api)).toHaveLength(1);
    await button(page, 'Reset organization…').click();
    const confirm = question.getByRole('button', { name: 'Delete all records' });
    await question.getByLabel('Type Reset to confirm').fill('reset');
    await confirm.click();
    await question.getByText('Type Reset exactly as it is written here.').waitFor();
    expect(await idsOf(api)).toHaveLength(1);
    await question.getByLabel('Type Reset to confirm').fill('Reset');
    await confirm.click();
    await page.getByText(/Reset is empty: \d+ rows deleted/).waitFor();
    expect(await idsOf(api)).toEqual([]);
  });

  test('an owner deletes the organization after typing its name', async (context) => {
    const { api, id } = suite.organization('Delete');
    const member = await suite.open(context, 'developer', 'Delete', 'payments');
    const page = await suite.open(context, 'owner', 'Delete', 'organization');
    const dialog = page.getByRole('dialog');
    await button(page, 'Delete organization…').click();
    await expectAccessible(page, 'the dialog that deletes', { except: ['region'] });
    const confirm = dialog.getByRole('button', { name: 'Delete organization', exact: true });
    await dialog.getByLabel('Type Delete to confirm').fill('Delet');
    await confirm.click();
    await dialog.getByText('Type Delete exactly as it is written here.').waitFor();
    expect(await organizationNames()).toContain('Delete');
    await dialog.getByLabel('Type Delete to confirm').fill('Delete');
    await confirm.click();
    await page.waitForURL((url) => !url.pathname.includes(id));
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await organizationNames()).not.toContain('Delete');
    expect(await api.status('payments')).toBe(401);
    const navigation = member.getByRole('navigation', { name: 'Main' });
    await navigation.getByRole('link', { name: 'Customers', exact: true }).click();
    await member.getByText('This page does not exist').waitFor();
    // The other organizations are not affected.
    expect(await organizationNames()).toEqual(expect.arrayContaining(['Snapshot', 'Fork', 'Reset']));
    await idsOf(suite.organization('Snapshot').api);
  });

  test('coverage shows used and unused items, is downloaded as JUnit XML, and can be reset', async (context) => {
    const { api } = suite.organization('Coverage');
    const { id } = await api.post('payments', payment);
    await api.post(`payments/${id}/advance`, { to: 'captured' });
    await api.status(`payments/${id}/advance`, { action: 'cancel' });
    const page = await suite.open(context, 'developer', 'Coverage', 'coverage');
    /** The row of an item. An error is a link, whose name says that it opens a page. */
    const item = (name: string) =>
      page.getByRole('row').filter({ has: page.getByText(new RegExp(`^${name}( \\(opens|$)`)) });

    const chip = (name: string) => page.getByRole('button', { name: new RegExp(`^${name}`) });
    const choose = async (name: string, option: string) => {
      await chip(name).click();
      await page.getByRole('list', { name }).getByRole('button', { name: option, exact: true }).click();
    };
    await step('states and errors that were used are counted', async () => {
      await item('payment.captured').getByText('1', { exact: true }).waitFor();
      await item('payment.expired').getByText('Not covered').waitFor();
      await page.getByRole('tab', { name: /^Errors/ }).click();
      await item('invalid_state_transition').waitFor();
      await choose('Show', 'Gaps');
      await item('quote_expired').waitFor();
      expect(await item('invalid_state_transition').count()).toBe(0);
    });
    await step('every resource can be selected', async () => {
      await chip('Resource').click();
      const resources = await page
        .getByRole('list', { name: 'Resource' })
        .getByRole('button')
        .allInnerTexts();
      await page.keyboard.press('Escape');
      expect(resources.length).toBeGreaterThan(4);
      for (const resource of resources) {
        const [answer] = await Promise.all([
          page.waitForResponse(/developer_api_coverage\?resource=/),
          choose('Resource', resource),
        ]);
        expect(answer.status(), resource).toBe(200);
      }
      // Errors do not belong to a resource.
      await page.getByRole('tab', { name: /^Errors/ }).waitFor({ state: 'detached' });
    });
    await step('download the coverage of payments as JUnit XML', async () => {
      await choose('Resource', 'Payment');
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        button(page, 'JUnit XML').click(),
      ]);
      const xml = await readFile(await download.path(), 'utf8');
      expect(xml).toContain('<testcase classname="sandbank.state" name="payment.captured" time="0"/>');
      expect(xml).not.toContain('transfer.quoted');
    });
    await step('start over', async () => {
      const { id: orgId } = suite.organization('Coverage');
      await page.setViewportSize(phone);
      await page.goto(`/console/${orgId}/coverage?show=met`);
      await item('payment.pending').waitFor();
      await button(page, 'Reset coverage…').click();
      await expectAccessible(page, 'the question', { except: ['region'] });
      await page.getByRole('alertdialog').getByRole('button', { name: 'Reset coverage' }).click();
      await page.getByText('Nothing covered yet').waitFor();
      const sections = (await api.get('coverage')).sections as readonly { kind: string; met: number }[];
      expect(sections.find(({ kind }) => kind === 'state')).toMatchObject({ met: 0 });
    });
  });
});
