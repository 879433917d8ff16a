/** The console features for an integration: keys, webhooks, replays, the clock, settings, settlement reports. */
import { readFile } from 'node:fs/promises';
import { expect, test, vi } from 'vitest';
import {
  clipboardOf,
  describeInBrowser,
  expectAccessible,
  expectNoBackticks,
  pageContent,
  step,
  waitMs,
} from '../support/browser.ts';
import { openReceiver, withStatus } from '../support/receiver.ts';
import { signaturesOf } from '../support/verify-signature.ts';
import { apiOf } from './api.ts';
import { useConsole } from './console.ts';

const payment = { amount: 1250, currency: 'EUR' };

describeInBrowser('integration', () => {
  const suite = useConsole({
    organizations: ['Keys', 'Webhooks', 'Replay', 'Clock', 'Settings', 'Settlement'],
  });

  test('a key is created, rotated and revoked', async (context) => {
    const page = await suite.open(context, 'developer', 'Keys', 'keys');
    const statusOf = (key: string) => apiOf(suite.url, key).status('payments', payment);
    /** Opens an item of the menu of the key with these last characters. */
    const openMenu = async (key: string, item: string) => {
      const row = page.getByRole('row', { name: new RegExp(key.slice(-4)) });
      await row.getByRole('button', { name: 'Actions for Checkout' }).click();
      await page.getByRole('menuitem', { name: item }).click();
    };

    const first = await step('create a key', async () => {
      await page.getByRole('button', { name: 'Create key' }).click();
      const dialog = page.getByRole('dialog', { name: 'Create API key' });
      await dialog.getByLabel('Name').fill('Checkout');
      await dialog.getByRole('button', { name: 'Create key' }).click();
      const created = page.getByRole('dialog', { name: 'API key created' });
      const key = await created.locator('[data-secret]').first().innerText();
      await created.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('row', { name: /Checkout/ }).waitFor();
      expect(await statusOf(key)).toBe(201);
      return key;
    });
    const second = await step('rotate it without an overlap: the old key stops working', async () => {
      await openMenu(first, 'Rotate…');
      const dialog = page.getByRole('dialog', { name: 'Rotate Checkout' });
      await dialog.getByRole('combobox').selectOption('0');
      await dialog.getByRole('button', { name: 'Rotate key' }).click();
      const created = page.getByRole('dialog', { name: 'API key rotated' });
      await created.getByText('has expired.').waitFor();
      await created.getByRole('button', { name: 'Copy API key' }).click();
      const key = await clipboardOf(page);
      await created.getByRole('button', { name: 'Done' }).click();
      await created.waitFor({ state: 'detached' });
      expect(await statusOf(key)).toBe(201);
      expect(await statusOf(first)).toBe(401);
      expect(await pageContent(page)).not.toContain(key);
      return key;
    });
    await step('rotate it with an overlap of an hour: both keys work', async () => {
      await openMenu(second, 'Rotate…');
      const dialog = page.getByRole('dialog', { name: 'Rotate Checkout' });
      await dialog.getByRole('combobox').selectOption('3600');
      await dialog.getByRole('button', { name: 'Rotate key' }).click();
      const created = page.getByRole('dialog', { name: 'API key rotated' });
      const key = await created.locator('[data-secret]').first().innerText();
      await created.getByRole('button', { name: 'Done' }).click();
      expect(await statusOf(key)).toBe(201);
      expect(await statusOf(second)).toBe(201);
    });
    await step('revoke the rotated key: it stops working', async () => {
      await openMenu(second, 'Revoke…');
      await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke key' }).click();
      await page.getByRole('alertdialog').waitFor({ state: 'detached' });
      expect(await statusOf(second)).toBe(401);
    });
  });

  test('a webhook is created, tested and disabled, and its secret is rotated', async (context) => {
    const { api } = suite.organization('Webhooks');
    const receiver = await openReceiver();
    context.onTestFinished(() => receiver.close());
    const page = await suite.open(context, 'developer', 'Webhooks', 'webhooks');
    const typesReceived = () => receiver.received.map(({ body }) => JSON.parse(body).type as string);

    const secret = await step('create a webhook and follow the link to its test', async () => {
      await page.getByRole('button', { name: 'Create webhook' }).first().click();
      const dialog = page.getByRole('dialog', { name: 'Create webhook' });
      await dialog.getByLabel('URL').fill('ftp://example.test/');
      await dialog.getByRole('button', { name: 'Create webhook' }).click();
      await dialog.getByText('Why this URL is not allowed').or(dialog.getByRole('alert')).first().waitFor();
      expect(await api.list('webhooks')).toEqual([]);
      await dialog.getByLabel('URL').fill(receiver.url);
      await dialog.getByRole('button', { name: 'Create webhook' }).click();
      const created = page.getByRole('dialog', { name: 'Save the signing secret' });
      const shown = await created.locator('[data-secret]').innerText();
      expect(await api.list('webhooks')).toMatchObject([{ url: receiver.url, status: 'enabled' }]);
      await created.getByRole('link', { name: 'Send a test event…' }).click();
      return shown;
    });
    const dialog = page.getByRole('dialog', { name: 'Send a test event' });
    await step('the hint of a type shows names of fields as code, without backticks', async () => {
      await dialog.getByLabel('Event type').selectOption('payment.authorized');
      await dialog.locator('code', { hasText: 'authorizationExpiresAt' }).waitFor();
      await expectNoBackticks(page, 'the hint of an event type');
    });
    await step('send a test event of a chosen type, which arrives signed', async () => {
      await dialog.getByLabel('Event type').selectOption('payment.captured');
      await dialog.getByRole('button', { name: 'Send test event' }).click();
      await dialog.getByRole('region', { name: 'Receiver response' }).getByText('204').first().waitFor();
      const [received] = await receiver.waitFor(1);
      expect(typesReceived()).toEqual(['payment.captured']);
      expect(received && signaturesOf(received, secret)).toEqual([0]);
      await expectAccessible(page, 'the dialog that tests a webhook', { except: ['region'] });
    });
    await step('a test shows the error of the receiver', async () => {
      receiver.answer(withStatus(503));
      await dialog.getByRole('button', { name: 'Send again' }).click();
      await dialog.getByRole('region', { name: 'Receiver response' }).getByText('503').first().waitFor();
      await receiver.waitFor(2);
      receiver.answer(withStatus(204));
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    });
    const [webhook] = await api.list('webhooks');
    await step('rotate the secret without an overlap: only the new one signs', async () => {
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name: 'Rotate secret…' }).click();
      const rotate = page.getByRole('dialog', { name: 'Rotate the signing secret' });
      expect(await rotate.getByLabel('Previous secret').locator('option').allInnerTexts()).toEqual([
        ...['Expires immediately', 'Expires in 1 hour', 'Expires in 24 hours', 'Expires in 7 days'],
      ]);
      await rotate.getByLabel('Previous secret').selectOption('0');
      await rotate.getByRole('button', { name: 'Rotate secret' }).click();
      const created = page.getByRole('dialog', { name: 'Save the new signing secret' });
      const renewed = await created.locator('[data-secret]').innerText();
      await created.getByRole('button', { name: 'Done' }).click();
      await api.post('payments', payment);
      const received = (await receiver.waitFor(3))[2];
      expect(received && signaturesOf(received, renewed)).toEqual([0]);
      expect(received && signaturesOf(received, secret)).toEqual([]);
    });
    await step('disable the webhook: events wait, and are sent when it is enabled', async () => {
      const toggle = async (name: string) => {
        await page.getByRole('button', { name: 'More actions' }).click();
        await page.getByRole('menuitem', { name: `${name}…` }).click();
        await page.getByRole('alertdialog').getByRole('button', { name, exact: true }).click();
        await page.getByRole('alertdialog').waitFor({ state: 'detached' });
      };
      await toggle('Disable');
      expect(await api.get(`webhooks/${webhook?.id}`)).toMatchObject({ status: 'disabled' });
      const before = receiver.received.length;
      const { id } = await api.post('payments', { ...payment, reference: 'while-disabled' });
      await toggle('Enable');
      const received = await receiver.waitFor(before + 1);
      expect(received[before]?.body).toContain(id);
    });
    await step('the page of an event shows names of fields as code, without backticks', async () => {
      const { id } = await api.post('payments', payment);
      await api.post(`payments/${id}/advance`, { to: 'authorized' });
      const [event] = await api.list('webhook_events?type=payment.authorized');
      await page.goto(`/console/${suite.organization('Webhooks').id}/events/${event?.id}`);
      await page.locator('header code', { hasText: 'authorizationExpiresAt' }).waitFor();
      await expectNoBackticks(page, 'the page of an event');
    });
  });

  test('failed events are counted and replayed in bulk, with their original ids', async (context) => {
    const { api } = suite.organization('Replay');
    const receiver = await openReceiver(withStatus(500));
    context.onTestFinished(() => receiver.close());
    const webhook = await api.post('webhooks', { url: receiver.url, retryProfile: 'none' });
    for (let number = 1; number <= 5; number += 1) await api.post('payments', payment);
    await receiver.waitFor(5);
    await vi.waitFor(async () => {
      const failed = await api.list(`webhook_deliveries?webhookId=${webhook.id}&status=failed`);
      expect(failed).toHaveLength(5);
    }, waitMs);
    receiver.answer(withStatus(204));
    const idsOf = (from: number) => receiver.received.slice(from).map(({ headers }) => headers['webhook-id']);

    const page = await suite.open(context, 'developer', 'Replay', `webhooks/${webhook.id}`);
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Replay events…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Replay events' });
    await step('count the failed events of the last hour, which sends nothing', async () => {
      await dialog.getByRole('button', { name: 'Last hour' }).click();
      await dialog.getByRole('button', { name: 'Count events' }).click();
      await dialog.getByText('5 events will be sent again.').waitFor();
      await expectAccessible(page, 'the dialog that replays events', { except: ['region'] });
      expect(receiver.received).toHaveLength(5);
    });
    await step('replay them: the receiver gets the same ids', async () => {
      await dialog.getByRole('button', { name: 'Replay 5 events' }).click();
      await receiver.waitFor(10);
      expect(idsOf(5).toSorted()).toEqual(idsOf(0).slice(0, 5).toSorted());
      await page.getByText('5 deliveries created: 5 succeeded, 0 failed, 0 pending.').waitFor();
    });
    await step('nothing is left to replay', async () => {
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name: 'Replay events…' }).click();
      await dialog.getByRole('button', { name: 'Count events' }).click();
      await dialog.getByText('No events match in this window.').waitFor();
      expect(await dialog.getByRole('button', { name: /^Replay/ }).count()).toBe(0);
      // No other request arrived, since a later event is the next one.
      await api.post('payments', payment);
      await receiver.waitFor(11);
      expect(idsOf(0).slice(0, 5)).not.toContain(idsOf(10)[0]);
    });
  });

  test('the clock is frozen, advanced to an instant, resumed and reset', async (context) => {
    const { api } = suite.organization('Clock');
    const quote = { sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 10_000 };
    const transfer = await api.post('transfers', quote);
    const page = await suite.open(context, 'developer', 'Clock', 'transfers');
    await page.getByRole('button', { name: /Application clock/ }).click();
    const clock = page.getByRole('dialog', { name: 'Application clock' });

    await step('freeze it', async () => {
      await clock.getByRole('button', { name: 'Freeze' }).click();
      await clock.getByText(/^Frozen .*real time\.$/).waitFor();
      expect(await api.get('clock')).toMatchObject({ status: 'frozen' });
    });
    await step('advance it to an instant: the quote expires', async () => {
      const to = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 16);
      await clock.getByLabel('Advance to (UTC)').fill(to);
      await clock.getByRole('button', { name: 'Advance', exact: true }).click();
      await clock.getByText('Transfer: expired').waitFor();
      const { now } = await api.get('clock');
      expect(String(now).slice(0, 16)).toBe(to);
      expect(await api.get(`transfers/${transfer.id}`)).toMatchObject({ status: 'expired' });
    });
    await step('resume it: it runs on from the time to which it was advanced', async () => {
      await clock.getByRole('button', { name: 'Resume' }).click();
      await clock.getByText('3 days ahead of real time.', { exact: true }).waitFor();
      const { status, offsetSeconds } = await api.get('clock');
      expect(status).toBe('running');
      expect(Number(offsetSeconds)).toBeGreaterThan(2 * 86_400);
    });
    await step('reset it to real time', async () => {
      await clock.getByRole('button', { name: 'Reset…' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Reset clock' }).click();
      await clock.getByText('Real time.', { exact: true }).waitFor();
      expect(await api.get('clock')).toMatchObject({ status: 'running', offsetSeconds: 0 });
      expect(await api.get(`transfers/${transfer.id}`)).toMatchObject({ status: 'expired' });
    });
  });

  test('application settings are validated, saved and take effect; the application is archived', async (context) => {
    const { api, id, applicationId } = suite.organization('Settings');
    const page = await suite.open(context, 'owner', 'Settings', `applications/${applicationId}`);
    const saved = () => suite.session('owner').get(`${id}/applications/${applicationId}`);
    const save = page.getByRole('button', { name: 'Save changes' });

    await step('an invalid share is rejected at its field', async () => {
      await page.getByLabel('Percentage fee (%)').fill('200');
      await save.click();
      await page.locator('[aria-invalid=true]').first().waitFor();
      expect(await saved()).not.toMatchObject({ fee: { basisPoints: 20_000 } });
    });
    await step('save the name, the fee, a rate and the webhook defaults', async () => {
      await page.getByLabel('Application name').fill('Checkout');
      await page.getByLabel('Percentage fee (%)').fill('10');
      await page.getByLabel('Fixed fee (minor units)').fill('25');
      await page.getByText('Fee on a capture of 100.00 EUR').getByText('10.25 EUR').waitFor();
      await page.getByLabel('Margin in percent').fill('0');
      await page.getByRole('button', { name: 'Add rate' }).click();
      await page.getByLabel('Source currency of new rate').fill('EUR');
      await page.getByLabel('Target currency of EUR/').fill('USD');
      await page.getByLabel('Rate of EUR/USD').fill('2');
      await page.getByLabel('Retries').selectOption('none');
      await save.click();
      await save.waitFor({ state: 'detached' });
      expect(await saved()).toMatchObject({
        name: 'Checkout',
        fee: { basisPoints: 1_000, fixedAmount: 25 },
        fx: { marginBasisPoints: 0, rates: { 'EUR/USD': '2' } },
        webhookDefaults: { retryProfile: 'none' },
      });
    });
    await step('a capture pays the new fee, and a quote has the new rate', async () => {
      const { id: paymentId } = await api.post('payments', { amount: 10_000, currency: 'EUR' });
      await api.post(`payments/${paymentId}/advance`, { to: 'captured' });
      await page.goto(`/console/${id}/payments/${paymentId}`);
      await page.getByText('10.25').first().waitFor();
      const quote = { sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 10_000 };
      expect(await api.post('transfers', quote)).toMatchObject({ targetAmount: 20_000 });
      expect(await api.post('webhooks', { url: 'http://127.0.0.1:9/' })).toMatchObject({
        retryProfile: 'none',
      });
    });
    await step('archive the application: its key stops working until it is restored', async () => {
      await page.goto(`/console/${id}/applications/${applicationId}`);
      const confirm = page.getByRole('alertdialog');
      await page.getByRole('button', { name: 'Archive application…' }).click();
      await confirm.getByRole('button', { name: 'Archive' }).click();
      await page.getByRole('button', { name: 'Restore application…' }).waitFor();
      expect(await api.status('payments', payment)).toBeGreaterThanOrEqual(400);
      await page.getByRole('button', { name: 'Restore application…' }).click();
      await confirm.getByRole('button', { name: 'Restore' }).click();
      await page.getByRole('button', { name: 'Archive application…' }).waitFor();
      expect(await api.status('payments', payment)).toBe(201);
    });
  });

  test('the settlement report of a day is downloaded as CSV, with all of its lines', async (context) => {
    const { api } = suite.organization('Settlement');
    for (const amount of [10_000, 20_000]) {
      const { id } = await api.post('payments', { amount, currency: 'EUR' });
      await api.post(`payments/${id}/advance`, { to: 'captured' });
    }
    await api.post('clock/advance', { seconds: 3 * 86_400 });
    const days = await api.list('settlements');
    const day = days.find(({ lines }) => Number(lines) === 2);
    expect(day, JSON.stringify(days)).toBeDefined();

    const page = await suite.open(context, 'viewer', 'Settlement', 'reconciliation?tab=reports');
    await page.getByRole('link', { name: String(day?.date) }).click();
    await page.getByRole('heading', { name: `Report of ${day?.date}` }).waitFor();
    await expectAccessible(page, 'the report of a day');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`settlement-${day?.date}.csv`);
    const csv = await readFile(await download.path(), 'utf8');
    const answer = await fetch(`${suite.url}/_api/developer_api_settlements/${day?.date}`, {
      headers: { authorization: `Bearer ${api.key}`, accept: 'text/csv' },
    });
    expect(csv).toBe(await answer.text());
    expect(csv.trimEnd().split('\n')).toHaveLength(3);
  });
});
