/** Amounts, search, filters, export and history of lists and their forms. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { describeInBrowser, expectAccessible, step, untilLoaded, waitMs } from '../support/browser.ts';
import { useConsole, visit } from './console.ts';

describeInBrowser('lists and amounts', () => {
  const suite = useConsole({
    organizations: ['Amounts', 'Search', 'Filters', 'Combined', 'History', 'Times'],
  });

  test('a comma in an amount is a decimal separator, and what was understood is shown', async (context) => {
    const { api } = suite.organization('Amounts');
    const page = await suite.open(context, 'developer', 'Amounts', 'payments');
    await page.getByRole('button', { name: 'Create payment' }).click();
    const dialog = page.getByRole('dialog', { name: 'Create payment' });
    const amount = dialog.getByLabel(/^Amount in/);
    const submit = dialog.getByRole('button', { name: 'Create payment' });
    await step('what is understood changes with the text and the currency', async () => {
      await amount.fill('1,250');
      await dialog.getByText('= 1,250.00 EUR').waitFor();
      await amount.fill('1.250,00');
      await dialog.getByText('= 1,250.00 EUR').waitFor();
      await amount.fill('12,50');
      await dialog.getByText('= 12.50 EUR').waitFor();
      await dialog.getByLabel('Currency').selectOption('JPY');
      await dialog.getByText('JPY has no decimals.').waitFor();
      await submit.click();
      await dialog.getByLabel('Currency').selectOption('KWD');
      await amount.fill('1,250');
      await dialog.getByText('Ambiguous: enter 1.250 or 1250.').waitFor();
      await submit.click();
      await amount.and(page.locator(':focus')).waitFor();
      expect(await api.list('payments?limit=1'), 'an invalid amount is not sent').toEqual([]);
      await expectAccessible(page, 'a form with an ambiguous amount', { except: ['region'] });
    });
    const payment = await step('12,50 is a payment of 12.50 EUR', async () => {
      await dialog.getByLabel('Currency').selectOption('EUR');
      await amount.fill('12,50');
      await submit.click();
      await page.getByRole('heading', { level: 1, name: /12\.50/ }).waitFor();
      const [created] = await api.list('payments?limit=1');
      expect(created).toMatchObject({ amount: 1250, currency: 'EUR' });
      return created;
    });
    await step('1,5 is a refund of 1.50 EUR, and more than refundable is refused at the field', async () => {
      await api.post(`payments/${payment?.id}/advance`, { to: 'captured' });
      await page.getByRole('button', { name: 'Actions' }).click();
      await page.getByRole('menuitem', { name: 'Refund…' }).click();
      const refund = page.getByRole('dialog', { name: 'Refund' });
      await refund.getByText('Leave empty for the full 12.50 EUR.').waitFor();
      await refund.getByLabel(/^Amount in EUR/).fill('12,51');
      await refund.getByText('12.51 EUR exceeds 12.50 EUR.').waitFor();
      await refund.getByLabel(/^Amount in EUR/).fill('1,5');
      await refund.getByText('= 1.50 EUR').waitFor();
      await refund.getByRole('button', { name: 'Refund' }).click();
      await refund.waitFor({ state: 'detached' });
      expect(await api.get(`payments/${payment?.id}`)).toMatchObject({ amountRefunded: 150 });
    });
    await step('a dispute offers what is left after refunds', async () => {
      await page.getByRole('button', { name: 'Actions' }).click();
      await page.getByRole('menuitem', { name: 'Dispute…' }).click();
      const dispute = page.getByRole('dialog', { name: 'Dispute' });
      await dispute.getByText('Leave empty for the full 11.00 EUR.').waitFor();
      await dispute.getByRole('button', { name: 'Dispute' }).click();
      await page.getByText('Waiting for its dispute.').waitFor();
      await page.getByRole('link', { name: 'Open dispute' }).click();
      await page.getByRole('heading', { level: 1, name: /11\.00/ }).waitFor();
    });
  });

  test('search finds a part of any text while it is typed, with amounts in major units', async (context) => {
    const { api } = suite.organization('Search');
    await api.post('payments', { amount: 10_359, currency: 'EUR', reference: 'order-2100' });
    await api.post('payments', { amount: 700, currency: 'JPY', description: 'Two tickets to Zermatt' });
    const page = await suite.open(context, 'viewer', 'Search', 'payments');
    const results = page.getByRole('table', { name: 'Payments' });
    await page.getByRole('searchbox').pressSequentially('ER-21');
    await results.getByRole('row', { name: /700/ }).waitFor({ state: 'detached' });
    await results.getByRole('row', { name: /103\.59/ }).waitFor();
    await page.getByRole('searchbox').fill('zermatt');
    await results.getByRole('row', { name: /103\.59/ }).waitFor({ state: 'detached' });
    await results.getByRole('row', { name: /700/ }).waitFor();
    expect(await results.getByRole('row').count()).toBe(2);
    await step('without a match, the page leads to all records', async () => {
      await page.getByRole('searchbox').fill('50%');
      const empty = page.getByRole('heading', { name: 'No matching payments' }).locator('..');
      await empty.getByText('Ctrl K searches all kinds of records.').waitFor();
      await expectAccessible(page, 'a search without a match');
      await empty.getByRole('button', { name: 'Clear filters' }).click();
      await results.getByRole('row', { name: /103\.59/ }).waitFor();
      expect(await page.getByRole('searchbox').inputValue()).toBe('');
    });
    await page.getByRole('searchbox').fill('');
    await page
      .getByRole('table', { name: 'Payments' })
      .getByRole('row', { name: /order-2100/ })
      .waitFor();
    await page.keyboard.press('Control+K');
    const palette = page.getByRole('dialog', { name: 'Search and commands' });
    await palette.getByRole('combobox').fill('order-2100');
    await palette.getByRole('option', { name: /103\.59 EUR/ }).waitFor();
  });

  test('tabs, chips and the export agree on the rows', async (context) => {
    const { api } = suite.organization('Filters');
    const customer = await api.post('customers', { name: 'Grace Hopper' });
    for (const [index, to] of ['captured', 'captured', 'failed', undefined].entries()) {
      const reference = `=row-${index}`;
      const { id } = await api.post('payments', {
        amount: 100,
        currency: 'EUR',
        reference,
        customerId: customer.id,
      });
      if (to !== undefined) await api.post(`payments/${id}/advance`, { to });
    }
    const page = await suite.open(context, 'viewer', 'Filters', 'payments');
    const rows = page.getByRole('table', { name: 'Payments' }).getByRole('row');
    await step('tabs show the number of each status, and filter', async () => {
      for (const name of ['All 4', 'Captured 2', 'Failed 1', 'Pending 1'])
        await page.getByRole('button', { name, exact: true }).waitFor();
      await rows.filter({ hasText: 'Grace Hopper' }).first().waitFor();
      await page.getByRole('button', { name: 'Captured 2' }).click();
      await rows.filter({ hasText: 'Failed' }).waitFor({ state: 'detached' });
      expect(await rows.count()).toBe(3);
      expect(page.url()).toContain('status=captured');
    });
    await step('a chip adds a filter and removes it', async () => {
      await page.getByRole('button', { name: 'Reference' }).click();
      await page.getByRole('textbox', { name: 'Reference' }).fill('=row-1');
      await page.getByRole('button', { name: 'Apply' }).click();
      await rows.filter({ hasText: 'row-0' }).waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Remove filter Reference' }).click();
      await rows.filter({ hasText: 'row-0' }).waitFor();
      await page.getByRole('button', { name: 'Created', exact: true }).click();
      await page.getByRole('button', { name: 'Last hour' }).click();
      await page.getByRole('button', { name: 'Remove filter Created' }).waitFor();
      await untilLoaded(page);
      expect(await rows.count()).toBe(3);
      await expectAccessible(page, 'a list with filters');
    });
    await step('the export has the filtered rows, and no cell runs as a formula', async () => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Export CSV' }).click(),
      ]);
      expect(download.suggestedFilename()).toBe('payments.csv');
      const [header = '', ...lines] = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n');
      expect(header.split(',')).toEqual(expect.arrayContaining(['id', 'amount', 'status', 'reference']));
      expect(lines).toHaveLength(2);
      for (const line of lines) expect(line).toMatch(/,'=row-[01],/);
    });
  });

  test('a search applies with tabs, chips, paging, selection and the export', async (context) => {
    const { api } = suite.organization('Combined');
    const [grace, ada] = [
      await api.post('customers', { name: 'Grace Hopper', email: 'grace@navy.test' }),
      await api.post('customers', { name: 'Ada Lovelace' }),
    ];
    for (const [reference, customer, amount, currency, to] of [
      ['alpha-1', grace, 1_000, 'EUR', 'captured'],
      ['alpha-2', grace, 5_000, 'EUR', 'captured'],
      ['alpha-3', ada, 1_000, 'USD', 'captured'],
      ['alpha-4', grace, 1_000, 'EUR', 'failed'],
      ['beta-5', grace, 1_000, 'EUR', 'captured'],
    ] as const) {
      const { id } = await api.post('payments', { reference, customerId: customer.id, amount, currency });
      await api.post(`payments/${id}/advance`, { to });
    }
    const page = await suite.open(context, 'developer', 'Combined', 'payments');
    const rows = page.getByRole('table', { name: 'Payments' }).locator('tbody tr');
    const expectRows = async (...references: readonly string[]) => {
      await expect
        .poll(async () => (await rows.allInnerTexts()).map((text) => /(?:alpha|beta)-\d/.exec(text)?.[0]), {
          timeout: waitMs,
        })
        .toEqual(references);
      await untilLoaded(page);
    };
    await step('a search narrows the list that a tab shows', async () => {
      await page.getByRole('button', { name: 'Captured 4' }).click();
      await page.getByRole('searchbox').fill('ALPHA');
      await expectRows('alpha-3', 'alpha-2', 'alpha-1');
      expect(page.url()).toContain('status=captured');
      // The numbers count all payments.
      await page.getByRole('button', { name: 'Captured', exact: true }).waitFor();
    });
    await step('a customer is picked by a part of the name', async () => {
      await page.getByRole('button', { name: 'Customer', exact: true }).click();
      await page.getByRole('textbox', { name: 'Find customer' }).fill('hopp');
      const picker = page.getByRole('list', { name: 'Customers' });
      await picker.getByRole('button', { name: /Ada/ }).waitFor({ state: 'detached' });
      await expectAccessible(page, 'the customer filter', { except: ['region'] });
      await picker.getByRole('button', { name: /Grace Hopper/ }).click();
      await page.getByRole('button', { name: 'Customer: Grace Hopper' }).waitFor();
      await expectRows('alpha-2', 'alpha-1');
    });
    await step('the export and a selection have the rows of the page', async () => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Export CSV' }).click(),
      ]);
      const [, ...lines] = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n');
      expect(lines.map((line) => /alpha-\d/.exec(line)?.[0])).toEqual(['alpha-2', 'alpha-1']);
      await page.getByLabel('Select all rows of this page').check();
      await page.getByText('2 selected').first().waitFor();
      await page.getByLabel('Select all rows of this page').uncheck();
    });
    await step('an amount is entered in major units of a currency', async () => {
      await page.getByRole('button', { name: 'Amount', exact: true }).click();
      await page.getByLabel(/^At least in EUR/).fill('49,99');
      await page.getByRole('button', { name: 'Apply' }).click();
      await page.getByRole('button', { name: 'Amount: 49.99 – …' }).waitFor();
      await expectRows('alpha-2');
      expect(page.url()).toMatch(/currency=EUR.*amountMin=4999|amountMin=4999.*currency=EUR/);
      await page.getByRole('button', { name: 'Remove filter Currency' }).click();
      await expectRows('alpha-2', 'alpha-1');
    });
    await step('a search finds payments by the customer', async () => {
      await page.getByRole('button', { name: 'Remove filter Customer' }).click();
      await page.getByRole('searchbox').fill('lovelace');
      await expectRows('alpha-3');
    });
  });

  test('the filters of a list are on one row of a desktop, and no column is cut off without a hint', async (context) => {
    const { api } = suite.organization('Filters');
    await api.post('payments', {
      amount: 100,
      currency: 'EUR',
      description: 'A description that needs a lot of room',
    });
    for (const [width, rowsMax] of [
      [1024, 2],
      [1440, 1],
      [1920, 1],
    ] as const) {
      const viewport = { width, height: 900 };
      const page = await suite.open(context, 'developer', 'Filters', 'payments', { viewport });
      const chips = page.getByRole('search', { name: 'Filters' }).locator(':scope > *');
      const middles = await chips.evaluateAll((all) =>
        all.map((one) => one.getBoundingClientRect()).map(({ y, height }) => Math.round(y + height / 2)),
      );
      expect(middles.length).toBeGreaterThan(3);
      expect(new Set(middles).size, `rows of filters at ${width} px`).toBeLessThanOrEqual(rowsMax);
      const created = page.getByRole('columnheader', { name: 'Created' });
      const box = await created.boundingBox();
      expect((box?.x ?? 0) + (box?.width ?? 0), `the last column at ${width} px`).toBeLessThanOrEqual(width);
      const overflow = await page.getByRole('table', { name: 'Payments' }).evaluate((table) => {
        const region = table.closest('[tabindex]') ?? table.parentElement;
        return region === null ? 0 : region.scrollWidth - region.clientWidth;
      });
      expect(overflow, `hidden width of the table at ${width} px`).toBeLessThanOrEqual(0);
    }
  });

  test('Back after creating a record shows the list without the form', async (context) => {
    const page = await suite.open(context, 'developer', 'History', 'customers');
    await page.getByRole('button', { name: 'Create customer' }).click();
    const dialog = page.getByRole('dialog', { name: 'Create customer' });
    await dialog.getByLabel('Name').fill('Ada Lovelace');
    await dialog.getByRole('button', { name: 'Create customer' }).click();
    await page.getByRole('heading', { level: 1, name: 'Ada Lovelace' }).waitFor();
    await page.goBack();
    await page.getByRole('row', { name: /Ada Lovelace/ }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(page.url()).toMatch(/\/customers(\?app=\w+)?$/);
    for (const [list, create, submit] of [
      ['payments', 'Create payment', 'Create payment'],
      ['transfers', 'Create transfer', 'Get quote'],
    ] as const)
      await step(list, async () => {
        await visit(page, `${suite.organization('History').id}/${list}`);
        await page.getByRole('button', { name: create }).first().click();
        const form = page.getByRole('dialog', { name: create });
        await form.getByLabel(/^Amount in [A-Z]{3}/).fill('12.50');
        await form.getByRole('button', { name: submit }).click();
        await page.getByRole('heading', { level: 1, name: /12\.50/ }).waitFor();
        await page.goBack();
        await page.getByRole('row', { name: /12\.50/ }).waitFor();
        expect(await page.getByRole('dialog').count()).toBe(0);
        expect(page.url()).not.toContain('create=');
      });
  });

  test('times have seconds, in UTC or in the zone of the browser', async (context) => {
    const { api } = suite.organization('Times');
    const { createdAt } = await api.post('customers', { name: 'Ada' });
    const timezoneId = 'Europe/Berlin';
    const page = await suite.open(context, 'developer', 'Times', 'customers', { timezoneId });
    const time = page.getByRole('row', { name: /Ada/ }).locator('time');
    await expect.poll(() => time.innerText()).toContain(String(createdAt).slice(11, 19));
    await page.getByRole('button', { name: /account of/ }).click();
    await page.getByRole('menuitemradio', { name: timezoneId }).click();
    const shown = new Date(String(createdAt)).toLocaleTimeString('en-GB', { timeZone: timezoneId });
    await page.getByRole('row', { name: new RegExp(`Ada.*${shown}`) }).waitFor();
    expect(await time.getAttribute('title')).toContain('GMT+');
    // The logs.
    const { id } = suite.organization('Times');
    const inbox = await api.post('webhook_inbox');
    await api.post(`webhooks/${inbox.id}/test`);
    for (const path of ['events', 'requests', 'audit']) {
      await visit(page, `${id}/${path}`);
      const shownTimes = page.locator('tbody time').filter({ visible: true });
      await shownTimes.first().waitFor();
      await untilLoaded(page);
      const times = await shownTimes.allInnerTexts();
      expect(times.length, path).toBeGreaterThan(0);
      for (const text of times) expect(text, path).toMatch(/\d\d:\d\d:\d\d/);
    }
  });
});
