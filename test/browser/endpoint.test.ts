/** The page of an endpoint, with a receiver that fails every fourth request. */
import { afterAll, expect, test } from 'vitest';
import { describeInBrowser, expectAccessible, untilStill } from '../support/browser.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { people, useConsole, visit } from './console.ts';

describeInBrowser('endpoint page', () => {
  const organizations = ['Charts', 'Settings', 'Secrets', 'Examined'] as const;
  let receiver: Receiver;
  const suite = useConsole({
    organizations,
    webhooks: async () => {
      receiver = await openReceiver((_received, response, count) =>
        response.writeHead(count % 4 === 0 ? 500 : 204).end(),
      );
      const endpoint = { url: receiver.url, retryProfile: 'fast' };
      return Object.fromEntries(organizations.map((name) => [name, [endpoint]]));
    },
  });
  afterAll(() => receiver?.close());

  const endpointOf = async (name: string) => {
    const [webhook] = await suite.organization(name).api.list('webhooks');
    return String(webhook?.id);
  };

  test('judges an endpoint by its attempts: a failure that a retry has repaired is red', async (context) => {
    const { api } = suite.organization('Charts');
    const id = await endpointOf('Charts');
    const { id: unreachable } = await api.post('webhooks', { url: 'http://127.0.0.1:9/hook' });
    for (let i = 0; i < 8; i += 1) await api.post('customers', { name: `Ada ${i}` });
    await expect
      .poll(async () => (await api.list(`webhook_deliveries?webhookId=${id}&status=succeeded`)).length, {
        timeout: 60_000,
      })
      .toBe(8);
    const page = await suite.open(context, 'developer', 'Charts', `webhooks/${id}`);
    await page.getByText(/of attempts fail/).waitFor();
    expect(await page.getByText('Healthy').count()).toBe(0);
    await page.getByText(/% of \d+ attempts succeeded, [1-9]\d* failed/).waitFor();
    await page.getByRole('button', { name: 'Show Responses as a table' }).click();
    const row = page.getByRole('row').filter({ hasText: '5xx' });
    expect(await row.innerText()).toMatch(/5xx\s+[1-9]/);
    await page.getByRole('button', { name: '1 hour' }).click();
    await page.waitForURL(/range=1h/);
    await page.getByText(/% of \d+ attempts succeeded, [1-9]\d* failed/).waitFor();
    await untilStill(page);
    await expectAccessible(page, 'the endpoint page');
    const table = page.getByRole('table', { name: /^Deliveries/ });
    for (const [webhookId, shown] of [
      [unreachable, 'Pending'],
      [id, 'Succeeded'],
    ] as const) {
      await visit(page, `${suite.organization('Charts').id}/webhooks/${webhookId}`);
      await table.getByText(shown).first().waitFor();
      for (const width of [1440, 1280, 1024]) {
        await page.setViewportSize({ width, height: 900 });
        await untilStill(page);
        for (const header of ['Record', 'Duration'])
          expect(await table.getByRole('columnheader', { name: header }).isVisible()).toBe(width >= 1440);
        const hidden = await table.evaluate(
          (element) => element.scrollWidth - (element.parentElement?.clientWidth ?? 0),
        );
        expect(hidden, `hidden width of ${shown} deliveries at ${width} px`).toBeLessThanOrEqual(0);
      }
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    await table
      .getByText(/^\d+ ms$/)
      .first()
      .waitFor();
    const records = new Set((await api.list('customers')).map((customer) => customer.id));
    const link = table.locator('tbody tr').first().locator('a[href*="/customers/"]');
    expect(records).toContain((await link.getAttribute('href'))?.split('/customers/')[1]?.split('?')[0]);
    const before = receiver.received.length;
    await page.getByRole('button', { name: 'Replay customer.created' }).first().click();
    await page.getByText('Replayed as a new delivery').waitFor();
    await expect.poll(() => receiver.received.length).toBeGreaterThan(before);
    await page.goto(page.url().replace(/webhooks.*/, 'webhooks'));
    await page
      .getByText(/of attempts fail/)
      .first()
      .waitFor();
    // All deliveries to the receiver succeeded; the overview counts their failed attempts.
    await visit(page, suite.organization('Charts').id);
    const success = page.locator('dl > div').filter({ hasText: 'Webhook success' });
    await success.getByText(/^[1-9]\d* of \d+ failed$/).waitFor();
    expect(await success.innerText()).not.toContain('100%');
  });

  test('custom headers are sent, shown by name, and replaced', async (context) => {
    const { api } = suite.organization('Settings');
    const id = await endpointOf('Settings');
    const page = await suite.open(context, 'developer', 'Settings', `webhooks/${id}`);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Add header' }).click();
    await dialog.getByLabel('Header 1', { exact: true }).fill('X-Team');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Enter a value, or remove the header.').waitFor();
    await dialog.getByLabel('Value 1', { exact: true }).fill('blue');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByText('X-Team').waitFor();
    expect(await page.content()).not.toContain('blue');
    await api.post(`webhooks/${id}/test`);
    expect(receiver.received.at(-1)?.headers['x-team']).toBe('blue');
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await dialog.getByText('X-Team: ••••').waitFor();
    await dialog.getByRole('button', { name: 'Replace headers' }).click();
    await dialog.getByRole('button', { name: 'Remove header 1' }).click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect((await api.get(`webhooks/${id}`)).headerNames).toEqual([]);
  });

  test('a disabled endpoint is enabled from the banner, and deleted from the menu', async (context) => {
    const { api } = suite.organization('Settings');
    const { id } = await api.post('webhooks', { url: receiver.url });
    await api.post(`webhooks/${id}/disable`);
    const page = await suite.open(context, 'developer', 'Settings', `webhooks/${id}`);
    await page.getByText('Disabled by request.').waitFor();
    await page.getByRole('button', { name: 'Enable', exact: true }).click();
    await page.getByText('Disabled by request.').waitFor({ state: 'hidden' });
    expect((await api.get(`webhooks/${id}`)).status).toBe('enabled');
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete…' }).click();
    const dialog = page.getByRole('alertdialog');
    await dialog.getByText('pending deliveries').waitFor();
    await dialog.getByRole('button', { name: 'Delete webhook' }).click();
    await page.waitForURL(/\/webhooks(\?|$)/);
    expect((await api.get(`webhooks/${id}`)).status).toBe('deleted');
  });

  test('an owner reveals the secret with the password; other roles cannot', async (context) => {
    const { api, id: orgId, applicationId } = suite.organization('Secrets');
    const { id, secret } = await api.post('webhooks', { url: receiver.url });
    const page = await suite.open(context, 'owner', 'Secrets', `webhooks/${id}`);
    await page.getByRole('button', { name: 'Reveal' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Reveal secret' }).click();
    await dialog.getByText('Enter your password.').waitFor();
    const field = dialog.getByLabel('Password', { exact: true });
    await field.fill('a wrong horse battery');
    await dialog.getByRole('button', { name: 'Reveal secret' }).click();
    await dialog.locator('[aria-invalid=true]').waitFor();
    await field.fill(people.owner.password);
    await dialog.getByRole('button', { name: 'Reveal secret' }).click();
    await dialog.getByText(String(secret)).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await dialog.waitFor({ state: 'hidden' });
    expect(await page.content()).not.toContain(String(secret));
    const path = `${orgId}/${applicationId}/developer_api_webhooks/${id}/reveal_secret`;
    expect(await suite.session('developer').status(path, { password: people.developer.password })).toBe(403);
    const other = await suite.open(context, 'developer', 'Secrets', `webhooks/${id}`);
    await other.getByText('whsec_…').waitFor();
    expect(await other.getByRole('button', { name: 'Reveal' }).count()).toBe(0);
  });

  test('the report of an examination survives a reload, has a link, and earlier ones can be opened', async (context) => {
    const { api } = suite.organization('Examined');
    const { id } = await api.post('webhook_inbox');
    const cases = ['valid_signature', 'wrong_signature'];
    const first = await api.post(`webhooks/${id}/examine`, { cases });
    const page = await suite.open(context, 'developer', 'Examined', `webhooks/${id}`);
    const report = page.getByRole('region', { name: 'Report' });
    await report.getByText(first.id).waitFor();
    await api.post(`webhooks/${id}/update`, { inbox: { type: 'respond', responseStatus: 500 } });
    await page.getByRole('button', { name: 'Examine again' }).click();
    await report.getByText('Grade F').waitFor();
    await page.waitForURL(/examination=exm_/);
    await page.reload();
    await report.getByText('Grade F').waitFor();
    const list = page.getByRole('region', { name: 'Last examinations' });
    expect(await list.getByRole('listitem').count()).toBe(2);
    await list.getByRole('button', { name: /Grade A/ }).click();
    await report.getByText(first.id).waitFor();
    const viewer = await suite.open(context, 'viewer', 'Examined', `webhooks/${id}?examination=${first.id}`);
    await viewer.getByRole('region', { name: 'Report' }).getByText(first.id).waitFor();
    for (const name of ['Examine again', 'Examine receiver'])
      expect(await viewer.getByRole('button', { name, exact: true }).count()).toBe(0);
  });
});
