/** The code of actions, requests that run in the page, and edits of a payment. */
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import {
  clipboardOf,
  describeInBrowser,
  expectAccessible,
  expectNoOverflow,
  phone,
  step,
} from '../support/browser.ts';
import { useConsole } from './console.ts';

const payment = { amount: 1250, currency: 'EUR' };
const dialogOf = (page: Page) => page.getByRole('dialog');
const button = (place: Page | Locator, name: string) => place.getByRole('button', { name, exact: true });
/** The shown sample. */
const codeOf = (place: Page | Locator) => place.getByRole('tabpanel').locator('code');

describeInBrowser('code and runs', () => {
  const suite = useConsole({
    organizations: ['Forms', 'Start', 'Inbox', 'Records', 'Viewer', 'Clock', 'Edit', 'Similar', 'Requests'],
  });

  test('a form shows the code of its request while it is filled in, and creates that record', async (context) => {
    const page = await suite.open(context, 'developer', 'Forms', 'payments');
    const dialog = dialogOf(page);
    await button(page, 'Create payment').click();
    await button(dialog, 'Code').click();
    await dialog.getByText('Fill in the required fields').waitFor();
    await dialog.getByLabel('Amount').fill('12.50');
    await dialog.getByLabel('Reference').fill("it's mine");
    await step('curl, as it is copied', async () => {
      await codeOf(dialog).getByText('"amount": 1250').waitFor();
      await button(dialog, 'Copy curl code').click();
      await button(dialog, 'Copied').waitFor();
      const copied = await clipboardOf(page);
      expect(copied).toContain(`curl -X POST '${suite.url}/_api/developer_api_payments'`);
      expect(copied).toContain(`"reference": "it'\\''s mine"`);
      expect(copied).toContain('$SANDBANK_API_KEY');
      await expectAccessible(page, 'a form with its code', { except: ['region'] });
    });
    await step('TypeScript follows the form', async () => {
      await dialog.getByRole('tab', { name: 'TypeScript' }).click();
      await codeOf(dialog).getByText('sandbank.payments.create(').waitFor();
      await dialog.getByLabel('Amount').fill('13');
      await codeOf(dialog).getByText('1300').waitFor();
    });
    await step('the record is the one of the code', async () => {
      await button(dialog, 'Create payment').click();
      await page.getByRole('heading', { level: 1, name: '13.00 EUR' }).waitFor();
      const [created] = await suite.organization('Forms').api.list('payments');
      expect(created).toMatchObject({ amount: 1300, reference: "it's mine" });
    });
  });

  test('the quick start runs a request, and the events arrive below the response', async (context) => {
    const page = await suite.open(context, 'developer', 'Start', 'start');
    await button(page, 'Run: Create a payment').click();
    const response = page.getByLabel('Response', { exact: true });
    await response.waitFor();
    await page.getByText('201', { exact: true }).waitFor();
    const [created] = await suite.organization('Start').api.list('payments');
    await response.getByRole('link', { name: created?.id ?? '' }).waitFor();
    const events = page.getByLabel('Events', { exact: true });
    await events.getByRole('link', { name: 'payment.created' }).waitFor();
    await suite.organization('Start').api.post('clock/advance', { seconds: 3_600 });
    await events.getByRole('link', { name: 'payment.captured' }).waitFor();
    await page.getByRole('heading', { name: /^Create the first payment\s*Done$/ }).waitFor();
    await expectAccessible(page, 'the quick start after a run', { except: ['region'] });
  });

  test('the quick start opens the webhook inbox with one click', async (context) => {
    const page = await suite.open(context, 'developer', 'Inbox', 'start');
    await button(page, 'Open webhook inbox').click();
    await page.waitForURL(/\/webhooks\/whk_\w+\/inbox/);
    const webhooks = await suite.organization('Inbox').api.list('webhooks');
    expect(webhooks).toHaveLength(1);
    expect(page.url()).toContain(webhooks[0]?.id);
  });

  test('a record page lists its requests, and runs a read and the next step', async (context) => {
    const { api } = suite.organization('Records');
    const { id } = await api.post('payments', { ...payment, captureMethod: 'manual' });
    const page = await suite.open(context, 'developer', 'Records', `payments/${id}`);
    const dialog = dialogOf(page);
    await step('a read', async () => {
      await button(page, 'Code').click();
      await dialog.getByLabel('Request').selectOption('List history');
      await button(dialog, 'Run: List history').click();
      await dialog.getByLabel('Response', { exact: true }).getByText('"create"').waitFor();
      await expectAccessible(page, 'the code of a record', { except: ['region'] });
    });
    await step('the next step, from the menu', async () => {
      await button(dialog, 'Close').click();
      await button(page, 'Actions').click();
      await page.getByRole('menuitem', { name: 'Code…' }).click();
      await button(dialog, 'Run: Advance: next step').click();
      await dialog.getByRole('link', { name: 'payment.authorized' }).waitFor();
      expect(await api.get(`payments/${id}`)).toMatchObject({ status: 'authorized' });
    });
  });

  test('a viewer runs reads and no writes', async (context) => {
    const { api } = suite.organization('Viewer');
    const { id } = await api.post('payments', payment);
    const page = await suite.open(context, 'viewer', 'Viewer', `payments/${id}`);
    const dialog = dialogOf(page);
    expect(await button(page, 'Edit description and metadata').count()).toBe(0);
    await button(page, 'Code').click();
    await button(dialog, 'Run: Retrieve payment').click();
    await dialog.getByText('200', { exact: true }).waitFor();
    await dialog.getByLabel('Request').selectOption('Advance: next step');
    await codeOf(dialog).getByText('/advance').waitFor();
    expect(await dialog.getByRole('button', { name: /^Run/ }).count()).toBe(0);
  });

  test('the clock shows the code of its buttons, on a phone too', async (context) => {
    const page = await suite.open(context, 'developer', 'Clock', 'payments', { viewport: phone });
    await page.getByRole('button', { name: /^Application clock/ }).click();
    await button(page.getByRole('dialog', { name: 'Application clock' }), 'Code').click();
    const dialog = page.getByRole('dialog', { name: 'Clock in code' });
    await dialog.getByLabel('Request').selectOption('Freeze');
    await expectNoOverflow(page, 'the code of the clock on a phone');
    await button(dialog, 'Run: Freeze').click();
    await dialog.getByLabel('Response', { exact: true }).getByText('"frozen"').waitFor();
    expect(await suite.organization('Clock').api.get('clock')).toMatchObject({ status: 'frozen' });
  });

  test('the description and metadata of a payment are edited', async (context) => {
    const { api } = suite.organization('Edit');
    const { id } = await api.post('payments', { ...payment, metadata: { cart: '1' } });
    await api.post(`payments/${id}/advance`, { action: 'cancel' });
    const page = await suite.open(context, 'developer', 'Edit', `payments/${id}`);
    const dialog = dialogOf(page);
    await button(page, 'Edit description and metadata').click();
    await dialog.getByLabel('Description').fill('Two books');
    await dialog.getByLabel('Metadata, value 1').fill('2');
    await button(dialog, 'Code').click();
    await codeOf(dialog).getByText(`developer_api_payments/${id}/update`).waitFor();
    await expectAccessible(page, 'the edit form of a payment', { except: ['region'] });
    await button(dialog, 'Save').click();
    await page.getByText('Payment saved').waitFor();
    await page.getByText('Two books').first().waitFor();
    expect(await api.get(`payments/${id}`)).toMatchObject({
      ...{ status: 'canceled', description: 'Two books', metadata: { cart: '2' }, version: 3 },
    });
    await page.getByRole('heading', { level: 3, name: /Update/ }).waitFor();
  });

  test('a similar payment starts with the fields of another one', async (context) => {
    const { api } = suite.organization('Similar');
    const fields = { ...payment, captureMethod: 'manual', scenario: 'decline:expired_card' };
    const { id } = await api.post('payments', { ...fields, reference: 'order-1', metadata: { cart: '1' } });
    const page = await suite.open(context, 'developer', 'Similar', `payments/${id}`);
    await button(page, 'Actions').click();
    await page.getByRole('menuitem', { name: 'Create similar…' }).click();
    const dialog = dialogOf(page);
    await dialog.getByLabel('Amount').waitFor();
    expect(new URL(page.url()).searchParams.get('like')).toBe(id);
    await button(dialog, 'Create payment').click();
    await page.waitForURL((url) => /payments\/pay_\w+/.test(url.pathname) && !url.pathname.includes(id));
    const [created] = await api.list('payments');
    expect(created).toMatchObject({ ...fields, reference: null, metadata: { cart: '1' }, status: 'pending' });
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Payments' }).waitFor();
    expect(await dialog.count()).toBe(0);
  });

  test('a logged request is shown in three languages', async (context) => {
    const { api } = suite.organization('Requests');
    const { requestId } = await api.post('payments', payment);
    const page = await suite.open(context, 'developer', 'Requests', `requests/${requestId}`);
    await button(page, 'Copy as curl').click();
    await page.getByText('Copied as curl').waitFor();
    expect(await clipboardOf(page)).toContain('"amount": 1250');
    await page.getByRole('tab', { name: 'Python' }).click();
    await codeOf(page).getByText('urllib.request.urlopen').waitFor();
  });
});
