/** Rows that are selected and changed together, the sticky header, and the export of lists. */
import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeInBrowser, expectAccessible, expectNoOverflow, phone, step } from '../support/browser.ts';
import { openReceiver } from '../support/receiver.ts';
import type { Body } from './api.ts';
import { goTo, useConsole, visit } from './console.ts';

const money = { amount: 1_250, currency: 'EUR', captureMethod: 'manual' };
const bar = (page: Page) => page.getByRole('region', { name: 'Selection' });
const boxOf = (page: Page, name: string | RegExp) => page.getByRole('checkbox', { name });

describeInBrowser('a selection', () => {
  const organizations = [
    'Payments',
    'Keyboard',
    'Live',
    'Failures',
    'Hooks',
    'Settings',
    'Phone',
    'Exports',
    'Allowed',
  ];
  const suite = useConsole({ organizations });

  /** Payments with the references order-1, order-2, ..., the newest last. */
  async function createPayments(
    name: string,
    states: readonly (string | null)[],
  ): Promise<readonly string[]> {
    const { api } = suite.organization(name);
    const ids: string[] = [];
    for (const [index, to] of states.entries()) {
      const { id } = await api.post('payments', { ...money, reference: `order-${index + 1}` });
      if (to !== null) await api.post(`payments/${id}/advance`, { to });
      ids.push(id);
    }
    return ids;
  }

  async function statuses(name: string, ids: readonly string[]): Promise<readonly unknown[]> {
    const { api } = suite.organization(name);
    return Promise.all(ids.map(async (id) => (await api.get(`payments/${id}`)).status));
  }

  test('of payments is captured, as far as that is allowed, and nothing moves when the bar appears', async (context) => {
    const ids = await createPayments('Payments', ['authorized', 'canceled', 'authorized', 'authorized']);
    const page = await suite.open(context, 'developer', 'Payments', 'payments');
    const table = page.getByRole('table', { name: 'Payments' });
    await step('select with a click, a range with Shift', async () => {
      const before = await table.boundingBox();
      await boxOf(page, /order-3$/).click();
      await bar(page).getByText('1 selected').waitFor();
      expect(await table.boundingBox()).toEqual(before);
      await boxOf(page, /order-1$/).click({ modifiers: ['Shift'] });
      await bar(page).getByText('3 selected').waitFor();
      await expectAccessible(page, 'a list with a selection');
    });
    await step('capture the two that can be', async () => {
      await bar(page).getByRole('button', { name: 'Capture 2' }).click();
      const dialog = page.getByRole('dialog', { name: 'Capture 2 payments?' });
      await dialog.getByText('2 of 3 can be captured; the others are skipped.').waitFor();
      await expectAccessible(page, 'the question before an action on many');
      await dialog.getByRole('button', { name: 'Capture 2' }).click();
      const result = page.getByRole('dialog', { name: 'Capture: 2 payments' });
      await result.getByText('2 captured').waitFor();
      expect(await statuses('Payments', ids)).toEqual(['captured', 'canceled', 'captured', 'authorized']);
      await result.getByRole('button', { name: 'Done' }).click();
      await bar(page).waitFor({ state: 'detached' });
    });
    await step('the whole page is selected, and a filter clears the selection', async () => {
      await boxOf(page, 'Select all rows of this page').click();
      await bar(page).getByText('4 selected').waitFor();
      await page.getByRole('button', { name: /^Captured/ }).click();
      await bar(page).waitFor({ state: 'detached' });
      await page.getByRole('button', { name: /^All/ }).click();
      await page.getByRole('row', { name: /order-4/ }).waitFor();
      expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(0);
    });
    await step('refund, cancel and advance', async () => {
      await boxOf(page, 'Select all rows of this page').click();
      for (const [label, done] of [
        ['Refund', '2 refunded'],
        ['Cancel', '1 canceled'],
      ] as const) {
        await bar(page)
          .getByRole('button', { name: new RegExp(`^${label}`) })
          .click();
        await page
          .getByRole('dialog')
          .getByRole('button', { name: new RegExp(`^${label} \\d`) })
          .click();
        await page.getByRole('dialog').getByText(done).waitFor();
        await page.getByRole('button', { name: 'Done' }).click();
        await boxOf(page, 'Select all rows of this page').click();
      }
      expect(await statuses('Payments', ids)).toEqual(['refunded', 'canceled', 'refunded', 'canceled']);
      await bar(page).locator('button[aria-disabled]', { hasText: 'Advance' }).waitFor();
    });
  });

  test('of payments offers only what the server would accept', async (context) => {
    const { api } = suite.organization('Allowed');
    const pay = (reference: string, scenario: string) =>
      api.post('payments', { ...money, reference, scenario });
    await step('a payment whose dispute was won, and one whose refund is pending', async () => {
      const disputed = await pay('disputed', 'dispute');
      await api.post(`payments/${disputed.id}/advance`, { to: 'disputed' });
      const { disputeId } = await api.get(`payments/${disputed.id}`);
      await api.post(`disputes/${disputeId}/advance`, { to: 'won' });
      const refunded = await pay('refunded', 'refund_pending');
      await api.post(`payments/${refunded.id}/advance`, { to: 'settled' });
      await api.post(`payments/${refunded.id}/refund`, {});
      for (const { id } of [disputed, refunded])
        for (const action of (await api.get(`payments/${id}`)).allowedActions as readonly string[])
          expect(['refund', 'dispute', 'settle']).toContain(action);
    });
    const page = await suite.open(context, 'developer', 'Allowed', 'payments');
    const inert = (label: string) => bar(page).locator('button[aria-disabled]', { hasText: label });
    const nextActions = page.waitForResponse(/\/next_actions\?/);
    await page.reload();
    await nextActions;
    await boxOf(page, /refunded$/).click();
    for (const label of ['Advance', 'Capture', 'Refund', 'Cancel']) await inert(label).waitFor();
    await boxOf(page, /disputed$/).click();
    await bar(page).getByText('2 selected').waitFor();
    await bar(page).getByRole('button', { name: 'Refund 1', exact: true }).waitFor();
    await bar(page).getByRole('button', { name: 'Refund 1', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Refund 1 payment' }).click();
    await page.getByRole('dialog').getByText('1 refunded').waitFor();
  });

  test('and its actions work with the keyboard', async (context) => {
    const ids = await createPayments('Keyboard', [null, null, null]);
    const page = await suite.open(context, 'developer', 'Keyboard', 'payments');
    const rowLink = (reference: string) =>
      page
        .getByRole('row', { name: new RegExp(reference) })
        .getByRole('link')
        .first();
    await rowLink('order-3').focus();
    await page.keyboard.press('x');
    await rowLink('order-1').focus();
    await page.keyboard.press('Shift+X');
    await bar(page).getByText('3 selected').waitFor();
    await rowLink('order-2').focus();
    await page.keyboard.press(' ');
    await bar(page).getByText('2 selected').waitFor();
    await page.keyboard.press('b');
    const advance = bar(page).getByRole('button', { name: 'Advance' });
    expect(await isFocused(advance)).toBe(true);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Advance 2 payments?' }).waitFor();
    await page.getByRole('button', { name: 'Advance 2' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('2 advanced').waitFor();
    expect(await statuses('Keyboard', ids)).toEqual(['authorized', 'pending', 'authorized']);
    await page.getByRole('button', { name: 'Done' }).press('Enter');
    await rowLink('order-1').focus();
    await page.keyboard.press('x');
    await bar(page).getByText('1 selected').waitFor();
    await page.keyboard.press('Escape');
    await bar(page).waitFor({ state: 'detached' });
  });

  test('stays while rows arrive, is exported, and is offered to no viewer', async (context) => {
    await createPayments('Live', [null, null]);
    const { api } = suite.organization('Live');
    const page = await suite.open(context, 'developer', 'Live', 'payments');
    await page.getByRole('button', { name: /^Live\./ }).waitFor();
    await boxOf(page, /order-1$/).click();
    await api.post('payments', { ...money, reference: 'newest' });
    await page.getByRole('row', { name: /newest/ }).waitFor();
    expect(await boxOf(page, /order-1$/).isChecked()).toBe(true);
    const lines = await downloaded(page, bar(page).getByRole('button', { name: 'Export' }), 'payments.csv');
    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain('order-1');
    const viewer = await suite.open(context, 'viewer', 'Live', 'payments');
    await viewer.getByRole('row', { name: /newest/ }).waitFor();
    expect(await viewer.getByRole('checkbox').count()).toBe(0);
  });

  test('shows what failed with the reason, and retries it', async (context) => {
    const ids = await createPayments('Failures', ['authorized', 'authorized']);
    const page = await suite.open(context, 'developer', 'Failures', 'payments', {
      ignoreComplaints: /ERR_FAILED/,
    });
    await page.getByRole('button', { name: /^Live\./ }).click();
    await page.getByRole('button', { name: /^Paused\./ }).waitFor();
    await boxOf(page, 'Select all rows of this page').click();
    // The page is paused: it still believes that both can be captured.
    await suite.organization('Failures').api.post(`payments/${ids[0]}/advance`, { action: 'cancel' });
    // The first request for the other payment gets no response, so its outcome is unknown.
    const keys: string[] = [];
    await page.route(`**/${ids[1]}/advance`, async (route) => {
      keys.push(String(await route.request().headerValue('idempotency-key')));
      if (keys.length > 1) return route.continue();
      await route.fetch();
      return route.abort();
    });
    await bar(page).getByRole('button', { name: 'Capture' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Capture 2' }).click();
    const dialog = page.getByRole('dialog', { name: 'Capture: 2 payments' });
    await dialog.getByText('0 captured, 2 failed').waitFor();
    await dialog.getByText(/Cannot capture a canceled payment/).waitFor();
    await dialog.getByText('The server did not respond.').waitFor();
    await expectAccessible(page, 'the results of an action on many');
    await dialog.getByRole('button', { name: 'Retry 2 failed' }).click();
    await dialog.getByText('1 captured, 1 failed').waitFor();
    expect(new Set(keys).size, 'one idempotency key for both attempts').toBe(1);
    expect(await statuses('Failures', ids)).toEqual(['canceled', 'captured']);
    const history = await suite.organization('Failures').api.list(`webhook_events?resourceId=${ids[1]}`);
    expect(history.filter(({ type }) => type === 'payment.captured')).toHaveLength(1);
  });

  test('of events and deliveries is replayed, and of webhooks disabled and enabled', async (context) => {
    const receiver = await openReceiver();
    context.onTestFinished(() => receiver.close());
    const { api } = suite.organization('Hooks');
    const webhooks: Body[] = [];
    for (const path of ['a', 'b'])
      webhooks.push(await api.post('webhooks', { url: `${receiver.url}/${path}` }));
    for (const name of ['Ada', 'Grace']) await api.post('customers', { name });
    await receiver.waitFor(4);
    const page = await suite.open(context, 'developer', 'Hooks', 'events');
    await step('two events to both endpoints', async () => {
      await boxOf(page, 'Select all rows of this page').click();
      await run(page, 'Replay', '2 replayed');
      await receiver.waitFor(8);
    });
    await step('the deliveries of one endpoint to it only', async () => {
      await page.goto(page.url().replace('/events', `/webhooks/${webhooks[0]?.id}`));
      await boxOf(page, 'Select all rows of this page').click();
      await bar(page).getByText('4 selected').waitFor();
      await run(page, 'Replay', '4 replayed');
      await receiver.waitFor(12);
      const paths = receiver.received.slice(8).map(({ path }) => path);
      expect(new Set(paths)).toEqual(new Set(['/hook/a']));
    });
    await step('disable both, enable one', async () => {
      await goTo(page, 'Webhooks');
      await boxOf(page, 'Select all rows of this page').click();
      await run(page, 'Disable', '2 disabled');
      for (const { id } of webhooks) expect((await api.get(`webhooks/${id}`)).status).toBe('disabled');
      await boxOf(page, /\/b$/).click();
      await run(page, 'Enable', '1 enabled');
      expect((await api.get(`webhooks/${webhooks[1]?.id}`)).status).toBe('enabled');
    });
  });

  test('of keys is revoked, and of fault plans ended', async (context) => {
    const { id, applicationId, api } = suite.organization('Settings');
    const owner = suite.session('owner');
    for (const name of ['first', 'second'])
      await owner.post(`${id}/${applicationId}/api_keys`, { name, scopes: ['payments:read'] });
    const page = await suite.open(context, 'developer', 'Settings', 'keys');
    await boxOf(page, 'Select first').click();
    await boxOf(page, 'Select second').click();
    await run(page, 'Revoke', '2 revoked');
    const listed = (await owner.get(`${id}/${applicationId}/api_keys`)).data as readonly {
      name: string;
      status: string;
    }[];
    expect(
      listed
        .filter(({ status }) => status === 'revoked')
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['first', 'second']);
    const fault = { type: 'error', code: 'service_unavailable' };
    const plan = await api.post('fault_plans', {
      on: 'requests',
      fault,
      count: 5,
      operations: ['createTransfer'],
    });
    await page.goto(page.url().replace('/keys', '/faults'));
    await boxOf(page, 'Select all rows of this page').click();
    await run(page, 'End', '1 ended');
    expect((await api.get(`fault_plans/${plan.id}`)).status).toBe('canceled');
  });

  test('on a phone has its actions in a menu', async (context) => {
    const ids = await createPayments('Phone', [null]);
    const page = await suite.open(context, 'developer', 'Phone', 'payments', {
      viewport: phone,
      theme: 'dark',
    });
    await boxOf(page, /order-1$/).click();
    await expectNoOverflow(page, 'a list with a selection on a phone');
    await expectAccessible(page, 'a list with a selection on a phone');
    await bar(page).getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('menuitem', { name: 'Cancel' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel 1' }).click();
    await page.getByRole('dialog').getByText('1 canceled').waitFor();
    expect(await statuses('Phone', ids)).toEqual(['canceled']);
  });

  test('the header of a long list stays visible, in both themes', async (context) => {
    await createPayments(
      'Exports',
      Array.from({ length: 25 }, () => null),
    );
    for (const theme of ['light', 'dark'] as const) {
      const page = await suite.open(context, 'developer', 'Exports', 'payments', {
        viewport: { width: 1280, height: 500 },
        theme,
      });
      const header = page.getByRole('columnheader', { name: 'Status' });
      await page.getByRole('row', { name: /order-1\b/ }).scrollIntoViewIfNeeded();
      await page.waitForFunction('window.scrollY > 300');
      expect((await header.boundingBox())?.y).toBe(56);
      // Rows do not shine through.
      const color = await page.evaluate("getComputedStyle(document.querySelector('th')).backgroundColor");
      expect(String(color)).toMatch(/^rgb\(/);
    }
  });

  test('every list is exported, without secrets', async (context) => {
    const { id: orgId, api } = suite.organization('Exports');
    const webhook = await api.post('webhooks', { url: 'http://127.0.0.1:9/hook' });
    const inbox = await api.post('webhook_inbox');
    const { id: customerId } = await api.post('customers', { name: 'Ada' });
    const { id } = await api.post('payments', { amount: 9_900, currency: 'EUR', customerId });
    await api.post(`payments/${id}/advance`, { to: 'captured' });
    const refund = await api.post(`payments/${id}/refund`, { amount: 100 });
    await api.post(`payments/${id}/advance`, { action: 'dispute', reason: 'Never arrived' });
    const [dispute] = await api.list(`disputes?paymentId=${id}`);
    const settled = await api.post('payments', { amount: 100, currency: 'EUR' });
    await api.post(`payments/${settled.id}/advance`, { to: 'settled' });
    const quote = { sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 250_000 };
    const transfer = await api.post('transfers', { ...quote, beneficiary: { name: 'Ada' } });
    const [event] = await api.list('webhook_events?type=customer.created');
    const fault = { type: 'error', code: 'service_unavailable' };
    await api.post('fault_plans', { on: 'requests', fault, count: 1, operations: ['rotateWebhookSecret'] });
    await api.status('payments', { amount: 0, currency: 'EUR' });
    await api.post('clock/advance', { seconds: 3 * 86_400 });
    const invitation = await suite
      .session('owner')
      .post(`${orgId}/invitations`, { role: 'viewer', email: 'new@acme.test' });
    const token = String(invitation.url).split('/').at(-1) ?? '';
    const secrets = [String(webhook.secret), String(inbox.secret), api.key, token];
    expect(secrets.every((secret) => secret.length > 20)).toBe(true);

    /** The address, the file, some of its columns, a text that only its rows have, and the button. */
    const exported: readonly (readonly [
      path: string,
      file: string,
      columns: readonly string[],
      row: string,
      button?: string,
    ])[] = [
      ['payments', 'payments.csv', ['id', 'amount', 'status'], id],
      ['refunds', 'refunds.csv', ['id', 'paymentId', 'amount'], refund.id],
      ['disputes', 'disputes.csv', ['id', 'paymentId', 'reason'], String(dispute?.id)],
      ['customers', 'customers.csv', ['id', 'name'], customerId],
      ['transfers', 'transfers.csv', ['id', 'sourceAmount', 'beneficiary.name'], transfer.id],
      ['events', 'events.csv', ['id', 'type', 'resourceId'], String(event?.id)],
      ['requests', 'requests.csv', ['id', 'path', 'httpStatus'], 'developer_api_transfers'],
      ['requests?tab=errors', 'request-errors.csv', ['code', 'httpStatus', 'count'], '400'],
      ['audit', 'audit.csv', ['at', 'action', 'resourceId'], transfer.id],
      ['ledger', 'balances.csv', ['account', 'currency', 'balance'], 'EUR'],
      ['ledger', 'trial-balance.csv', ['currency', 'amount'], 'EUR', 'Export trial balance'],
      ['ledger?tab=entries', 'ledger-entries.csv', ['entryId', 'account', 'amount'], id],
      ['reconciliation?tab=lines', 'reconciliation.csv', ['date', 'result', 'difference'], settled.id],
      ['reconciliation?tab=reports', 'settlement-reports.csv', ['date', 'currency', 'net'], 'EUR'],
      ['webhooks', 'webhooks.csv', ['id', 'url', 'status'], webhook.id],
      [`webhooks/${webhook.id}`, 'deliveries.csv', ['id', 'eventId', 'status'], webhook.id],
      [`webhooks/${inbox.id}/inbox`, 'deliveries.csv', ['id', 'eventId', 'status'], inbox.id],
      [`events/${event?.id}`, 'deliveries.csv', ['id', 'eventId', 'status'], inbox.id],
      [`customers/${customerId}`, 'payments.csv', ['id', 'customerId'], id],
      ['faults', 'fault-plans.csv', ['id', 'status', 'fault.type'], 'service_unavailable'],
      ['keys', 'api-keys.csv', ['id', 'name', 'scopes'], 'ci'],
      ['members', 'members.csv', ['name', 'email', 'role'], 'vera@acme.test'],
      ['applications', 'applications.csv', ['id', 'name', 'status'], 'Web shop'],
      ['coverage', 'coverage.csv', ['kind', 'name', 'count'], 'payment'],
    ];
    const page = await suite.open(context, 'viewer', 'Exports', 'payments');
    const check = async (
      tab: Page,
      [path, file, columns, row, button = 'Export CSV']: (typeof exported)[0],
    ) =>
      step(`${path}: ${file}`, async () => {
        await visit(tab, `${orgId}/${path}`);
        const lines = await downloaded(tab, tab.getByRole('button', { name: button, exact: true }), file);
        expect(lines[0]?.split(',')).toEqual(expect.arrayContaining([...columns]));
        expect(lines.slice(1).join('\n')).toContain(row);
        for (const secret of secrets) expect(lines.join('\n')).not.toContain(secret);
      });
    for (const one of exported) await check(page, one);
    const owners = await suite.open(context, 'owner', 'Exports', 'payments');
    const columns = ['email', 'role', 'expiresAt'];
    await check(owners, ['members', 'invitations.csv', columns, 'new@acme.test', 'Export invitations']);
  });

  /** Runs an action of the bar on all that allow it, and closes the results. */
  async function run(page: Page, label: string, done: string): Promise<void> {
    await bar(page).getByRole('button', { name: label }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: new RegExp(`^${label} \\d`) }).click();
    await dialog.getByText(done).waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await bar(page).waitFor({ state: 'detached' });
  }
});

const isFocused = (target: Locator) => target.evaluate((one) => one === one.ownerDocument.activeElement);

async function downloaded(page: Page, button: Locator, file: string): Promise<readonly string[]> {
  const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
  expect(download.suggestedFilename()).toBe(file);
  return (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n');
}
