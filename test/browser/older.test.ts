/** Rows that the first page of a search does not reach, and the date filter of the events. */
import pg from 'pg';
import { expect, test } from 'vitest';
import { limits } from '../../src/kernel/limits.ts';
import { describeInBrowser, step } from '../support/browser.ts';
import { useConsole } from './console.ts';

describeInBrowser('older rows', () => {
  const suite = useConsole({ organizations: ['Search', 'Dates'], isOnPostgres: true });

  test('are found when a search continues after its newest part', async (context) => {
    const { id } = await suite.organization('Search').api.post('customers', { name: 'Old needle' });
    const database = new pg.Client({ connectionString: suite.databaseUrl() });
    await database.connect();
    context.onTestFinished(() => database.end());
    await database.query(
      `insert into customers
       select (jsonb_populate_record(t, jsonb_build_object('id', 'cus_7zzzzzzzzzzzzzzzzz' || lpad(n::text, 8, '0'), 'name', 'Hay'))).*
       from customers t, generate_series(1, $2::int) n where t.id = $1`,
      [id, limits.rowsSearchedMax],
    );
    const page = await suite.open(context, 'owner', 'Search', 'customers');
    await page.getByRole('searchbox', { name: 'Search' }).fill('needle');
    await page.getByText('None of 20,000 customers matches; older ones may.').waitFor();
    await page.getByRole('button', { name: 'Search older customers' }).click();
    await page.getByRole('link', { name: 'Old needle' }).click();
    await page.getByRole('heading', { level: 1, name: 'Old needle' }).waitFor();
    expect(page.url()).toContain(id);
  });

  test('of the events are found by their date', async (context) => {
    const { api } = suite.organization('Dates');
    const pay = async () => (await api.post('payments', { amount: 1250, currency: 'EUR' })).id;
    const old = await pay();
    await api.post('clock/advance', { seconds: 3 * 86_400 });
    const recent = await pay();
    const page = await suite.open(context, 'owner', 'Dates', 'events');
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
