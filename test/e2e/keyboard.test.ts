import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import {
  describeInBrowser,
  openBrowser,
  openWindow,
  signedInState,
  untilLoaded,
  type Watched,
} from '../support/browser.ts';
import { type ServerProcess, startServer } from '../support/processes.ts';
import { type Body, callerOf, type Folder, temporaryFolder } from './caller.ts';

const key = 'sbk_sandbox_0123456789abcdefghijABCDEFGHIJ01';
const owner = { email: 'olga@acme.test', password: 'correct horse battery' };
const scopes = ['payments:read', 'payments:write'];
const seed = {
  organizations: [
    {
      name: 'Acme',
      users: [{ ...owner, role: 'owner' }],
      applications: [{ name: 'Web shop', apiKeys: [{ name: 'Checkout server', key, scopes }] }],
    },
  ],
};

/** More than any page here has stops. */
const stopsMax = 80;

describeInBrowser('with the keyboard alone', () => {
  let folder: Folder;
  let server: ServerProcess;
  let browser: Browser;
  let watched: Watched;
  let page: Page;
  let payment: Body;
  let home = '';

  beforeAll(async () => {
    folder = temporaryFolder();
    [server, browser] = await Promise.all([
      startServer({ dataDir: folder.data, seed: folder.seed(seed) }),
      openBrowser(),
    ]);
    const caller = callerOf(server.url, key);
    payment = await caller.post('payments', { amount: 1250, currency: 'EUR', reference: 'order-1001' });
    await caller.post('payments', { amount: 990, currency: 'EUR', reference: 'invoice-7' });
    watched = await openWindow(browser, server.url, {
      signedIn: await signedInState(browser, server.url, owner),
    });
    page = watched.page;
    await open('');
    home = new URL(page.url()).pathname;
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    folder.remove();
  });
  afterEach(() => {
    expect(watched.complaints, 'what the browser complained of').toEqual([]);
  });

  const open = async (name: string) => {
    await page.goto(home === '' ? '/console/' : `${home}/${name}`);
    await untilLoaded(page);
  };
  const press = (...keys: readonly string[]) =>
    keys.reduce((before, one) => before.then(() => page.keyboard.press(one)), Promise.resolve());
  const isFocused = (target: Locator) => target.evaluate((one) => one === one.ownerDocument.activeElement);
  const isInside = (target: Locator) =>
    target.evaluate((one) => one.contains(one.ownerDocument.activeElement));

  const untilFocused = (target: Locator) =>
    vi.waitFor(async () => expect(await isFocused(target), `${target} has the focus`).toBe(true), 60_000);

  const palette = () => page.getByRole('dialog', { name: 'Search and commands' });

  /** Goes on with Tab until it is there. */
  async function reach(target: Locator, from: Page = page): Promise<void> {
    await target.waitFor();
    for (let stop = 0; stop < stopsMax; stop += 1) {
      if (await isFocused(target)) return;
      await from.keyboard.press('Tab');
    }
    throw new Error(`${target} has no focus after ${stopsMax} stops`);
  }

  test('somebody signs in', async () => {
    const { page: other, complaints, context } = await openWindow(browser, server.url);
    await other.goto('/console/');
    await reach(other.getByLabel('Email'), other);
    await other.keyboard.type(owner.email);
    await other.keyboard.press('Tab');
    expect(await isFocused(other.getByLabel('Password', { exact: true }))).toBe(true);
    await other.keyboard.type(owner.password);
    await other.keyboard.press('Enter');
    await other.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('the first stop skips to the content', async () => {
    await open('payments');
    await press('Tab');
    const skip = page.getByRole('link', { name: 'Skip to the content' });
    expect(await isFocused(skip)).toBe(true);
    expect(await skip.boundingBox(), 'it is shown while it has the focus').toMatchObject({ x: 8, y: 8 });
    await press('Enter', 'Tab');
    expect(await isInside(page.getByRole('main'))).toBe(true);
  });

  test('every stop can be seen: what has the focus has an outline', async () => {
    await open('payments');
    const unseen = new Set<string>();
    for (let stop = 0; stop < stopsMax; stop += 1) {
      await press('Tab');
      const name = await page.evaluate(`(() => {
        const one = document.activeElement;
        // A field for a date draws the focus of its parts itself.
        if (one === document.body || one.type === 'date') return '';
        const shows = (pseudo) => {
          const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one, pseudo);
          return (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none';
        };
        return shows(null) || shows('::after') ? '' : one.outerHTML.slice(0, 120);
      })()`);
      if (name !== '') unseen.add(String(name));
    }
    expect([...unseen]).toEqual([]);
  });

  test('a page that was gone to has the focus on its heading', async () => {
    await open('payments');
    await reach(page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Ledger' }));
    await press('Enter');
    const heading = page.getByRole('heading', { level: 1, name: 'Ledger' });
    await heading.waitFor();
    await untilFocused(heading);
  });

  test('Ctrl-K finds a payment by its reference and opens it', async () => {
    await open('customers');
    await press('Control+K');
    await palette().getByRole('combobox').waitFor();
    await page.keyboard.type('order-10');
    const hit = palette().getByRole('option', { name: /order-1001/ });
    await hit.waitFor();
    expect(
      await palette()
        .getByRole('option', { name: /invoice-7/ })
        .count(),
    ).toBe(0);
    for (let step = 0; step < 5 && (await hit.getAttribute('aria-selected')) !== 'true'; step += 1)
      await press('ArrowDown');
    await press('Enter');
    await page.getByRole('heading', { level: 1, name: /12\.50/ }).waitFor();
    expect(page.url()).toContain(`/payments/${payment.id}`);
    await palette().waitFor({ state: 'detached' });
  });

  test('Ctrl-K finds a page by its name', async () => {
    await open('customers');
    await press('Control+K');
    await palette().getByRole('combobox').waitFor();
    await page.keyboard.type('ledg');
    await press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Ledger' }).waitFor();
  });

  test('a dialog takes the focus and keeps it, and Escape closes it', async () => {
    await open('payments');
    await reach(page.getByRole('button', { name: 'Create payment' }).first());
    await press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Create payment' });
    await dialog.waitFor();
    expect(await isInside(dialog)).toBe(true);
    for (const step of ['Tab', 'Shift+Tab'])
      for (let stop = 0; stop < 30; stop += 1) {
        await press(step);
        expect(await isInside(dialog), `${step} ${stop}`).toBe(true);
      }
    await press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  test.each([
    ['a dialog', 'payments', 'Create payment', 'Enter'],
    ['the palette', 'customers', 'Create customer', 'Control+K'],
    ['a question', 'payments', 'Cancel…', 'Enter'],
  ])('%s gives the focus back when Escape closes it', async (_what, name, button, opens) => {
    await open(name);
    if (button === 'Cancel…') await open(`payments/${payment.id}`);
    const opener = page.getByRole('button', { name: button }).first();
    await reach(opener);
    await press(opens);
    const dialog = page.getByRole(button === 'Cancel…' ? 'alertdialog' : 'dialog');
    await dialog.waitFor();
    await press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await untilFocused(opener);
  });

  test('a key that was just made does not vanish by a slip: Escape asks first', async () => {
    await open('keys');
    await reach(page.getByRole('button', { name: 'Create key' }));
    await press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Create API key' });
    await dialog.waitFor();
    await page.keyboard.type('By keyboard');
    await press('Enter');
    const made = page.getByRole('dialog', { name: 'API key created' });
    await made.waitFor();
    await press('Escape');
    const asked = page.getByRole('alertdialog', { name: 'Close without the API key?' });
    await asked.waitFor();
    await press('Escape');
    await asked.waitFor({ state: 'detached' });
    await made.getByRole('button', { name: 'I have kept the API key' }).press('Enter');
    await made.waitFor({ state: 'detached' });
  });

  test('a payment is made without a mouse', async () => {
    await open('payments');
    await reach(page.getByRole('button', { name: 'Create payment' }).first());
    await press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Create payment' });
    await reach(dialog.getByLabel('Amount'));
    await page.keyboard.type('42.42');
    await press('Enter');
    await page.getByRole('heading', { level: 1, name: /42\.42/ }).waitFor();
  });

  test('a menu is walked with the arrows, and Escape gives the focus back', async () => {
    await open('payments');
    const opener = page.getByRole('button', { name: /account of/ });
    await reach(opener);
    await press('Enter');
    const item = page.getByRole('menuitem', { name: 'Account' });
    await item.waitFor();
    await untilFocused(item);
    await press('ArrowDown');
    await untilFocused(page.getByRole('menuitem', { name: 'Sign out' }));
    await press('Escape');
    await item.waitFor({ state: 'detached' });
    await untilFocused(opener);
  });
});
