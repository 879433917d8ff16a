/** The clock panel: what falls due, the advance to it, errors, and days and times in the chosen zone. */
import type { Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { describeInBrowser, expectAccessible, expectNoOverflow, phone, step } from '../support/browser.ts';
import { useConsole } from './console.ts';

const money = { amount: 1_250, currency: 'EUR' };

describeInBrowser('fast-forward', () => {
  const suite = useConsole({ organizations: ['Keys', 'Pointer', 'Phone', 'Viewer', 'Zone', 'Errors'] });

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
    await panel.getByRole('heading', { name: 'Fast-forward' }).waitFor();
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

  test('days and times that are entered are in the chosen zone, and so are the effects of an advance', async (context) => {
    const { api, id, applicationId } = suite.organization('Zone');
    const { captured } = await schedule('Zone');
    const timezoneId = 'America/Los_Angeles';
    const page = await suite.open(context, 'developer', 'Zone', 'keys', { timezoneId });
    await page.getByRole('button', { name: /account of/ }).click();
    await page.getByRole('menuitemradio', { name: timezoneId }).click();
    await step('a key expires at the end of a day there', async () => {
      await page.getByRole('button', { name: 'Create key' }).first().click();
      const dialog = page.getByRole('dialog', { name: 'Create API key' });
      await dialog.getByLabel('Name').fill('Checkout');
      await dialog.getByLabel('Expires').selectOption('date');
      await dialog.getByLabel('Last day').fill('2031-12-10');
      await dialog.getByText(`The key expires at the end of this day (${timezoneId}).`).waitFor();
      await dialog.getByRole('button', { name: 'Create key' }).click();
      await page.getByRole('button', { name: 'Done' }).click();
      const keys = (await suite.session('developer').get(`${id}/${applicationId}/api_keys`)).data;
      expect(keys).toContainEqual(
        expect.objectContaining({ name: 'Checkout', expiresAt: '2031-12-11T07:59:59.999Z' }),
      );
    });
    await step('the form that edits it shows the same day', async () => {
      await page.getByRole('button', { name: 'Actions for Checkout' }).click();
      await page.getByRole('menuitem', { name: 'Edit…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Edit API key' });
      expect(await dialog.getByLabel('Last day').inputValue()).toBe('2031-12-10');
      await page.keyboard.press('Escape');
    });
    await step('the clock advances to a time there, and shows the settlement with seconds', async () => {
      const target = Math.floor(Date.now() / 60_000) * 60_000 + 3 * 86_400_000;
      const local = new Date(target).toLocaleString('sv-SE', { timeZone: timezoneId });
      const panel = await openPanel(page);
      await panel.getByLabel(`Advance to (${timezoneId})`).fill(local.slice(0, 16).replace(' ', 'T'));
      await panel.getByRole('button', { name: 'Advance', exact: true }).click();
      await panel.getByText('1 event processed').waitFor();
      expect((await api.get('clock')).now).toBe(new Date(target).toISOString());
      const { settledAt } = await api.get(`payments/${captured.id}`);
      const shown = new Date(String(settledAt)).toLocaleTimeString('en-GB', { timeZone: timezoneId });
      await panel.locator('summary', { hasText: 'Payment: settled' }).click();
      await panel.locator('time', { hasText: shown }).waitFor();
      await page.keyboard.press('Escape');
    });
    await step('the strip asks before it resets the clock', async () => {
      const question = page.getByRole('alertdialog', { name: 'Reset to real time?' });
      const strip = page.getByRole('region', { name: 'Application clock' });
      await strip.getByText('frozen 3 days ahead of real time.').waitFor();
      await strip.getByRole('button', { name: 'Reset…' }).click();
      await question.getByRole('button', { name: 'Cancel' }).click();
      await question.waitFor({ state: 'detached' });
      expect((await api.get('clock')).status).toBe('frozen');
      await strip.getByRole('button', { name: 'Reset…' }).click();
      await question.getByRole('button', { name: 'Reset clock' }).click();
      // Below an open question the strip has no role, so it would count as detached.
      await question.waitFor({ state: 'detached' });
      await strip.waitFor({ state: 'detached' });
      expect(await api.get('clock')).toMatchObject({ status: 'running', offsetSeconds: 0 });
    });
  });

  test('an error is shown once, with readable times, and cleared by the next success', async (context) => {
    const { api } = suite.organization('Errors');
    const page = await suite.open(context, 'developer', 'Errors', 'customers');
    // A paused page does not notice that the API moves the clock.
    await page.getByRole('button', { name: /^Live\./ }).click();
    await api.post('clock/advance', { seconds: 10 * 86_400 });
    const panel = await openPanel(page);
    const field = panel.getByLabel('Advance to (UTC)');
    const advance = panel.getByRole('button', { name: 'Advance', exact: true });
    const refused = panel.getByText(/^The clock is at/);
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 16);
    const provoke = async () => {
      await field.fill(inDays(1));
      await advance.click();
      await refused.waitFor();
    };
    await step('a missing time is shown at the field', async () => {
      await advance.click();
      await panel.getByText('Enter a time.').waitFor();
      expect(await field.evaluate((one) => one === one.ownerDocument.activeElement)).toBe(true);
    });
    await step('an error of the server', async () => {
      await provoke();
      expect(await refused.count()).toBe(1);
      const [input, button] = await Promise.all([field.boundingBox(), advance.boundingBox()]);
      expect(button?.y, 'the button is on the line of the field').toBe(input?.y);
      expect(await panel.getByRole('alert').count()).toBe(0);
      expect(await refused.innerText()).toMatch(/^The clock is at \d+ \w+ \d{4}, \d\d:\d\d:\d\d UTC/);
      expect(await panel.innerText()).not.toMatch(/`|\d{4}-\d\d-\d\dT/);
    });
    await step('an advance clears it, and the button keeps the focus', async () => {
      const hour = panel.getByRole('button', { name: '+1 hour' });
      await hour.press('Enter');
      await panel.getByText(/processed|Nothing was due/).waitFor();
      await refused.waitFor({ state: 'detached' });
      expect(await hour.evaluate((one) => one === one.ownerDocument.activeElement)).toBe(true);
      await panel.getByText('10 days, 1 hour ahead of real time.').waitFor();
    });
    await step('a reset clears it too', async () => {
      await field.fill(inDays(20));
      await api.post('clock/advance', { seconds: 20 * 86_400 });
      await advance.click();
      await refused.waitFor();
      await panel.getByRole('button', { name: 'Reset…' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Reset clock' }).click();
      await refused.waitFor({ state: 'detached' });
      await panel.getByText('Real time.', { exact: true }).waitFor();
    });
  });
});
