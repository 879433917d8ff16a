/** The webhook inbox: created with one click, filled by real deliveries, and set to fail and to recover. */
import { expect, test } from 'vitest';
import {
  describeInBrowser,
  expectAccessible,
  expectNoOverflow,
  phone,
  untilStill,
} from '../support/browser.ts';
import { useConsole } from './console.ts';

describeInBrowser('webhook inbox', () => {
  const suite = useConsole({ organizations: ['Acme', 'Order', 'Retries', 'Due', 'Viewers'] });

  test('one click on the empty list opens it, and a sample payment arrives with its signature verified', async (context) => {
    const page = await suite.open(context, 'developer', 'Acme', 'webhooks');
    await page.getByRole('heading', { name: 'Get notified of events' }).waitFor();
    await page.getByRole('button', { name: 'Open inbox' }).click();
    await page.getByRole('heading', { name: 'Webhook inbox' }).waitFor();
    await page.getByText('curl -X POST').waitFor();
    await untilStill(page);
    await expectAccessible(page, 'the empty inbox');
    await page.getByRole('button', { name: 'Create a sample payment' }).click();
    const row = page.getByRole('listitem').filter({ hasText: 'payment.created' });
    await row.getByText('Verified').waitFor();
    await row.getByText('Succeeded').waitFor();
    const [payment] = await suite.organization('Acme').api.list('payments');
    await row.locator(`a[href*="${payment?.id}"]`).waitFor();
    await row.getByRole('button', { name: 'payment.created' }).click();
    await row.getByText('webhook-signature').waitFor();
    await row.getByText('inbox_receipt').waitFor();
    await row.getByText('"amount"').first().waitFor();
    await untilStill(page);
    await expectAccessible(page, 'the inbox');
    await page.setViewportSize(phone);
    await untilStill(page);
    await expectNoOverflow(page, 'the inbox on a phone');
  });

  test('a test event and an event of the API appear without a reload, newest first', async (context) => {
    const { api } = suite.organization('Order');
    await api.post('webhook_inbox');
    const page = await suite.open(context, 'developer', 'Order', 'webhooks');
    await page.getByRole('button', { name: 'Open inbox' }).click();
    const received = page.getByRole('region', { name: 'Received' }).getByRole('listitem');
    await page.getByRole('button', { name: 'Send test event' }).click();
    await received.first().getByText('webhook.tested').waitFor();
    await api.post('customers', { name: 'Ada' });
    await received.first().getByText('customer.created').waitFor();
  });

  test('it fails, retries visibly, and succeeds when it is set to succeed', async (context) => {
    const { api } = suite.organization('Retries');
    const { id } = await api.post('webhook_inbox', { retryProfile: 'fast' });
    const page = await suite.open(context, 'developer', 'Retries', `webhooks/${id}/inbox`);
    await page.getByRole('button', { name: 'Fail', exact: true }).click();
    await page.getByText('Each attempt fails with 500 and is retried.').waitFor();
    await page.getByLabel('Response status').selectOption('503');
    await page.getByText('Each attempt fails with 503 and is retried.').waitFor();
    expect((await api.get(`webhooks/${id}`)).inbox).toEqual({
      type: 'respond',
      responseStatus: 503,
      delayMs: 0,
    });
    await api.post('customers', { name: 'Ada' });
    const row = page.getByRole('listitem').filter({ hasText: 'customer.created' });
    await row.getByText('503').nth(1).waitFor();
    await row.getByText(/Retry in \d+ s/).waitFor();
    await page.getByRole('button', { name: 'Succeed', exact: true }).click();
    await row.getByText('Succeeded').waitFor();
    await row.getByText('200').waitFor();
    await page.getByRole('button', { name: 'Time out', exact: true }).click();
    await page.getByText('without a response').waitFor();
    expect((await api.get(`webhooks/${id}`)).inbox).toEqual({ type: 'timeout' });
    await page.getByRole('button', { name: 'Respond slowly', exact: true }).click();
    await page.getByText('Each attempt succeeds after 3 seconds.').waitFor();
  });

  test('the page of a delivery shows when its next attempt is due', async (context) => {
    const { api } = suite.organization('Due');
    const { id } = await api.post('webhook_inbox', {});
    await api.post(`webhooks/${id}/update`, { inbox: { type: 'respond', responseStatus: 500, delayMs: 0 } });
    // On a frozen clock, the retry stays ahead.
    await api.post('clock/freeze');
    await api.post('customers', { name: 'Ada' });
    const page = await suite.open(context, 'developer', 'Due', `webhooks/${id}`);
    await page
      .getByRole('row', { name: /customer\.created/ })
      .getByRole('link')
      .first()
      .click();
    const next = page.locator('dl > div').filter({ hasText: 'Next attempt' });
    await next.getByText(/in \d+ seconds/).waitFor();
    await api.post(`webhooks/${id}/update`, { inbox: { type: 'timeout' } });
    await api.post('clock/resume');
    await next.getByText('Due now').waitFor();
    expect(await next.innerText()).not.toContain('just now');
  });

  test('410 disables it, and the banner enables it', async (context) => {
    const { api } = suite.organization('Retries');
    const { id } = await api.post('webhook_inbox', { inbox: { type: 'respond', responseStatus: 410 } });
    await api.post('customers', { name: 'Grace' });
    const page = await suite.open(context, 'developer', 'Retries', `webhooks/${id}/inbox`);
    await page.getByText('Disabled because its receiver responded 410 Gone.').waitFor();
    await page.getByRole('button', { name: 'Succeed', exact: true }).click();
    await page.getByText('Each attempt succeeds immediately.').waitFor();
    await page.getByRole('button', { name: 'Enable', exact: true }).click();
    await page.getByText('Disabled because').waitFor({ state: 'hidden' });
    expect((await api.get(`webhooks/${id}`)).status).toBe('enabled');
  });

  test('a viewer reads it and changes nothing', async (context) => {
    const { id } = await suite.organization('Viewers').api.post('webhook_inbox');
    const page = await suite.open(context, 'viewer', 'Viewers', 'webhooks');
    await page.getByRole('link', { name: new RegExp(`inbox/${id}`) }).click();
    await page.getByRole('heading', { name: 'Nothing received yet' }).waitFor();
    for (const name of ['Fail', 'Send test event', 'Create a sample payment'])
      expect(await page.getByRole('button', { name, exact: true }).count()).toBe(0);
  });
});
