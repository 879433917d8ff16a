/** Pages follow what happens elsewhere: through the API, in another tab, on the clock. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeInBrowser, expectAccessible, step, untilLoaded } from '../support/browser.ts';
import { useConsole } from './console.ts';

const payment = { amount: 1250, currency: 'EUR' };
const agreementMsMax = 1_000;
/** Other tests use the processor at the same time. */
const busyMachineFactor = 10;
const rowOf = (page: Page, reference: string) => page.getByRole('row', { name: new RegExp(reference) });

describeInBrowser('live pages', () => {
  const suite = useConsole({
    organizations: ['Lists', 'Records', 'Pause', 'Scroll', 'Clock', 'Faults', 'Hidden', 'Second'],
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
    for (const page of pages) await rowOf(page, 'from-the-api').getByText('Pending').waitFor();
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
    for (let number = 1; number <= 3; number += 1)
      await api.post('payments', { ...payment, reference: `new-${number}.` });
    await page.getByRole('button', { name: '3 new' }).waitFor();
    expect(await target.boundingBox()).toEqual(before);
    expect(await rowOf(page, 'new-1\\.').count()).toBe(0);
    await expectAccessible(page, 'a list with new rows');
    await page.getByRole('button', { name: '3 new' }).click();
    await rowOf(page, 'new-3\\.').waitFor();
    await page.getByRole('button', { name: '3 new' }).waitFor({ state: 'detached' });
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
