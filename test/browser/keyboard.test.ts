/** The console without a mouse: focus order, visible focus, the command palette, dialogs and menus. */
import type { Locator, Page } from 'playwright-core';
import { beforeAll, expect, type TestContext, test, vi } from 'vitest';
import { describeInBrowser, pressEscape, step, untilLoaded, waitMs } from '../support/browser.ts';
import type { Body } from './api.ts';
import { people, useConsole } from './console.ts';

/** More than any page has focusable elements. */
const stopsMax = 80;

describeInBrowser('keyboard', () => {
  const suite = useConsole({ organizations: ['Acme'] });
  let payment: Body;

  beforeAll(async () => {
    const { api } = suite.organization('Acme');
    payment = await api.post('payments', { amount: 1250, currency: 'EUR', reference: 'order-1001' });
    await api.post('payments', { amount: 990, currency: 'EUR', reference: 'invoice-7' });
  });

  const open = (context: TestContext, path: string) => suite.openShared(context, 'owner', 'Acme', path);
  const isFocused = (target: Locator) => target.evaluate((one) => one === one.ownerDocument.activeElement);
  const isInside = (target: Locator) =>
    target.evaluate((one) => one.contains(one.ownerDocument.activeElement));
  const untilFocused = (target: Locator) =>
    vi.waitFor(async () => expect(await isFocused(target), `${target} is focused`).toBe(true), waitMs);
  const palette = (page: Page) => page.getByRole('dialog', { name: 'Search and commands' });

  /** Presses Tab until the target has the focus. Skips to the content first if the target is there, as a user would. */
  async function tabTo(target: Locator): Promise<void> {
    await target.waitFor();
    const { keyboard } = target.page();
    const isFresh = await target.evaluate(
      (one) => one.ownerDocument.activeElement === one.ownerDocument.body && one.closest('#main') !== null,
    );
    if (isFresh) {
      await keyboard.press('Tab');
      await keyboard.press('Enter');
    }
    for (let stop = 0; stop < stopsMax; stop += 1) {
      if (await isFocused(target)) return;
      await keyboard.press('Tab');
    }
    throw new Error(`${target} is not focused after ${stopsMax} stops`);
  }

  test('a person signs in', async (context) => {
    const { page } = await suite.openTab(context);
    await page.goto('/console/');
    await tabTo(page.getByLabel('Email'));
    await page.keyboard.type(people.owner.email);
    await page.keyboard.press('Tab');
    expect(await isFocused(page.getByLabel('Password', { exact: true }))).toBe(true);
    await page.keyboard.type(people.owner.password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  });

  test('the first stop skips to the content', async (context) => {
    const page = await open(context, 'payments');
    await page.keyboard.press('Tab');
    const skip = page.getByRole('link', { name: 'Skip to the content' });
    expect(await isFocused(skip)).toBe(true);
    expect(await skip.boundingBox(), 'position while it is focused').toMatchObject({ x: 8, y: 8 });
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await isInside(page.getByRole('main'))).toBe(true);
  });

  test('every focused element has a visible outline', async (context) => {
    const page = await open(context, 'payments');
    const invisible = new Set<string>();
    let stops = 0;
    for (; stops < stopsMax; stops += 1) {
      await page.keyboard.press('Tab');
      const name = await page.evaluate(`(() => {
        const one = document.activeElement;
        if (one === document.body) return null;
        // A date field draws the focus of its parts itself.
        if (one.type === 'date') return '';
        const shows = (pseudo) => {
          const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one, pseudo);
          return (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none';
        };
        return shows(null) || shows('::after') ? '' : one.outerHTML.slice(0, 120);
      })()`);
      // After the last element the focus leaves the page.
      if (name === null) break;
      if (name !== '') invisible.add(String(name));
    }
    expect([...invisible]).toEqual([]);
    expect(stops).toBeGreaterThan(20);
  });

  test('after a navigation the heading has the focus', async (context) => {
    const page = await open(context, 'payments');
    await tabTo(page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Ledger' }));
    await page.keyboard.press('Enter');
    const heading = page.getByRole('heading', { level: 1, name: 'Ledger' });
    await heading.waitFor();
    await untilFocused(heading);
  });

  test('Ctrl+K finds a payment by its reference, and a page by its name', async (context) => {
    const page = await open(context, 'customers');
    await page.keyboard.press('Control+K');
    await palette(page).getByRole('combobox').waitFor();
    await page.keyboard.type('order-10');
    const hit = palette(page).getByRole('option', { name: /order-1001/ });
    await hit.waitFor();
    const others = palette(page).getByRole('option', { name: /invoice-7/ });
    expect(await others.count()).toBe(0);
    for (let stop = 0; stop < 5 && (await hit.getAttribute('aria-selected')) !== 'true'; stop += 1)
      await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: /12\.50/ }).waitFor();
    expect(page.url()).toContain(`/payments/${payment.id}`);
    await palette(page).waitFor({ state: 'detached' });

    await page.keyboard.press('Control+K');
    await palette(page).getByRole('combobox').waitFor();
    await page.keyboard.type('ledg');
    await palette(page)
      .getByRole('option', { name: /Ledger/ })
      .first()
      .waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Ledger' }).waitFor();
  });

  test('a dialog keeps the focus inside, and Escape closes it', async (context) => {
    const page = await open(context, 'payments');
    await tabTo(page.getByRole('button', { name: 'Create payment' }).first());
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Create payment' });
    await dialog.waitFor();
    expect(await isInside(dialog)).toBe(true);
    for (const key of ['Tab', 'Shift+Tab'])
      for (let stop = 0; stop < 30; stop += 1) {
        await page.keyboard.press(key);
        expect(await isInside(dialog), `${key} ${stop}`).toBe(true);
      }
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  test('Escape returns the focus to the element that opened a dialog, the palette or a question', async (context) => {
    const page = await open(context, 'payments');
    const home = page.url().replace(/\/payments.*/, '');
    for (const [path, button, key, role] of [
      ['payments', 'Create payment', 'Enter', 'dialog'],
      ['customers', 'Create customer', 'Control+K', 'dialog'],
      [`payments/${payment.id}`, 'Actions', 'Enter', 'alertdialog'],
    ] as const) {
      await page.goto(`${home}/${path}`, { waitUntil: 'domcontentloaded' });
      await untilLoaded(page);
      const opener = page.getByRole('button', { name: button }).first();
      await tabTo(opener);
      await page.keyboard.press(key);
      if (button === 'Actions') await page.getByRole('menuitem', { name: 'Cancel…' }).press('Enter');
      await pressEscape(page.getByRole(role));
      await page.getByRole(role).waitFor({ state: 'detached' });
      await untilFocused(opener);
    }
  });

  test('Escape asks before it closes the dialog with a new key', async (context) => {
    const page = await open(context, 'keys');
    await tabTo(page.getByRole('button', { name: 'Create key' }));
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Create API key' }).waitFor();
    await page.keyboard.type('By keyboard');
    await page.keyboard.press('Enter');
    const created = page.getByRole('dialog', { name: 'API key created' });
    await pressEscape(created);
    const question = page.getByRole('alertdialog', { name: 'Close without the API key?' });
    await pressEscape(question);
    await question.waitFor({ state: 'detached' });
    await created.getByRole('button', { name: 'Done' }).press('Enter');
    await created.waitFor({ state: 'detached' });
  });

  test('a payment is created', async (context) => {
    const page = await open(context, 'payments');
    await tabTo(page.getByRole('button', { name: 'Create payment' }).first());
    await page.keyboard.press('Enter');
    await tabTo(page.getByRole('dialog', { name: 'Create payment' }).getByLabel('Amount'));
    await page.keyboard.type('42.42');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: /42\.42/ }).waitFor();
    const [newest] = await suite.organization('Acme').api.list('payments?limit=1');
    expect(newest).toMatchObject({ amount: 4242 });
  });

  test('the arrow keys move through a menu, and Escape returns the focus', async (context) => {
    const page = await open(context, 'payments');
    const opener = page.getByRole('button', { name: /account of/ });
    await tabTo(opener);
    await page.keyboard.press('Enter');
    const item = page.getByRole('menuitem', { name: 'Account' });
    await item.waitFor();
    await untilFocused(item);
    await page.keyboard.press('ArrowDown');
    await untilFocused(page.getByRole('menuitem', { name: 'Sign out' }));
    await page.keyboard.press('Escape');
    await item.waitFor({ state: 'detached' });
    await untilFocused(opener);
  });

  test('records, webhooks, faults, lists and the clock are operated', async (context) => {
    const { api } = suite.organization('Acme');
    const { id } = await api.post('payments', { amount: 1250, currency: 'EUR', captureMethod: 'manual' });
    await api.post(`payments/${id}/advance`, { action: 'authorize' });
    const webhook = await api.post('webhooks', { url: 'http://127.0.0.1:9/hooks' });
    const plan = await api.post('fault_plans', {
      on: 'requests',
      fault: { type: 'error', code: 'service_unavailable' },
      count: 5,
      operations: ['createTransfer'],
    });
    const page = await open(context, `payments/${id}`);
    const { keyboard } = page;
    const press = async (target: Locator) => {
      await tabTo(target);
      await keyboard.press('Enter');
    };
    const choose = async (menu: string, name: string) => {
      await press(page.getByRole('button', { name: menu }));
      const item = page.getByRole('menuitem', { name, exact: true });
      const items = page.getByRole('menuitem');
      await vi.waitUntil(() => items.evaluateAll((all) => all.some((one) => one.matches(':focus'))), {
        ...{ timeout: waitMs, interval: 20 },
      });
      await keyboard.press('Home');
      for (let stop = 0; stop < 20 && !(await isFocused(item)); stop += 1) await keyboard.press('ArrowDown');
      await keyboard.press('Enter');
    };
    const load = async (path: string) => {
      await page.goto(`/console/${suite.organization('Acme').id}/${path}`, { waitUntil: 'domcontentloaded' });
      await untilLoaded(page);
    };
    await step('capture a payment and refund it', async () => {
      for (const action of ['Capture', 'Refund']) {
        await choose('Actions', `${action}…`);
        const dialog = page.getByRole('dialog', { name: action });
        await dialog.locator('input:focus').first().waitFor();
        await keyboard.press('Enter');
        await dialog.waitFor({ state: 'detached' });
        // The menu has other items then.
        if (action === 'Capture') await page.getByRole('button', { name: 'Next: Settle' }).waitFor();
      }
      expect(await api.get(`payments/${id}`)).toMatchObject({ amountCaptured: 1250, amountRefunded: 1250 });
    });
    await step('rotate a webhook secret', async () => {
      await load(`webhooks/${webhook.id}`);
      await choose('More actions', 'Rotate secret…');
      await press(page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }));
      const created = page.getByRole('dialog', { name: 'Save the new signing secret' });
      expect(await created.locator('[data-secret]').innerText()).not.toBe(webhook.secret);
      await press(created.getByRole('button', { name: 'Done' }));
      await created.waitFor({ state: 'detached' });
    });
    await step('end a fault', async () => {
      await load('faults');
      await press(page.getByRole('button', { name: /^End plan: / }).first());
      await press(page.getByRole('alertdialog').getByRole('button', { name: 'End plan' }));
      await page.getByRole('alertdialog').waitFor({ state: 'detached' });
      expect(await api.get(`fault_plans/${plan.id}`)).toMatchObject({ status: 'canceled' });
    });
    await step('choose a filter and export the list', async () => {
      await load('payments');
      await press(page.getByRole('button', { name: 'Reference' }));
      await tabTo(page.getByRole('textbox', { name: 'Reference' }));
      await keyboard.type('order-1001');
      await keyboard.press('Enter');
      const rows = page.getByRole('table', { name: 'Payments' }).getByRole('row');
      await rows.filter({ hasText: 'invoice-7' }).waitFor({ state: 'detached' });
      const download = page.waitForEvent('download');
      await press(page.getByRole('button', { name: 'Export CSV' }));
      expect((await download).suggestedFilename()).toBe('payments.csv');
    });
    await step('advance the clock', async () => {
      const offset = async () => Number((await api.get('clock')).offsetSeconds);
      await press(page.getByRole('button', { name: /^Application clock/ }));
      const panel = page.getByRole('dialog', { name: 'Application clock' });
      await press(panel.getByRole('button', { name: '+1 hour' }));
      await panel.getByText(/processed|Nothing was due/).waitFor();
      expect(await offset()).toBeGreaterThan(3_500);
      await press(panel.getByRole('button', { name: 'Reset…' }));
      await press(page.getByRole('alertdialog').getByRole('button', { name: 'Reset clock' }));
      await panel.getByText('Real time.', { exact: true }).waitFor();
      expect(await offset()).toBe(0);
    });
  });

  test('the focus moves to the next row when an action removes the menu of its row', async (context) => {
    const { id, applicationId } = suite.organization('Acme');
    for (const name of ['First', 'Second'])
      await suite
        .session('owner')
        .post(`${id}/${applicationId}/api_keys`, { name, scopes: ['payments:read'] });
    const page = await open(context, 'keys');
    const menu = (name: string) => page.getByRole('button', { name: `Actions for ${name}`, exact: true });
    await menu('Second').press('Enter');
    await page.getByRole('menuitem', { name: 'Revoke…' }).press('Enter');
    await page
      .getByRole('alertdialog')
      .getByRole('button', { name: /^Revoke/ })
      .press('Enter');
    await menu('Second').waitFor({ state: 'detached' });
    await untilFocused(menu('First'));
  });
});
