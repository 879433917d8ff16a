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
import { useConsole, visit } from './console.ts';

const payment = { amount: 1250, currency: 'EUR' };
const dialogOf = (page: Page) => page.getByRole('dialog');
const button = (place: Page | Locator, name: string) => place.getByRole('button', { name, exact: true });
/** The shown sample. */
const codeOf = (place: Page | Locator) => place.getByRole('tabpanel').locator('code');
/** A dialog, or the confirmation of an action. */
const layerOf = (page: Page) => page.locator('[role=dialog], [role=alertdialog]');

/** Shows the code of the open dialog, and waits until it has these parts. */
async function expectCode(page: Page, ...parts: readonly string[]): Promise<void> {
  await button(layerOf(page), 'Code').click();
  await expectSample(page, parts);
}

async function expectSample(page: Page, parts: readonly string[]): Promise<void> {
  for (const part of parts) await expect.poll(() => codeOf(layerOf(page)).innerText()).toContain(part);
}

async function cancel(page: Page): Promise<void> {
  await button(layerOf(page), 'Cancel').click();
  await layerOf(page).waitFor({ state: 'detached' });
}

describeInBrowser('code and runs', () => {
  const suite = useConsole({
    organizations: [
      ...['Forms', 'Start', 'Inbox', 'Records', 'Viewer', 'Clock', 'Edit', 'Similar', 'Requests'],
      ...['Empty', 'Features', 'Actions', 'Hooks', 'Bulk', 'Again'],
    ],
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
    await button(page, 'Run: Create a webhook').click();
    await page.getByRole('heading', { name: /^Receive events with a webhook\s*Done$/ }).waitFor();
    expect(await suite.organization('Start').api.list('webhooks')).toMatchObject([
      { url: 'http://127.0.0.1:9000/webhooks', status: 'enabled' },
    ]);
  });

  test('the empty overview runs its request and then shows the payment', async (context) => {
    const page = await suite.open(context, 'developer', 'Empty', '');
    await button(page, 'Run: Create a payment').click();
    await page.getByRole('link', { name: 'payment.created' }).first().waitFor();
    expect(await suite.organization('Empty').api.list('payments')).toMatchObject([{ amount: 1250 }]);
  });

  test('the examples of the sandbox features run', async (context) => {
    const { api } = suite.organization('Features');
    const page = await suite.open(context, 'developer', 'Features', 'start');
    await page.getByText('its request appears here while it is pending').waitFor();
    const { id } = await api.post('payments', payment);
    await button(page, 'Run: Advance a payment until it is settled').click();
    await expect.poll(async () => (await api.get(`payments/${id}`)).status).toBe('settled');
    await button(page, 'Run: Create a payment that is declined').click();
    await expect.poll(() => api.list('payments')).toHaveLength(2);
    await button(page, 'Run: Advance the clock by a week').click();
    await expect.poll(async () => (await api.get('clock')).offsetSeconds).toBeGreaterThan(600_000);
    const [declined] = await api.list('payments');
    expect(declined).toMatchObject({ failure: { code: 'insufficient_funds' } });
    await page.setViewportSize(phone);
    await expectNoOverflow(page, 'the quick start on a phone');
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

  test('a logged write is sent again after a confirmation, unless the log has redacted it', async (context) => {
    const { api } = suite.organization('Again');
    const { requestId } = await api.post('payments', { ...payment, reference: 'twice' });
    const { requestId: redacted } = await api.post('webhooks', {
      ...{ url: 'http://127.0.0.1:9/hook', headers: { 'x-tenant': 'acme' } },
    });
    const page = await suite.open(context, 'developer', 'Again', `requests/${requestId}`);
    const resend = button(page, 'Resend: This request');
    await step('confirm', async () => {
      await resend.click();
      await expectAccessible(page, 'the question before a request is sent again', { except: ['region'] });
      await cancel(page);
      expect(await api.list('payments')).toHaveLength(1);
      await resend.click();
      await button(layerOf(page), 'Resend').click();
      await page.getByLabel('Events', { exact: true }).getByText('payment.created').waitFor();
      const created = await api.list('payments');
      expect(created.map(({ reference }) => reference)).toEqual(['twice', 'twice']);
    });
    await step('a redacted request, and a viewer', async () => {
      for (const [who, id] of [
        ['developer', redacted],
        ['viewer', requestId],
      ] as const) {
        const other = await suite.open(context, who, 'Again', `requests/${id}`);
        await codeOf(other).getByText('curl').first().waitFor();
        expect(await other.getByRole('button', { name: /^(Resend|Run)/ }).count(), who).toBe(0);
      }
    });
  });

  test('the actions of a payment show their code, in three languages', async (context) => {
    const { api } = suite.organization('Actions');
    const { id } = await api.post('payments', { ...payment, captureMethod: 'manual' });
    await api.post(`payments/${id}/advance`, { to: 'authorized' });
    const page = await suite.open(context, 'developer', 'Actions', `payments/${id}`);
    const choose = async (name: string) => {
      await button(page, 'Actions').click();
      await page.getByRole('menuitem', { name }).click();
    };
    await step('capture', async () => {
      await choose('Capture…');
      await layerOf(page).getByLabel('Amount').fill('12.50');
      await expectCode(page, `developer_api_payments/${id}/advance`, '"action": "capture"', '"amount": 1250');
      await button(layerOf(page), 'Capture').click();
      await page.getByText('Payment captured').waitFor();
    });
    await step('refund', async () => {
      await choose('Refund…');
      await layerOf(page).getByLabel('Amount').fill('2.50');
      await expectCode(page, `developer_api_payments/${id}/refund'`, '"amount": 250');
      for (const [language, ...parts] of [
        ['TypeScript', `sandbank.payments.refund('${id}', { amount: 250 })`],
        ['Python', `developer_api_payments/${id}/refund"`, 'json.dumps({"amount": 250})'],
        ['curl', 'curl -X POST'],
      ] as const) {
        await layerOf(page).getByRole('tab', { name: language }).click();
        await expectSample(page, parts);
      }
      await cancel(page);
    });
    await step('dispute', async () => {
      await choose('Dispute…');
      await expectCode(page, `developer_api_payments/${id}/advance`, '"action": "dispute"');
    });
  });

  test('the forms of other records show their code', async (context) => {
    const forms: readonly (readonly [
      path: string,
      name: string,
      field: string | null,
      text: string,
      ...parts: string[],
    ])[] = [
      ['customers', 'Create customer', 'Name', 'Ada', 'developer_api_customers', '"name": "Ada"'],
      ['transfers', 'Create transfer', 'Amount', '5', 'developer_api_transfers', '"sourceAmount": 500'],
      [
        'webhooks',
        'Create webhook',
        'URL',
        'http://127.0.0.1:9/hook',
        'developer_api_webhooks',
        '127.0.0.1:9/hook',
      ],
      ['faults', 'Create fault plan', null, '', 'developer_api_fault_plans', '"on": "requests"'],
    ];
    const page = await suite.open(context, 'owner', 'Forms', 'organization');
    await button(page, 'Reset organization…').click();
    await expectCode(page, 'developer_api_reset');
    await layerOf(page).getByText('It requires a key that may reset the organization.').waitFor();
    for (const [path, name, field, text, ...parts] of forms) {
      await visit(page, `${suite.organization('Forms').id}/${path}`);
      await button(page, name).first().click();
      if (field !== null) await layerOf(page).getByRole('textbox', { name: field }).first().fill(text);
      await expectCode(page, ...parts);
    }
  });

  test('the pages of a webhook and of an inbox show the code of their buttons, and run it', async (context) => {
    const { api } = suite.organization('Hooks');
    const { id } = await api.post('webhooks', { url: 'http://127.0.0.1:9/hook' });
    const inbox = await api.post('webhook_inbox');
    const page = await suite.open(context, 'developer', 'Hooks', `webhooks/${inbox.id}/inbox`);
    const dialog = dialogOf(page);
    await step('the inbox', async () => {
      await button(page, 'Code').click();
      await dialog.getByLabel('Request').selectOption('Behavior: fail');
      await expectNoOverflow(page, 'the code of an inbox');
      await button(dialog, 'Run: Behavior: fail').click();
      await page.getByText('Each attempt fails with 500 and is retried.').waitFor();
      expect((await api.get(`webhooks/${inbox.id}`)).inbox).toMatchObject({ responseStatus: 500 });
    });
    await step('the webhook', async () => {
      await visit(page, `${suite.organization('Hooks').id}/webhooks/${id}`);
      // The card that examines the receiver has another one.
      await button(page, 'Code').first().click();
      await dialog.getByLabel('Request').selectOption('Disable webhook');
      await button(dialog, 'Run: Disable webhook').click();
      await dialog.getByText('200', { exact: true }).waitFor();
      expect(await api.get(`webhooks/${id}`)).toMatchObject({ status: 'disabled' });
      await button(dialog, 'Close').click();
    });
    const choose = async (name: string) => {
      await button(page, 'More actions').click();
      await page.getByRole('menuitem', { name }).click();
    };
    await step('rotate and delete', async () => {
      await choose('Rotate secret…');
      await expectCode(page, `${id}/rotate_secret`, '"overlapSeconds": 86400');
      await cancel(page);
      await choose('Delete…');
      await expectCode(page, `developer_api_webhooks/${id}/delete`);
      await button(layerOf(page), 'Delete webhook').click();
      await page.getByText('Webhook deleted').waitFor();
      expect(await api.get(`webhooks/${id}`)).toMatchObject({ status: 'deleted' });
    });
  });

  test('an action on several rows shows the code of one', async (context) => {
    const { api } = suite.organization('Bulk');
    for (const reference of ['order-1', 'order-2']) {
      const { id } = await api.post('payments', { ...payment, reference, captureMethod: 'manual' });
      await api.post(`payments/${id}/advance`, { to: 'authorized' });
    }
    const page = await suite.open(context, 'developer', 'Bulk', 'payments');
    await page.getByRole('checkbox', { name: 'Select all rows of this page' }).click();
    await button(page.getByRole('region', { name: 'Selection' }), 'Capture').click();
    const [first] = await api.list('payments');
    await expectCode(page, `developer_api_payments/${first?.id}/advance`, '"action": "capture"');
    await dialogOf(page).getByText('The request for the first of 2 payments.').waitFor();
    await expectAccessible(page, 'the code of an action on several rows', { except: ['region'] });
    await button(dialogOf(page), 'Capture 2 payments').click();
    await dialogOf(page).getByText('2 captured').waitFor();
    expect((await api.list('payments')).map(({ status }) => status)).toEqual(['captured', 'captured']);
  });
});
