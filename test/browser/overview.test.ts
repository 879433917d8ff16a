/** The overview: ranges and times, what needs attention, live events, and an organization without records. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import {
  clipboardOf,
  describeInBrowser,
  expectAccessible,
  step,
  untilLoaded,
  waitMs,
} from '../support/browser.ts';
import { useConsole } from './console.ts';

const payment = { amount: 1_250, currency: 'EUR' };
const organizations = ['Ranges', 'Attention', 'Live', 'Empty', 'Quiet', 'Audit'];

describeInBrowser('overview', () => {
  const suite = useConsole({ organizations });
  const range = (page: Page, name: string) =>
    page.getByRole('navigation', { name: 'Range' }).getByRole('link', { name });
  const time = (page: Page, name: string) =>
    page.getByRole('navigation', { name: 'Time base' }).getByRole('link', { name });
  const isCurrent = (link: ReturnType<typeof range>) =>
    vi.waitFor(async () => expect(await link.getAttribute('aria-current')).toBe('page'), waitMs);
  const tile = (page: Page, label: string) =>
    page.locator('dl > div').filter({ has: page.locator('dt', { hasText: new RegExp(`^${label}$`) }) });
  const attention = (page: Page) => page.getByRole('list', { name: 'Needs attention' });

  test('range and time are chosen by the data, can be switched, and are part of the address', async (context) => {
    const { api } = suite.organization('Ranges');
    await api.post('payments', payment);
    const page = await suite.open(context, 'developer', 'Ranges', '');
    await step('payments of the last minutes are shown by the hour, in real time', async () => {
      await isCurrent(range(page, 'Last hour'));
      await isCurrent(time(page, 'Real time'));
      await tile(page, 'Payments').getByText('1', { exact: true }).waitFor();
    });
    await step('a move of the clock switches to sandbox time', async () => {
      await api.post('clock/advance', { seconds: 3 * 86_400 });
      await api.post('payments', payment);
      await isCurrent(time(page, 'Sandbox time'));
    });
    await step(
      'the last hour of sandbox time has only the second payment, and 7 days have both',
      async () => {
        await range(page, 'Last hour').click();
        await page.waitForURL(/range=1h/);
        await tile(page, 'Payments').getByText('1', { exact: true }).waitFor();
        await range(page, 'Last 7 days').click();
        await page.waitForURL(/range=7d/);
        await tile(page, 'Payments').getByText('2', { exact: true }).waitFor();
      },
    );
    await step('real time has both in the last hour', async () => {
      await time(page, 'Real time').click();
      await page.waitForURL(/time=real/);
      await range(page, 'Last hour').click();
      await isCurrent(range(page, 'Last hour'));
      await tile(page, 'Payments').getByText('2', { exact: true }).waitFor();
      await page.getByText('Last hour, real time.').waitFor();
    });
    await step('Back returns to the previous view, and a reload keeps it', async () => {
      await page.goBack();
      await isCurrent(range(page, 'Last 7 days'));
      await page.goBack();
      await isCurrent(time(page, 'Sandbox time'));
      await page.reload();
      await untilLoaded(page);
      await isCurrent(range(page, 'Last 7 days'));
      await isCurrent(time(page, 'Sandbox time'));
    });
    await step('after a reset of the clock, payments ahead of it are linked', async () => {
      await api.post('clock/reset');
      await isCurrent(time(page, 'Real time'));
      await time(page, 'Sandbox time').click();
      await page.getByRole('link', { name: 'is shown in real time' }).click();
      await isCurrent(time(page, 'Real time'));
      await tile(page, 'Payments').getByText('2', { exact: true }).waitFor();
    });
  });

  test('what needs attention is listed with its action, and disappears when it is resolved', async (context) => {
    const { api } = suite.organization('Attention');
    const receiver = createServer((_request, response) => response.writeHead(410).end()).listen(
      0,
      '127.0.0.1',
    );
    context.onTestFinished(() => void receiver.close());
    await once(receiver, 'listening');
    const { port } = receiver.address() as AddressInfo;
    const page = await suite.open(context, 'developer', 'Attention', '');
    await page.getByRole('heading', { level: 2, name: 'Create your first payment' }).waitFor();
    const { id } = await api.post('payments', payment);
    await page.getByText('Nothing needs attention.').waitFor();
    await step('a dispute with its deadline, and the way to respond', async () => {
      await api.post(`payments/${id}/advance`, { to: 'disputed' });
      await attention(page)
        .getByText(/^Dispute due in/)
        .waitFor();
      await attention(page).getByText('12.50 EUR').waitFor();
      await attention(page).getByRole('link', { name: 'Respond' }).click();
      await page.waitForURL(/\/disputes\/dsp_/);
      await page.goBack();
      await untilLoaded(page);
    });
    const [dispute] = await api.list('disputes');
    await step('an endpoint that responded with 410, which a click enables again', async () => {
      const { id: webhook } = await api.post('webhooks', { url: `http://127.0.0.1:${port}/gone` });
      await api.post(`disputes/${dispute?.id}/advance`, { action: 'accept' });
      await attention(page).getByText('Endpoint disabled: it responded with 410').waitFor();
      expect(
        await attention(page)
          .getByText(/^Dispute due/)
          .count(),
      ).toBe(0);
      await expectAccessible(page, 'an overview with a disabled endpoint');
      await attention(page).getByRole('button', { name: 'Enable' }).click();
      await attention(page)
        .getByText('Endpoint disabled: it responded with 410')
        .waitFor({ state: 'detached' });
      expect(await api.get(`webhooks/${webhook}`)).toMatchObject({ status: 'enabled' });
    });
    await step('active faults', async () => {
      const fault = { type: 'error', code: 'service_unavailable' };
      await api.post('fault_plans', { on: 'requests', fault, count: 5, operations: ['listFxRates'] });
      await attention(page).getByRole('link', { name: '1 fault active' }).waitFor();
    });
    await step('a frozen clock, which a click resets', async () => {
      await api.post('clock/freeze');
      await attention(page).getByText('The clock is frozen').waitFor();
      await attention(page).getByRole('button', { name: 'Reset the clock' }).click();
      await attention(page).getByText('The clock is frozen').waitFor({ state: 'detached' });
      expect(await api.get('clock')).toMatchObject({ status: 'running' });
    });
    const viewer = await suite.open(context, 'viewer', 'Attention', '');
    await attention(viewer).getByRole('link', { name: '1 fault active' }).waitFor();
    expect(await attention(viewer).getByRole('button').count()).toBe(0);
  });

  test('the last ten events follow the API, and a click opens one', async (context) => {
    const { api } = suite.organization('Live');
    for (let n = 0; n < 11; n += 1) await api.post('payments', payment);
    const page = await suite.open(context, 'viewer', 'Live', '');
    const rows = page.getByRole('table', { name: 'Recent events' }).getByRole('row');
    expect(await rows.count()).toBe(11);
    await page.getByRole('button', { name: /^Live\./ }).waitFor();
    const { id } = await api.post('customers', { name: 'Ada' });
    const created = rows.nth(1).filter({ hasText: 'customer.created' });
    await created.waitFor();
    expect(await rows.count()).toBe(11);
    const [event] = await api.list(`webhook_events?resourceId=${id}`);
    await created.getByRole('link').first().click();
    await page.waitForURL(new RegExp(`/events/${event?.id}`));
  });

  test('an organization without records shows the way to the first payment, and then its statistics', async (context) => {
    const { api } = suite.organization('Empty');
    const page = await suite.open(context, 'developer', 'Empty', '');
    expect(await page.locator('.recharts-surface').count()).toBe(0);
    expect(await page.getByRole('navigation', { name: 'Range' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Copy curl code' }).click();
    await vi.waitFor(
      async () => expect(await clipboardOf(page)).toMatch(/^curl .*developer_api_payments/),
      waitMs,
    );
    await page.getByRole('link', { name: 'Open the quick start' }).click();
    await page.getByRole('heading', { level: 1, name: 'Quick start' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { level: 2, name: 'Create your first payment' }).waitFor();
    await api.post('payments', payment);
    await tile(page, 'Payments').getByText('1', { exact: true }).waitFor();
    await isCurrent(range(page, 'Last hour'));
  });

  test('a range without records offers a longer one', async (context) => {
    const { api } = suite.organization('Quiet');
    await api.post('payments', payment);
    await api.post('clock/advance', { seconds: 2 * 86_400 });
    const page = await suite.open(context, 'viewer', 'Quiet', '?range=1h&time=sandbox');
    await page.getByRole('heading', { name: 'No payments in the last hour' }).waitFor();
    await page.getByRole('link', { name: 'Show the last 30 days' }).click();
    await tile(page, 'Payments').getByText('1', { exact: true }).waitFor();
  });

  test('the audit page shows changes, has tabs for rejected reads and all, and pickers for actor and action', async (context) => {
    const { api, id } = suite.organization('Audit');
    await api.post('payments', payment);
    await api.post('customers', { name: 'Ada' });
    expect(await suite.session('viewer').status(`${id}/invitations`)).toBe(403);
    const page = await suite.open(context, 'owner', 'Audit', 'audit');
    const table = page.getByRole('table', { name: 'Audit trail, newest first' });
    const tab = (name: string) =>
      page.getByRole('navigation', { name: 'Kind of entries' }).getByRole('link', { name });
    await table.getByText('payments.create').waitFor();
    expect(await table.getByText('listInvitations').count()).toBe(0);
    await step('rejected reads', async () => {
      await tab('Refused reads').click();
      await table.getByText('listInvitations').waitFor();
      await table.getByText('payments.create').waitFor({ state: 'detached' });
    });
    await step('all, and back to the changes', async () => {
      await tab('All').click();
      await table.getByText('payments.create').waitFor();
      await table.getByText('listInvitations').waitFor();
      await page.goBack();
      await page.goBack();
      await table.getByText('listInvitations').waitFor({ state: 'detached' });
    });
    const filters = page.getByRole('search', { name: 'Filters' });
    await step('an action and an actor are picked from those that occur', async () => {
      await filters.getByRole('button', { name: 'Action' }).click();
      await page
        .getByRole('list', { name: 'Action' })
        .getByRole('button', { name: 'customers.create' })
        .click();
      await table.getByText('payments.create').waitFor({ state: 'detached' });
      await table.getByText('customers.create').waitFor();
      await filters.getByRole('button', { name: 'Remove filter Action' }).click();
      await table.getByText('payments.create').waitFor();
      await filters.getByRole('button', { name: 'Actor' }).click();
      await page.getByRole('list', { name: 'Actor' }).getByRole('button', { name: 'ci (API key)' }).click();
      await filters.getByText('ci (API key)').waitFor();
      await table.getByText('payments.create').waitFor();
      await expectAccessible(page, 'the audit page with a filter');
    });
    await page.getByRole('link', { name: 'security history' }).click();
    await page.getByRole('heading', { name: 'Security history' }).waitFor();
  });
});
