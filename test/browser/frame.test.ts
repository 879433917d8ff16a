/** What is around every page: shortcuts, the palette, badges of the sidebar, the header, and JSON. */
import type { Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import {
  clipboardOf,
  describeInBrowser,
  expectAccessible,
  expectNoOverflow,
  phone,
  pressEscape,
  step,
  untilLoaded,
  untilStill,
  waitMs,
} from '../support/browser.ts';
import { openReceiver } from '../support/receiver.ts';
import type { Body } from './api.ts';
import { useConsole } from './console.ts';

const money = { amount: 1_250, currency: 'EUR' };
const longName = 'Coffee Roasters of the North';

describeInBrowser('the frame', () => {
  const suite = useConsole({
    organizations: ['Two', 'Shortcuts', 'Palette', 'Badges', 'Json', 'Switcher', 'Keys', 'Actions', longName],
  });
  const navigation = (page: Page) => page.getByRole('navigation', { name: 'Main' });

  test('? lists the shortcuts, and g p goes to the payments', async (context) => {
    const page = await suite.open(context, 'developer', 'Shortcuts', 'customers');
    await page.keyboard.press('?');
    const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await sheet.getByText('Select the focused row').waitFor();
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    await page.keyboard.press('g');
    await page.keyboard.press('p');
    await page.getByRole('heading', { level: 1, name: 'Payments' }).waitFor();
    await untilLoaded(page);
    await page.keyboard.press('n');
    await page.getByRole('dialog', { name: 'Create payment' }).getByLabel('Amount').fill('g');
    // In a field, keys are text.
    await page.keyboard.press('p');
    expect(page.url()).toContain('/payments');
  });

  test('every page has a key, and n creates what the list contains', async (context) => {
    const { api } = suite.organization('Shortcuts');
    const page = await suite.open(context, 'owner', 'Shortcuts', 'ledger');
    await page.keyboard.press('?');
    const rows = page.getByRole('dialog').locator('section').last().locator('dl > div');
    const keys = await rows.evaluateAll((all) =>
      all.map((one) => [
        one.querySelector('dt')?.textContent,
        one.querySelector('kbd:last-child')?.textContent,
      ]),
    );
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(keys.map(([label]) => label)).toEqual(
      await navigation(page)
        .getByRole('link')
        .evaluateAll((links) => links.map((link) => link.firstChild?.nextSibling?.textContent)),
    );
    const forms = new Map([
      ['Refunds', 'Create payment'],
      ['Transfers', 'Create transfer'],
      ['Webhooks', 'Create webhook'],
      ['Events', 'Create event'],
      ['Faults', 'Create fault plan'],
      ['API keys', 'Create API key'],
      ['Applications', 'Create application'],
      ['Members', 'Invite a member'],
    ]);
    for (const [label = '', key = ''] of keys as readonly (readonly string[])[])
      await step(`g ${key}: ${label}`, async () => {
        await page.keyboard.press('g');
        await page.keyboard.press(key);
        await page.getByRole('heading', { level: 1, name: label, exact: true }).waitFor();
        const name = forms.get(label);
        if (name === undefined) return;
        await page.keyboard.press('n');
        await pressEscape(page.getByRole('dialog', { name }));
        await page.getByRole('dialog').waitFor({ state: 'detached' });
      });
    await step('n on the customers creates one', async () => {
      await page.keyboard.press('g');
      await page.keyboard.press('c');
      await page.getByRole('heading', { level: 1, name: 'Customers' }).waitFor();
      await page.keyboard.press('n');
      await page.getByRole('dialog', { name: 'Create customer' }).getByLabel('Name').fill('Ada Lovelace');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Ada Lovelace' }).waitFor();
      expect(await api.list('customers')).toMatchObject([{ name: 'Ada Lovelace' }]);
    });
  });

  test('the keys of every page have their effect', async (context) => {
    const { api } = suite.organization('Keys');
    for (const reference of ['first', 'second']) await api.post('payments', { ...money, reference });
    const page = await suite.open(context, 'developer', 'Keys', 'payments');
    const row = (reference: string) => page.getByRole('row', { name: new RegExp(reference) });
    await step('. pauses, r refreshes, . resumes', async () => {
      await page.getByRole('button', { name: /^Live\./ }).waitFor();
      await page.keyboard.press('.');
      await page.getByRole('button', { name: /^Paused\./ }).waitFor();
      await api.post('payments', { ...money, reference: 'third' });
      await page.keyboard.press('r');
      await row('third').waitFor();
      await page.keyboard.press('.');
      await page.getByRole('button', { name: /^Live\./ }).waitFor();
    });
    await step('/ and Ctrl K search', async () => {
      for (const key of ['/', 'Control+K']) {
        await page.keyboard.press(key);
        await pressEscape(page.getByRole('dialog', { name: 'Search and commands' }));
        await page.getByRole('dialog').waitFor({ state: 'detached' });
      }
    });
  });

  test('the palette runs the actions of the open page, for the role of the person', async (context) => {
    const { api } = suite.organization('Actions');
    const { id } = await api.post('payments', { ...money, captureMethod: 'manual' });
    await api.post(`payments/${id}/advance`, { action: 'authorize' });
    const page = await suite.open(context, 'owner', 'Actions', `payments/${id}`);
    const palette = page.getByRole('dialog', { name: 'Search and commands' });
    const choose = async (option: string) => {
      await page.keyboard.press('Control+K');
      await palette.getByRole('combobox').fill(option);
      await palette.getByRole('option', { name: option, exact: true }).waitFor();
      await page.keyboard.press('Enter');
      await palette.waitFor({ state: 'detached' });
    };
    await step('capture opens the same dialog as the menu', async () => {
      await choose('Capture payment…');
      const dialog = page.getByRole('dialog', { name: 'Capture' });
      await dialog.getByRole('button', { name: 'Capture' }).click();
      await page.locator('[aria-current=step]', { hasText: 'Captured' }).waitFor();
      expect(await api.get(`payments/${id}`)).toMatchObject({ status: 'captured' });
    });
    await step('the next step runs at once', async () => {
      await choose('Next step: Settle');
      await page.locator('[aria-current=step]', { hasText: 'Settled' }).waitFor();
      expect(await api.get(`payments/${id}`)).toMatchObject({ status: 'settled' });
    });
    await step('a viewer is offered none of this', async () => {
      const other = await suite.open(context, 'viewer', 'Actions', `payments/${id}`);
      await other.keyboard.press('Control+K');
      const box = other.getByRole('dialog', { name: 'Search and commands' });
      for (const text of [
        'refund',
        'next',
        'go to',
        'inbox',
        'snapshot',
        'organization',
        'create',
        'clock',
      ]) {
        await box.getByRole('combobox').fill(text);
        const names = await box.getByRole('option').allInnerTexts();
        const writes = /payment…|^Next|^Go to state|inbox|snapshot|^(Fork|Reset) org|^Create|^Clock: /;
        expect(names.filter((name) => writes.test(name))).toEqual([]);
      }
      await other.close();
    });
    await step('the list is exported', async () => {
      await navigation(page).getByRole('link', { name: 'Payments' }).click();
      await page.getByRole('row', { name: /12\.50/ }).waitFor();
      const download = page.waitForEvent('download');
      await choose('Export CSV');
      expect((await download).suggestedFilename()).toBe('payments.csv');
    });
    await step('the sheet of shortcuts, the copies of the organization, and the inbox', async () => {
      for (const [option, dialog] of [
        ['Keyboard shortcuts', 'Keyboard shortcuts'],
        ['Restore snapshot…', 'Restore snapshot'],
        ['Fork organization…', 'Fork organization'],
        ['Reset organization…', 'Delete all records of Actions?'],
      ] as const) {
        await choose(option);
        await pressEscape(page.getByRole('dialog', { name: dialog }));
        await page.getByRole('dialog').waitFor({ state: 'detached' });
      }
      await choose('Download snapshot');
      await page.getByRole('link', { name: 'Download snapshot' }).waitFor();
      await choose('Open webhook inbox');
      await page.waitForURL(/\/webhooks\/[^/]+\/inbox/);
      expect(await api.list('webhooks')).toHaveLength(1);
    });
  });

  test('a page that is opened while the server does not respond says so, and opens when it responds again', async (context) => {
    const page = await suite.open(context, 'viewer', 'Keys', 'customers', {
      ignoreComplaints: /ERR_INTERNET_DISCONNECTED|The server did not respond/,
    });
    const expectReopened = async (heading: string) => {
      const alert = page.getByRole('alert').filter({ hasText: 'The server did not respond.' });
      await alert.waitFor();
      await alert.getByRole('button', { name: 'Try again' }).click();
      await alert.waitFor();
      await page.context().setOffline(false);
      await alert.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    };
    await step('a page of the organization', async () => {
      await page.context().setOffline(true);
      // With the keyboard, because a pointer loads the page before the click.
      await navigation(page).getByRole('link', { name: 'Disputes' }).press('Enter');
      await expectReopened('Disputes');
      expect(page.url()).toContain('/disputes');
    });
    await step('the account', async () => {
      await page.getByRole('button', { name: /account of/ }).click();
      await page.context().setOffline(true);
      await page.getByRole('menuitem', { name: 'Account' }).press('Enter');
      await expectReopened('Account');
    });
    await step('a part of a page', async () => {
      await page.goBack();
      await untilLoaded(page);
      await page.context().setOffline(true);
      await page.keyboard.press('Control+k');
      await expectReopened('Disputes');
    });
  });

  test('the documentation opens in a new tab', async (context) => {
    const page = await suite.open(context, 'viewer', 'Keys', 'customers');
    const opened = page.context().waitForEvent('page');
    await page.getByRole('complementary').getByRole('link', { name: 'Documentation' }).click();
    const docs = await opened;
    await docs.getByRole('heading', { level: 1 }).first().waitFor();
    expect(new URL(docs.url()).pathname).toMatch(/^\/docs/);
    expect(page.url()).toContain('/customers');
  });

  test('the palette opens recent records, and its actions have their effect', async (context) => {
    const { api, id, applicationId } = suite.organization('Palette');
    const customer = await api.post('customers', { name: 'Ada Lovelace' });
    const page = await suite.open(context, 'developer', 'Palette', `customers/${customer.id}`);
    const palette = page.getByRole('dialog', { name: 'Search and commands' });
    const choose = async (text: string, option: string | RegExp) => {
      await page.keyboard.press('Control+K');
      await palette.getByRole('combobox').fill(text);
      await palette.getByRole('option', { name: option }).first().click();
      await palette.waitFor({ state: 'detached' });
    };
    await step('a record that was open before', async () => {
      await navigation(page).getByRole('link', { name: 'Ledger' }).click();
      await page.getByRole('heading', { level: 1, name: 'Ledger' }).waitFor();
      await page.keyboard.press('Control+K');
      await palette.getByText('Recent', { exact: true }).waitFor();
      await palette.getByRole('option', { name: customer.id }).click();
      await page.getByRole('heading', { level: 1, name: 'Ada Lovelace' }).waitFor();
    });
    await step('freeze the clock', async () => {
      await choose('clock: freeze', 'Clock: freeze');
      await page.getByText('Clock frozen').waitFor();
      expect((await api.get('clock')).status).toBe('frozen');
    });
    await step('switch the theme', async () => {
      await choose('theme', 'Theme: dark');
      await page.locator('html[data-theme=dark]').waitFor();
    });
    await step('switch the application', async () => {
      const second = await suite.session('owner').post(`${id}/applications`, { name: 'Mobile app' });
      await page.getByRole('button', { name: 'Refresh' }).click();
      await choose('mobile', 'Switch to application Mobile app');
      await page.getByRole('button', { name: /^Organization and application: .*Mobile app/ }).waitFor();
      expect(second.id).not.toBe(applicationId);
    });
    await step('create a payment', async () => {
      await choose('create pay', 'Create payment');
      await page.getByRole('dialog', { name: 'Create payment' }).waitFor();
    });
  });

  test('the switcher finds one of many applications with the keyboard', async (context) => {
    const { id } = suite.organization('Switcher');
    const owner = suite.session('owner');
    const names = Array.from({ length: 11 }, (_, index) => `Shop ${index + 1}`);
    for (const name of names) await owner.post(`${id}/applications`, { name });
    const page = await suite.open(context, 'developer', 'Switcher', 'customers');
    const trigger = page.getByRole('button', { name: /^Organization and application: / });
    const panel = page.getByRole('dialog', { name: 'Organization and application' });
    const options = panel.getByRole('option');
    const search = panel.getByRole('combobox').and(page.locator(':focus'));
    await step('it lists all applications with a dot, in a bounded height', async () => {
      await trigger.press('Enter');
      await search.waitFor();
      expect(await panel.getByRole('group', { name: 'Application' }).getByRole('option').count()).toBe(12);
      expect(await options.locator('[class*=bg-dot-]').count()).toBe(12);
      expect((await panel.boundingBox())?.height).toBeLessThan(500);
      await untilStill(page);
      await expectAccessible(page, 'the switcher with many applications', { except: ['region'] });
    });
    await step('Escape returns the focus to the button', async () => {
      await page.keyboard.press('Escape');
      await panel.waitFor({ state: 'detached' });
      await trigger.and(page.locator(':focus')).waitFor();
    });
    await step('type, choose with the arrow keys and Enter', async () => {
      await trigger.press('Enter');
      await search.waitFor();
      await page.keyboard.type('shop 1');
      await vi.waitFor(async () => expect(await options.count()).toBe(3), waitMs);
      const target = panel.getByRole('option', { name: 'Shop 11' });
      for (let stop = 0; stop < 3 && (await target.getAttribute('aria-selected')) !== 'true'; stop += 1)
        await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await panel.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: /^Organization and application: .*Shop 11/ }).waitFor();
    });
    await step('a page of the application shows it: its key is created there', async () => {
      await navigation(page).getByRole('link', { name: 'API keys' }).click();
      await page.getByText('No API keys yet').waitFor();
      const applications = (await owner.get(`${id}/applications?limit=100`)).data as readonly Body[];
      const chosen = applications.find(({ name }) => name === 'Shop 11');
      expect(new URL(page.url()).searchParams.get('app')).toBe(chosen?.id);
    });
  });

  test('the application is greyed on pages of the whole organization, which says what it is used for', async (context) => {
    const page = await suite.open(context, 'viewer', 'Badges', 'payments');
    const switcher = page.getByRole('button', { name: /^Organization and application: / });
    const read = async () => ({
      title: await switcher.getAttribute('title'),
      colour: await switcher
        .getByText('Web shop')
        .evaluate((name) => name.ownerDocument.defaultView?.getComputedStyle(name).color),
    });
    const onPayments = await read();
    expect(onPayments.title).toBe(
      'This page shows all applications. Web shop is used for the clock and for what you create.',
    );
    await navigation(page).getByRole('link', { name: 'API keys' }).click();
    await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
    const onKeys = await read();
    expect(onKeys.title).toBeNull();
    expect(onKeys.colour).not.toBe(onPayments.colour);
  });

  test('the page Applications promises only what each application really has', async (context) => {
    const { api } = suite.organization('Two');
    const page = await suite.open(context, 'developer', 'Two', 'applications');
    await page.getByText('Each application has its own API keys, webhooks, settings and clock.').waitFor();
    await page.getByRole('button', { name: 'Create application' }).click();
    const form = page.getByRole('dialog', { name: 'Create application' });
    await form.getByText('Records and the ledger belong to the organization.').waitFor();
    await form.getByLabel('Name').fill('Second');
    await form.getByRole('button', { name: 'Create application' }).click();
    await page.getByRole('button', { name: /^Organization and application: .*Second/ }).waitFor();
    await api.post('payments', { amount: 4321, currency: 'EUR', reference: 'of-the-first' });
    await navigation(page).getByRole('link', { name: 'Payments', exact: true }).click();
    await page.getByRole('row', { name: /of-the-first/ }).waitFor();
  });

  test('the sidebar counts open disputes, active faults and webhooks that failed', async (context) => {
    const { api } = suite.organization('Badges');
    const receiver = await openReceiver((_received, response) => response.writeHead(410).end());
    context.onTestFinished(() => receiver.close());
    const page = await suite.open(context, 'viewer', 'Badges', 'customers');
    await page.getByRole('button', { name: /^Live\./ }).waitFor();
    const badge = (name: string) => navigation(page).getByRole('link', { name, exact: true });
    await badge('Disputes').waitFor();
    const { id } = await api.post('payments', money);
    await api.post(`payments/${id}/advance`, { to: 'disputed' });
    await badge('Disputes 1 need a response').waitFor();
    const fault = { type: 'error', code: 'service_unavailable' };
    await api.post('fault_plans', { on: 'requests', fault, count: 5, operations: ['createTransfer'] });
    await badge('Faults 1 active').waitFor();
    // An endpoint that is gone is disabled after its first response.
    await api.post('webhooks', { url: receiver.url });
    await api.post('customers', { name: 'Ada' });
    await badge('Webhooks 1 disabled after failures').waitFor();
  });

  test('JSON is folded, shown as text, copied, and its ids are links', async (context) => {
    const { api } = suite.organization('Json');
    const customer = await api.post('customers', { name: 'Ada Lovelace', metadata: { plan: 'gold' } });
    const { id } = await api.post('payments', {
      ...money,
      customerId: customer.id,
      metadata: { cart: '17' },
    });
    const page = await suite.open(context, 'viewer', 'Json', `payments/${id}`);
    await page.getByRole('button', { name: 'JSON', exact: true }).click();
    const view = page
      .locator('figure')
      .filter({ has: page.getByRole('button', { name: 'Pretty' }) })
      .first();
    await step('fold and unfold', async () => {
      await view.getByText('"cart"').waitFor();
      await view.getByRole('button', { name: 'Collapse metadata' }).click();
      await view.getByText('"cart"').waitFor({ state: 'detached' });
      await view.getByText('1 fields').waitFor();
      await view.getByRole('button', { name: 'Expand metadata' }).click();
      await view.getByText('"cart"').waitFor();
    });
    await step('raw, and copied as it is shown', async () => {
      await view.getByRole('button', { name: 'Raw' }).click();
      const text = await view.locator('pre').innerText();
      expect(JSON.parse(text)).toMatchObject({ id, metadata: { cart: '17' } });
      await view.getByRole('button', { name: 'Copy JSON' }).click();
      expect(JSON.parse(await clipboardOf(page))).toMatchObject({ id });
      await view.getByRole('button', { name: 'Pretty' }).click();
    });
    await step('an id leads to its record', async () => {
      await view.getByRole('link', { name: customer.id }).click();
      await page.getByRole('heading', { level: 1, name: 'Ada Lovelace' }).waitFor();
    });
  });

  test('the link to the documentation is visible in a low window, and the pages above it scroll', async (context) => {
    const page = await suite.open(context, 'viewer', 'Json', 'customers', {
      viewport: { width: 1280, height: 600 },
    });
    const docs = page.getByRole('complementary').getByRole('link', { name: 'Documentation' });
    const box = await docs.boundingBox();
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(600);
    const last = navigation(page).getByRole('link', { name: 'Organization', exact: true });
    await last.focus();
    const lastBox = await last.boundingBox();
    expect((lastBox?.y ?? 0) + (lastBox?.height ?? 0)).toBeLessThanOrEqual(box?.y ?? 0);
    expect(await page.evaluate('window.scrollY')).toBe(0);
  });

  test('the header has room for long names, and nothing of it is cut off', async (context) => {
    for (const viewport of [{ width: 320, height: 700 }, phone, { width: 1024, height: 800 }]) {
      const page = await suite.open(context, 'developer', longName, 'payments', { viewport });
      await expectNoOverflow(page, `the header at ${viewport.width} px`);
      const switcher = page.getByRole('button', { name: /^Organization and application/ });
      const account = await page.getByRole('button', { name: /account of/ }).boundingBox();
      expect((account?.x ?? 0) + (account?.width ?? 0)).toBeLessThanOrEqual(viewport.width);
      const name = switcher.getByText('Web shop');
      const isCut = await name.evaluate((one) => one.scrollWidth > one.clientWidth);
      expect(isCut, `the application's name is cut off at ${viewport.width} px`).toBe(false);
    }
  });
});
