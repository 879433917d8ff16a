/** The time line of the clock panel: what falls due, and the advance to it. */
import type { Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { describeInBrowser, expectAccessible, expectNoOverflow, phone, step } from '../support/browser.ts';
import { useConsole } from './console.ts';

const money = { amount: 1_250, currency: 'EUR' };

describeInBrowser('fast-forward', () => {
  const suite = useConsole({ organizations: ['Keys', 'Pointer', 'Phone', 'Viewer'] });

  /** A frozen clock with a settlement tomorrow or the day after, and two authorizations that expire in a week. */
  async function schedule(name: string) {
    const { api } = suite.organization(name);
    await api.post('clock/freeze');
    const captured = await api.post('payments', money);
    await api.post(`payments/${captured.id}/advance`, { to: 'captured' });
    const held = [];
    for (const amount of [500, 700]) {
      const { id } = await api.post('payments', { ...money, amount, captureMethod: 'manual' });
      await api.post(`payments/${id}/advance`, { action: 'authorize' });
      held.push(id);
    }
    return { api, captured, held };
  }

  async function openPanel(page: Page) {
    await page.getByRole('button', { name: /^Application clock/ }).click();
    const panel = page.getByRole('dialog', { name: 'Application clock' });
    await panel.getByRole('heading', { name: 'Due next' }).waitFor();
    return panel;
  }

  test('the arrow keys go from mark to mark, and the clock advances to the chosen instant', async (context) => {
    const { api, captured, held } = await schedule('Keys');
    const page = await suite.open(context, 'developer', 'Keys', 'customers');
    const panel = await openPanel(page);
    const slider = panel.getByRole('slider', { name: 'Fast-forward to' });
    const valueText = () => slider.getAttribute('aria-valuetext');
    await step('marks', async () => {
      await panel.getByText('3 scheduled').waitFor();
      await slider.focus();
      expect(await valueText()).toBe('now');
      await page.keyboard.press('ArrowRight');
      expect(await valueText()).toMatch(/^(in|tomorrow).*: 1 payment settles$/);
      await page.keyboard.press('ArrowRight');
      expect(await valueText()).toBe('in 7 days: 1 payment settles, 2 authorizations expire');
      await page.keyboard.press('ArrowLeft');
      expect(await valueText()).toMatch(/: 1 payment settles$/);
      await page.keyboard.press('Home');
      expect(await valueText()).toBe('now');
      expect(await panel.getByRole('button', { name: 'Advance to …' }).isDisabled()).toBe(true);
      await page.keyboard.press('End');
      expect(await valueText()).toMatch(/2 authorizations expire$/);
      await panel.getByText('1 payment settles, 2 authorizations expire').waitFor();
      await expectAccessible(page, 'the clock panel with a time line');
    });
    await step('advance to the first mark: the payment settles at exactly its instant', async () => {
      await page.keyboard.press('Home');
      await page.keyboard.press('ArrowRight');
      await panel.getByRole('button', { name: /^Advance to \d/ }).click();
      await panel.getByText('1 event processed').waitFor();
      const { status, settledAt } = await api.get(`payments/${captured.id}`);
      expect(status).toBe('settled');
      expect((await api.get('clock')).now).toBe(settledAt);
      for (const id of held) expect((await api.get(`payments/${id}`)).status).toBe('authorized');
      await panel.getByText('2 scheduled').waitFor();
    });
    await step('the list leads to the records, and advances to a row', async () => {
      await panel.locator('summary', { hasText: '2 authorizations expire' }).click();
      expect(await panel.getByRole('link', { name: /^(5|7)\.00 EUR$/ }).count()).toBe(2);
      await panel.getByRole('button', { name: 'Advance to this: 2 authorizations expire' }).click();
      await panel.getByText('Nothing is scheduled.').waitFor();
      for (const id of held) expect((await api.get(`payments/${id}`)).status).toBe('expired');
    });
  });

  test('a drag shows the target and what would happen, and snaps to a mark', async (context) => {
    const { api, captured } = await schedule('Pointer');
    const page = await suite.open(context, 'developer', 'Pointer', 'customers');
    const panel = await openPanel(page);
    const slider = panel.getByRole('slider');
    const box = await slider.locator('..').boundingBox();
    if (box === null) throw new Error('The time line is not visible.');
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.2, y);
    await panel.getByText('Nothing is due').waitFor();
    await page.mouse.move(box.x + box.width, y, { steps: 5 });
    await panel.getByText('1 payment settles, 2 authorizations expire').waitFor();
    await page.mouse.up();
    // The marks of the week are at the end of the line: the last one is chosen, not a time close to it.
    const button = panel.getByRole('button', { name: /^Advance to \d/ });
    await button.click();
    await panel.getByText('3 events processed').waitFor();
    const { items } = (await suite
      .session('developer')
      .get(
        `${suite.organization('Pointer').id}/${suite.organization('Pointer').applicationId}/schedule`,
      )) as unknown as {
      items: readonly unknown[];
    };
    expect(items).toEqual([]);
    expect((await api.get(`payments/${captured.id}`)).status).toBe('settled');
  });

  test('the panel works on a phone, and a row leads to its record', async (context) => {
    const { captured } = await schedule('Phone');
    const page = await suite.open(context, 'developer', 'Phone', 'customers', {
      viewport: phone,
      theme: 'dark',
    });
    const panel = await openPanel(page);
    await expectAccessible(page, 'the clock panel on a phone');
    await expectNoOverflow(page, 'the clock panel on a phone');
    await panel.getByRole('link', { name: '12.50 EUR' }).click();
    await page.getByRole('heading', { level: 1, name: /12\.50/ }).waitFor();
    expect(page.url()).toContain(captured.id);
    await panel.waitFor({ state: 'detached' });
  });

  test('a viewer sees what is due, and cannot advance', async (context) => {
    const { api } = await schedule('Viewer');
    const page = await suite.open(context, 'viewer', 'Viewer', 'customers');
    const panel = await openPanel(page);
    await panel.getByText('Payment settles').waitFor();
    expect(await panel.getByRole('slider').count()).toBe(0);
    expect(await panel.getByRole('button', { name: /Advance/ }).count()).toBe(0);
    // What another person schedules appears in the open panel.
    await api.post('transfers', { sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 5_000 });
    await vi.waitFor(() => panel.getByText('Transfer expires').waitFor({ timeout: 1_000 }), 60_000);
  });
});
