/** Pages follow what happens elsewhere: through the API, in another tab, on the clock. */
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeInBrowser, expectAccessible, step, untilLoaded, untilStill } from '../support/browser.ts';
import { openReceiver } from '../support/receiver.ts';
import { useConsole, visit } from './console.ts';

const payment = { amount: 1250, currency: 'EUR' };
/** The promise is a second, on a machine that does nothing else; the test prints what it measured. */
const agreementMsMax = 1_000;
/** While other tests use the processor, only a much longer delay is an error: one without the stream, by polling. */
const busyMachineFactor = 10;
const rowOf = (page: Page, reference: string) => page.getByRole('row', { name: new RegExp(reference) });

describeInBrowser('live pages', () => {
  const suite = useConsole({
    organizations: [
      'Lists',
      'Records',
      'Pause',
      'Scroll',
      'Clock',
      'Faults',
      'Hidden',
      'Second',
      'Every',
      'Below',
      'Windows',
    ],
  });

  test('a payment of the API appears in two open tabs, and its changes too', async (context) => {
    const { api } = suite.organization('Lists');
    await api.post('payments', { ...payment, reference: 'before' });
    const pages = [
      await suite.open(context, 'developer', 'Lists', 'payments'),
      await suite.open(context, 'viewer', 'Lists', 'payments'),
    ];
    for (const page of pages) await page.getByRole('button', { name: /^Live\./ }).waitFor();
    const { id } = await api.post('payments', { ...payment, reference: 'from-the-api' });
    for (const page of pages) {
      await rowOf(page, 'from-the-api').getByText('Pending').waitFor();
      // The animation with which it slides in; rows that were there before do not move in.
      expect(await rowOf(page, 'from-the-api').getAttribute('class')).toContain('row-in');
      expect(await rowOf(page, 'before').getAttribute('class')).not.toContain('row-in');
    }
    await api.post(`payments/${id}/advance`, { to: 'captured' });
    for (const page of pages) {
      await rowOf(page, 'from-the-api').getByText('Captured').waitFor();
      await page.getByRole('button', { name: 'Captured 1' }).waitFor();
    }
  });

  test('an open record follows the API, with its timeline and the next action', async (context) => {
    const { api } = suite.organization('Records');
    const { id } = await api.post('payments', { ...payment, captureMethod: 'manual' });
    const page = await suite.open(context, 'developer', 'Records', `payments/${id}`);
    await page.getByRole('button', { name: 'Next: Authorize' }).waitFor();
    await page.getByRole('button', { name: /^Live\./ }).waitFor();
    await api.post(`payments/${id}/advance`, { action: 'authorize' });
    await page.locator('[aria-current=step]', { hasText: 'Authorized' }).waitFor();
    await page.getByRole('heading', { level: 3, name: /Authorize/ }).waitFor();
    await page.getByRole('button', { name: 'Next: Capture' }).waitFor();
  });

  test('a paused page stays as it is, until it is refreshed or resumed', async (context) => {
    const { api } = suite.organization('Pause');
    await api.post('payments', { ...payment, reference: 'first' });
    const page = await suite.open(context, 'developer', 'Pause', 'payments');
    const other = await suite.open(context, 'viewer', 'Pause', 'payments');
    await step('pause: a tab that follows shows the new payment, and this one does not', async () => {
      await page.getByRole('button', { name: /^Live\./ }).click();
      await page.getByRole('button', { name: /^Paused\./ }).waitFor();
      await api.post('payments', { ...payment, reference: 'second' });
      await rowOf(other, 'second').waitFor();
      expect(await rowOf(page, 'second').count()).toBe(0);
    });
    await step('refresh shows it, and the page stays paused', async () => {
      await page.getByRole('button', { name: 'Refresh' }).click();
      await rowOf(page, 'second').waitFor();
      await api.post('payments', { ...payment, reference: 'third' });
      await rowOf(other, 'third').waitFor();
      expect(await rowOf(page, 'third').count()).toBe(0);
    });
    await step('resume shows what was missed', async () => {
      await page.getByRole('button', { name: /^Paused\./ }).click();
      await rowOf(page, 'third').waitFor();
    });
    await step('a list that is read by polling is paused too', async () => {
      const { id } = suite.organization('Pause');
      await Promise.all([page, other].map((tab) => visit(tab, `${id}/requests`)));
      await page.getByRole('button', { name: /^Live\./ }).click();
      await page.getByRole('button', { name: /^Paused\./ }).waitFor();
      const requests = [];
      // The second one is shown by the read after that of the first one.
      for (let number = 1; number <= 2; number += 1) {
        const requestId = String((await api.get('clock')).requestId);
        await other.locator(`tr[data-id="${requestId}"]`).waitFor();
        requests.push(requestId);
      }
      expect(await page.locator(`tr[data-id="${requests[0]}"]`).count()).toBe(0);
      await page.getByRole('button', { name: /^Paused\./ }).click();
      await page.locator(`tr[data-id="${requests[0]}"]`).waitFor();
    });
  });

  test('rows do not move under a person who has scrolled down, and a button shows the new ones', async (context) => {
    const { api } = suite.organization('Scroll');
    for (let number = 1; number <= 30; number += 1)
      await api.post('payments', { ...payment, reference: `old-${number}.` });
    const page = await suite.open(context, 'developer', 'Scroll', 'payments', {
      viewport: { width: 1280, height: 500 },
    });
    await page.getByRole('button', { name: /^Live\./ }).waitFor();
    const target = rowOf(page, 'old-10\\.');
    await target.scrollIntoViewIfNeeded();
    await page.waitForFunction('window.scrollY > 160');
    const before = await target.boundingBox();
    await page.getByText('25 of 30', { exact: true }).waitFor();
    for (let number = 1; number <= 3; number += 1)
      await api.post('payments', { ...payment, reference: `new-${number}.` });
    await page.getByRole('button', { name: '3 new' }).waitFor();
    expect(await target.boundingBox()).toEqual(before);
    expect(await rowOf(page, 'new-1\\.').count()).toBe(0);
    await expectAccessible(page, 'a list with new rows');
    await page.getByRole('button', { name: '3 new' }).click();
    await rowOf(page, 'new-3\\.').waitFor();
    await page.getByRole('button', { name: '3 new' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('8 of 33', { exact: true }).waitFor();
  });

  test('a list further down its page holds its rows too, and the button leads to its top', async (context) => {
    const receiver = await openReceiver();
    context.onTestFinished(() => receiver.close());
    const { api } = suite.organization('Below');
    const webhook = await api.post('webhooks', { url: receiver.url });
    const eventIds: string[] = [];
    for (let number = 1; number <= 20; number += 1) await api.post('customers', { name: `Old ${number}` });
    await receiver.waitFor(20);
    for (const { id } of await api.list('webhook_events?limit=5')) eventIds.push(id);
    const page = await suite.open(context, 'developer', 'Below', `webhooks/${webhook.id}`, {
      viewport: { width: 1280, height: 500 },
    });
    await page.getByRole('button', { name: /^Live\./ }).waitFor();
    const rows = page.getByRole('table', { name: /^Deliveries/ }).locator('tbody tr');
    await rows.nth(19).waitFor();
    const target = rows.nth(15);
    await target.scrollIntoViewIfNeeded();
    await untilStill(page);
    const before = await target.boundingBox();
    await api.post('customers', { name: 'New' });
    await page.getByRole('button', { name: '1 new' }).waitFor();
    await api.post(`webhook_events/${eventIds[0]}/replay`);
    await page.getByRole('button', { name: '2 new' }).waitFor();
    expect(await target.boundingBox()).toEqual(before);
    expect(await rows.count()).toBe(20);
    await page.getByRole('button', { name: '2 new' }).click();
    await rows.nth(21).waitFor();
    await page.getByRole('button', { name: '2 new' }).waitFor({ state: 'detached' });
    const top = await rows.first().boundingBox();
    expect(top?.y).toBeGreaterThan(56);
    expect(top?.y).toBeLessThan(500);
    expect(await page.evaluate('window.scrollY')).toBeGreaterThan(160);
  });

  test('every list and every record follows the API', async (context) => {
    const { id: orgId, applicationId, api } = suite.organization('Every');
    const owner = suite.session('owner');
    const receiver = await openReceiver();
    context.onTestFinished(() => receiver.close());
    const create = async (name: string, body: object) => (await api.post(name, body)).id;
    const captured = async () => {
      const id = await create('payments', { ...payment, scenario: 'refund_pending' });
      await api.post(`payments/${id}/advance`, { to: 'captured' });
      return id;
    };
    const disputed = async () => {
      const id = await captured();
      await api.post(`payments/${id}/advance`, { action: 'dispute', reason: 'Never arrived' });
      return newest(`disputes?paymentId=${id}`);
    };
    const newest = async (list: string) => (await api.list(list))[0]?.id ?? '';
    const quote = { sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 250_000 };
    const transferBody = { ...quote, beneficiary: { name: 'Ada' } };
    const webhook = await create('webhooks', { url: receiver.url });
    const customer = await create('customers', { name: 'Ada' });
    const event = await newest('webhook_events');
    const transfer = await create('transfers', transferBody);
    const refund = (await api.post(`payments/${await captured()}/refund`, { amount: 100 })).id;
    const dispute = await disputed();
    // Deliveries to a disabled endpoint are held until it is enabled.
    const disabled = await create('webhooks', { url: receiver.url, eventTypes: ['customer.archived'] });
    await api.post(`webhooks/${disabled}/disable`);
    await api.post(`customers/${await create('customers', { name: 'Gone' })}/archive`);
    const held = await newest(`webhook_deliveries?webhookId=${disabled}`);

    const page = await suite.open(context, 'owner', 'Every', 'payments');
    await page.getByRole('button', { name: /^Live\./ }).waitFor();
    const main = page.getByRole('main');
    const row = (id: string) => main.locator(`tr[data-id="${id}"]`);
    const linked = (id: string) => main.locator(`tr:has(a[href*="${id}"])`).first();
    const reached = (state: string) => page.locator('[aria-current=step]', { hasText: state });
    const advance = (path: string, body: object) => api.post(`${path}/advance`, body);
    /** The address, a write, and what appears; in an order in which no page shows it before the write. */
    const cases: readonly (readonly [address: string, change: () => Promise<Locator>])[] = [
      [
        'refunds',
        async () => row((await api.post(`payments/${await captured()}/refund`, { amount: 200 })).id),
      ],
      ['disputes', async () => row(await disputed())],
      ['transfers', async () => row(await create('transfers', transferBody))],
      ['events', async () => row(await create('webhook_events', { type: 'customer.updated' }))],
      ['requests', async () => row(String((await api.get('clock')).requestId))],
      ['audit', async () => linked(String((await api.post('customers', { name: 'Audited' })).requestId))],
      [
        'ledger',
        async () => {
          const id = await create('payments', { amount: 777_700, currency: 'KWD' });
          await advance(`payments/${id}`, { to: 'captured' });
          return main.getByText('777.700').first();
        },
      ],
      [
        'ledger?tab=entries',
        async () => {
          await advance(`transfers/${await create('transfers', transferBody)}`, { to: 'funded' });
          return main.getByRole('button', { name: 'Fund', exact: true });
        },
      ],
      [
        'webhooks',
        async () =>
          row(await create('webhooks', { url: `${receiver.url}/more`, eventTypes: ['refund.failed'] })),
      ],
      [
        'keys',
        async () => {
          const scopes = ['payments:read'];
          return row((await owner.post(`${orgId}/${applicationId}/api_keys`, { name: 'live', scopes })).id);
        },
      ],
      [
        'members',
        async () => {
          await owner.post(`${orgId}/invitations`, { role: 'viewer', email: 'new@acme.test' });
          return main.getByRole('row', { name: /new@acme\.test/ });
        },
      ],
      [
        'applications',
        async () => row((await owner.post(`${orgId}/applications`, { name: 'Second shop' })).id),
      ],
      [
        'faults',
        async () => {
          const fault = { type: 'error', code: 'service_unavailable' };
          const operations = ['rotateWebhookSecret'];
          return row(await create('fault_plans', { on: 'requests', fault, count: 1, operations }));
        },
      ],
      [
        'reconciliation?tab=lines',
        async () => {
          const id = await captured();
          await advance(`payments/${id}`, { to: 'settled' });
          return linked(id);
        },
      ],
      [
        'reconciliation?tab=reports',
        async () => {
          await captured();
          await api.post('clock/advance', { seconds: 3 * 86_400 });
          const date = String((await api.list('settlements'))[0]?.date);
          return main.getByRole('link', { name: date });
        },
      ],
      [
        `transfers/${transfer}`,
        async () => {
          await advance(`transfers/${transfer}`, { to: 'funded' });
          return reached('Funded');
        },
      ],
      [
        `refunds/${refund}`,
        async () => {
          await advance(`refunds/${refund}`, { action: 'succeed' });
          return reached('Succeeded');
        },
      ],
      [
        `disputes/${dispute}`,
        async () => {
          await advance(`disputes/${dispute}`, { action: 'accept' });
          return reached('Lost');
        },
      ],
      [
        `customers/${customer}`,
        async () => {
          await api.post(`customers/${customer}/update`, { name: 'Ada Lovelace' });
          await page.getByRole('heading', { level: 1, name: 'Ada Lovelace' }).waitFor();
          return row(await create('payments', { ...payment, customerId: customer }));
        },
      ],
      [
        `webhooks/${webhook}`,
        async () => {
          await api.post(`webhooks/${webhook}/update`, { description: 'Changed by the API' });
          await main.getByText('Changed by the API').waitFor();
          await create('customers', { name: 'Delivered' });
          return row(await newest(`webhook_deliveries?webhookId=${webhook}`));
        },
      ],
      [
        `events/${event}`,
        async () => {
          await api.post(`webhook_events/${event}/replay`, { webhookId: webhook });
          return row(await newest(`webhook_deliveries?eventId=${event}`));
        },
      ],
      [
        `deliveries/${held}`,
        async () => {
          await api.post(`webhooks/${disabled}/enable`);
          return main.getByText('Succeeded', { exact: true }).first();
        },
      ],
    ];
    const delays: string[] = [];
    for (const [address, change] of cases) {
      await step(address, async () => {
        await visit(page, `${orgId}/${address}`);
        const shown = await change();
        const respondedAt = performance.now();
        await shown.waitFor();
        delays.push(`${address.split('_')[0]} ${(performance.now() - respondedAt).toFixed(0)}`);
      });
    }
    console.log(`milliseconds from the response until a page showed it: ${delays.join(', ')}`);
  });

  test('a tab that was hidden holds no connection, and is up to date when it is shown again', async (context) => {
    const { api } = suite.organization('Hidden');
    await api.post('payments', { ...payment, reference: 'before' });
    const page = await suite.open(context, 'developer', 'Hidden', 'payments');
    await page.getByRole('button', { name: /^Live\./ }).waitFor();
    // A headless browser considers all its tabs visible, so the test sets the state and fires the event of a browser.
    const setVisibility = (state: 'hidden' | 'visible') =>
      page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
        document.dispatchEvent(new Event('visibilitychange'))`);
    const streamClosed = page.waitForEvent('requestfailed', (request) =>
      request.url().includes('event_stream'),
    );
    await setVisibility('hidden');
    await streamClosed;
    const other = await suite.open(context, 'viewer', 'Hidden', 'payments');
    await other.getByRole('button', { name: /^Live\./ }).waitFor();
    await api.post('payments', { ...payment, reference: 'meanwhile' });
    await rowOf(other, 'meanwhile').waitFor();
    expect(await rowOf(page, 'meanwhile').count()).toBe(0);
    await setVisibility('visible');
    await rowOf(page, 'meanwhile').waitFor();
  });

  test('eight windows of a browser share one connection, and another one takes over when it is closed', async (context) => {
    const { api } = suite.organization('Windows');
    await api.post('payments', { ...payment, reference: 'before' });
    const first = await suite.open(context, 'developer', 'Windows', 'payments');
    const streams: Page[] = [];
    first.context().on('request', (request) => {
      if (request.url().endsWith('/event_stream')) streams.push(request.frame().page());
    });
    await first.getByRole('button', { name: /^Live\./ }).waitFor();
    const others: Page[] = [];
    // More than a browser has HTTP/1.1 connections per server.
    while (others.length < 7) {
      const page = await first.context().newPage();
      await page.goto(first.url());
      await page.getByRole('button', { name: /^Live\./ }).waitFor();
      others.push(page);
    }
    expect(streams).toEqual([]);
    await api.post('payments', { ...payment, reference: 'with-the-first' });
    for (const page of [first, ...others]) await rowOf(page, 'with-the-first').waitFor();
    await first.close();
    await expect.poll(() => streams.length).toBe(1);
    await api.post('payments', { ...payment, reference: 'without-the-first' });
    for (const page of others) await rowOf(page, 'without-the-first').waitFor();
    expect(streams).toHaveLength(1);
  });

  test('two tabs and a terminal agree within a second', async (context) => {
    const { api } = suite.organization('Second');
    await api.post('payments', { ...payment, reference: 'before' });
    const pages = [
      await suite.open(context, 'developer', 'Second', 'payments'),
      await suite.open(context, 'viewer', 'Second', 'payments'),
    ];
    for (const page of pages) await page.getByRole('button', { name: /^Live\./ }).waitFor();
    const delays: number[] = [];
    for (let number = 1; number <= 5; number += 1) {
      await api.post('payments', { ...payment, reference: `from-the-terminal-${number}` });
      const respondedAt = performance.now();
      await Promise.all(pages.map((page) => rowOf(page, `from-the-terminal-${number}`).waitFor()));
      delays.push(performance.now() - respondedAt);
    }
    const median = delays.toSorted((a, b) => a - b)[2] ?? 0;
    console.log(
      `both tabs showed a payment ${delays.map((ms) => ms.toFixed(0)).join(', ')} ms after the response`,
    );
    expect(median).toBeLessThan(agreementMsMax * busyMachineFactor);
  });

  test('a clock that the API moves is shown on every page, and a record of the future shows its time', async (context) => {
    const { api } = suite.organization('Clock');
    const page = await suite.open(context, 'developer', 'Clock', 'customers');
    await page.getByRole('button', { name: /^Live\./ }).waitFor();
    await step('moved and frozen by the API', async () => {
      await api.post('clock/advance', { seconds: 5 * 86_400 });
      await page.getByText('Application clock: 5 days ahead of real time.').waitFor();
      await api.post('customers', { name: 'Ada of tomorrow' });
      await rowOf(page, 'Ada of tomorrow').waitFor();
      await api.post('clock/freeze');
      await page.getByText('Application clock: frozen 5 days ahead of real time.').waitFor();
    });
    await step('reset in the strip: the customer of the future shows a date and no distance', async () => {
      await page.getByRole('button', { name: 'Reset…', exact: true }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Reset clock' }).click();
      await page.getByText(/^Application clock: .* real time\.$/).waitFor({ state: 'detached' });
      expect(await api.get('clock')).toMatchObject({ status: 'running', offsetSeconds: 0 });
      const time = rowOf(page, 'Ada of tomorrow').locator('time');
      expect(await time.innerText()).toMatch(/^\d+ \w+ (\d{4} )?\d\d:\d\d:\d\d$/);
      expect(await time.getAttribute('title')).not.toMatch(/in \d|tomorrow/);
    });
  });

  test('active faults are shown on every page', async (context) => {
    const { api } = suite.organization('Faults');
    const page = await suite.open(context, 'developer', 'Faults', 'payments');
    await page.getByRole('button', { name: /^Live\./ }).waitFor();
    const fault = { type: 'error', code: 'service_unavailable' };
    const plan = await api.post('fault_plans', { on: 'requests', fault, count: 5, methods: ['POST'] });
    await page.getByText('1 fault active').waitFor();
    await page.getByRole('link', { name: 'View', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Faults' }).waitFor();
    await untilLoaded(page);
    await suite
      .session('developer')
      .post(
        `${suite.organization('Faults').id}/${suite.organization('Faults').applicationId}/developer_api_fault_plans/${plan.id}/cancel`,
      );
    await page.getByText('1 fault active').waitFor({ state: 'detached' });
  });
});
