/** Rows that the first page of a search does not reach, and the date filter of the events. */
import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { limits } from '../../src/kernel/limits.ts';
import { describeInBrowser, type StorageState, step, untilLoaded, useBrowser } from '../support/browser.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { startServer } from '../support/processes.ts';
import { apiOf } from './api.ts';
import { consoleApiOf, people } from './console.ts';

const key = 'sbk_sandbox_0123456789abcdefghijABCDEFGHIJ01';
const scopes = ['payments', 'customers', 'transfers', 'webhooks'].flatMap((name) => [
  `${name}:read`,
  `${name}:write`,
]);
const organization = {
  name: 'Acme',
  users: [{ ...people.owner, role: 'owner' }],
  applications: [{ name: 'Web shop', apiKeys: [{ name: 'ci', key, scopes }] }],
};

describeInBrowser('older rows', () => {
  let databaseUrl = '';
  let storageState: StorageState;
  let orgId = '';
  const suite = useBrowser({
    start: async ({ seed }) => {
      databaseUrl = await migratedDatabase(inject('postgresUrl'));
      return startServer({ databaseUrl, seed: seed({ organizations: [organization] }) });
    },
    prepare: async ({ browser, url }) => {
      const context = await browser.newContext({ baseURL: url });
      const session = consoleApiOf(context.request);
      await session.post('session/sign_in', people.owner);
      storageState = await context.storageState();
      orgId = ((await session.get('session')).organizations as readonly { id: string }[])[0]?.id ?? '';
      await context.close();
    },
  });

  test('are found when a search continues after its newest part', async (context) => {
    const { id } = await apiOf(suite.url, key).post('customers', { name: 'Old needle' });
    const database = new pg.Client({ connectionString: databaseUrl });
    await database.connect();
    context.onTestFinished(() => database.end());
    await database.query(
      `insert into customers
       select (jsonb_populate_record(t, jsonb_build_object('id', 'cus_7zzzzzzzzzzzzzzzzz' || lpad(n::text, 8, '0'), 'name', 'Hay'))).*
       from customers t, generate_series(1, $2::int) n where t.id = $1`,
      [id, limits.rowsSearchedMax],
    );
    const { page } = await suite.openTab(context, { storageState });
    await page.goto(`/console/${orgId}/customers`);
    await untilLoaded(page);
    await page.getByRole('searchbox', { name: 'Search' }).fill('needle');
    await page.getByText('None of 20,000 customers matches; older ones may.').waitFor();
    await page.getByRole('button', { name: 'Search older customers' }).click();
    await page.getByRole('link', { name: 'Old needle' }).click();
    await page.getByRole('heading', { level: 1, name: 'Old needle' }).waitFor();
    expect(page.url()).toContain(id);
  });

  test('of the events are found by their date', async (context) => {
    const api = apiOf(suite.url, key);
    const pay = async () => (await api.post('payments', { amount: 1250, currency: 'EUR' })).id;
    const old = await pay();
    await api.post('clock/advance', { seconds: 3 * 86_400 });
    const recent = await pay();
    const { page } = await suite.openTab(context, { storageState });
    await page.goto(`/console/${orgId}/events`);
    await untilLoaded(page);
    const row = (id: string) => page.getByRole('row', { name: new RegExp(id) });
    const chip = page.getByRole('button', { name: /^Occurred/ });
    await row(old).waitFor();
    await step('a preset shows the newest ones', async () => {
      await chip.click();
      await page.getByRole('button', { name: 'Last hour' }).click();
      await row(old).waitFor({ state: 'detached' });
      await row(recent).waitFor();
    });
    await step('a day shows those until then', async () => {
      await page.getByRole('button', { name: 'Remove filter Occurred' }).click();
      await row(old).waitFor();
      await chip.click();
      const { createdAt } = await api.get(`payments/${old}`);
      await page.getByLabel('To', { exact: true }).fill(String(createdAt).slice(0, 10));
      await row(recent).waitFor({ state: 'detached' });
      await row(old).waitFor();
    });
  });
});
