/** Every form names a refused field by its label, and not by its path in the API. */
import type { Locator, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { describeInBrowser } from '../support/browser.ts';
import { openForm, useConsole } from './console.ts';

interface FormRow {
  /** A path of the organization Acme; `:payment` is the id of a payment. */
  readonly path: string;
  /** The buttons and menu items that lead to the form. Without any, the form is part of the page. */
  readonly open?: readonly string[];
  readonly fill: (form: Locator) => Promise<unknown>;
  readonly submit: string;
  /** The fields of its request, each with the beginning of the message about it. */
  readonly fields: Readonly<Record<string, string>>;
}

const text = (form: Locator, label: string | RegExp, value: string) =>
  form.getByLabel(label, { exact: true }).fill(value);
const select = (form: Locator, label: string, value: string) =>
  form.getByLabel(label, { exact: true }).selectOption(value);

async function addLine(form: Locator, name: string): Promise<void> {
  await form.getByRole('button', { name: 'Add line' }).click();
  await text(form, /name 1$/, name);
  await text(form, /value 1$/, 'red');
}

const forms: readonly FormRow[] = [
  {
    path: 'keys',
    open: ['Create key'],
    submit: 'Create key',
    fill: async (form) => {
      await text(form, 'Name', 'Checkout');
      await select(form, 'Expires', '30');
      await text(form, /^Allowed networks/, '10.0.0.0/8');
    },
    fields: {
      '/name': 'Name',
      '/scopes/0': 'Access',
      '/expiresAt': 'Expires',
      '/allowedCidrs/0': 'Allowed networks',
    },
  },
  {
    path: 'webhooks',
    open: ['Create webhook'],
    submit: 'Create webhook',
    fill: async (form) => {
      await text(form, 'URL', 'http://127.0.0.1:9/');
      await text(form, /^Description/, 'Orders');
      await text(form, /^Custom secret/, 'whsec_1');
      await form.getByRole('button', { name: 'Add header' }).click();
      await text(form, 'Header 1', 'X-Team');
      await text(form, 'Value 1', 'red');
    },
    fields: {
      '/url': 'URL',
      '/description': 'Description',
      '/eventTypes/0': 'Events',
      '/retryProfile': 'Retry schedule',
      '/maxConcurrency': 'Concurrent requests',
      '/headers/X-Team': 'Header 1',
      '/headers': 'Custom headers',
      '/secret': 'Custom secret',
    },
  },
  {
    path: 'transfers',
    open: ['Create transfer'],
    submit: 'Get quote',
    fill: async (form) => {
      await text(form, /^Amount in EUR/, '12.50');
      await text(form, 'Name', 'Ada');
      await text(form, 'Country', 'DE');
      await text(form, 'Account', 'DE89');
      await text(form, /^Customer/, 'cus_1');
      await text(form, /^Reference/, 'order-1');
      await addLine(form, 'color');
    },
    fields: {
      '/sourceCurrency': 'Source currency',
      '/targetCurrency': 'Target currency',
      '/sourceAmount': 'Amount in EUR',
      '/fundFrom': 'Funding',
      '/scenario': 'Scenario',
      '/beneficiary': 'Beneficiary',
      '/beneficiary/name': 'Name',
      '/beneficiary/country': 'Country',
      '/beneficiary/account': 'Account',
      '/customerId': 'Customer',
      '/reference': 'Reference',
      '/metadata/color': 'Metadata “color”',
    },
  },
  {
    path: 'payments',
    open: ['Create payment'],
    submit: 'Create payment',
    fill: async (form) => {
      await text(form, /^Amount in EUR/, '12.50');
      await text(form, /^Customer/, 'cus_1');
      await text(form, /^Reference/, 'order-1');
      await text(form, /^Description/, 'Coffee');
      await addLine(form, 'color');
    },
    fields: {
      '/amount': 'Amount in EUR',
      '/currency': 'Currency',
      '/paymentMethod/type': 'Payment method',
      '/captureMethod': 'Capture',
      '/scenario': 'Scenario',
      '/customerId': 'Customer',
      '/reference': 'Reference',
      '/description': 'Description',
      '/metadata/color': 'Metadata “color”',
    },
  },
  {
    path: 'payments/:payment',
    open: ['Actions', 'Refund…'],
    submit: 'Refund',
    fill: async (form) => {
      await text(form, /^Amount in EUR/, '1');
      await text(form, /^Reason/, 'Late');
      await addLine(form, 'color');
    },
    fields: { '/amount': 'Amount in EUR', '/reason': 'Reason', '/metadata/color': 'Metadata “color”' },
  },
  {
    path: 'payments/:payment',
    open: ['Actions', 'Go to state…'],
    submit: 'Go',
    fill: (form) => select(form, 'State', 'settled'),
    fields: { '/to': 'State' },
  },
  {
    path: 'customers',
    open: ['Create customer'],
    submit: 'Create customer',
    fill: async (form) => {
      await text(form, 'Name', 'Ada');
      await text(form, 'Email', 'ada@acme.test');
      await text(form, /^Phone/, '1');
      await text(form, /^Reference/, 'ada');
      await addLine(form, 'color');
    },
    fields: {
      '/name': 'Name',
      '/email': 'Email',
      '/phone': 'Phone',
      '/reference': 'Reference',
      '/metadata/color': 'Metadata “color”',
    },
  },
  {
    path: 'faults',
    open: ['Create fault plan'],
    submit: 'Create fault plan',
    fill: async (form) => {
      await select(form, 'Fault type', 'latency');
      await text(form, 'Share', '50');
      await text(form, 'Seed', '1');
      await text(form, /^Only these operations/, 'createPayment');
    },
    fields: {
      '/on': 'Applies to',
      '/fault/type': 'Fault type',
      '/fault/delayMs': 'Milliseconds',
      '/count': 'Count',
      '/share': 'Share',
      '/seed': 'Seed',
      '/operations/0': 'Only these operations',
    },
  },
  {
    path: 'applications/:application',
    submit: 'Save changes',
    fill: async (form) => {
      await text(form, 'Application name', 'Shop');
      await text(form, 'Percentage fee (%)', '2');
      await form.getByRole('radio', { name: 'Meridian' }).check();
      await text(form, 'Margin in percent', '1');
      await form.getByRole('button', { name: 'Add rate' }).click();
      await text(form, /^Source currency/, 'EUR');
      await text(form, /^Target currency/, 'USD');
      await text(form, /^Rate of/, '1.1');
      await text(form, 'Concurrent deliveries', '2');
    },
    fields: {
      '/name': 'Application name',
      '/fee/basisPoints': 'Percentage fee (%)',
      '/fee/fixedAmount': 'Fixed fee (minor units)',
      '/provider': 'Provider',
      '/fx/marginBasisPoints': 'Margin in percent',
      '/fx/rates/EUR~1USD': 'Custom rates “EUR/USD”',
      '/webhookDefaults/eventTypes/0': 'Events',
      '/webhookDefaults/retryProfile': 'Retries',
      '/webhookDefaults/maxConcurrency': 'Concurrent deliveries',
    },
  },
  {
    path: 'members',
    open: ['Invite'],
    submit: 'Create and copy link',
    fill: (form) => text(form, /^Email/, 'ada@acme.test'),
    fields: { '/role': 'Role', '/email': 'Email' },
  },
];

/** The JSON pointers of what a body contains, each list once. Switches are left out: nobody can send a wrong value with them. */
function pointersOf(body: object): readonly string[] {
  return Object.entries(body).flatMap(([name, value]: [string, unknown]) => {
    const at = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (typeof value === 'boolean') return [];
    if (Array.isArray(value)) return [`${at}/0`];
    if (typeof value !== 'object' || value === null) return [at];
    return pointersOf(value).map((rest) => at + rest);
  });
}

/** Answers writes with a refusal of one field. Returns the body of the last one. */
async function refuseWrites(page: Page) {
  const state = { param: '', body: {} };
  await page.route('**/console/api/**', async (route) => {
    const request = route.request();
    if (request.method() !== 'POST') return route.fallback();
    state.body = request.postDataJSON() as object;
    const { param } = state;
    const error = { code: 'invalid_request', message: `${param} must be changed (${param.length}).`, param };
    await route.fulfill({ status: 400, json: { requestId: 'req_1', error } });
  });
  return state;
}

describeInBrowser('refused fields', () => {
  const suite = useConsole({ organizations: ['Acme'] });
  const ids = new Map<string, string>();

  beforeAll(async () => {
    const { applicationId, api } = suite.organization('Acme');
    const payment = await api.post('payments', { amount: 1250, currency: 'EUR' });
    await api.post(`payments/${payment.id}/advance`, { to: 'captured' });
    ids.set('application', applicationId).set('payment', payment.id);
  });

  for (const { path, open = [], fill, submit, fields } of forms)
    test(`${submit} on ${path} names each refused field by its label`, async (context) => {
      const address = path.replace(/:(\w+)/, (_, name: string) => ids.get(name) ?? name);
      const page = await suite.open(context, 'owner', 'Acme', address);
      const form = await openForm(page, open);
      await fill(form);
      const refusal = await refuseWrites(page);
      for (const [param, label] of Object.entries(fields)) {
        refusal.param = param;
        await form.getByRole('button', { name: submit, exact: true }).click();
        const message = `${label} must be changed (${param.length}).`;
        await expect.poll(() => form.getByText('must be changed').allInnerTexts()).toEqual([message]);
      }
      const sent = pointersOf(refusal.body);
      expect(
        sent.filter((param) => !(param in fields)),
        'fields that the test forgets',
      ).toEqual([]);
    });
});
