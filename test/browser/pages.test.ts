/**
 * Every page of the console, once with all axe rules in the light theme and once on a phone. The dark theme needs no run of axe
 * for each page: a unit test of the design tokens checks the contrast of both themes.
 *
 * The pages share tabs and are reached by in-app navigation, which takes half of the time of a full load.
 */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, type TestContext, test } from 'vitest';
import {
  describeInBrowser,
  desktop,
  expectAccessible,
  expectNoBackticks,
  expectNoOverflow,
  phone,
  pressEscape,
  type StorageState,
  type Tab,
  untilLoaded,
  untilStill,
  useBrowser,
} from '../support/browser.ts';
import { startServer } from '../support/processes.ts';
import { type ConsoleApi, consoleApiOf, visit } from './console.ts';
import { type ConsolePage, type Ids, pages, readIds, titleOf } from './page-list.ts';
import { createSampleData, owner, type SampleData, seed, viewer } from './sample-data.ts';

const smallLaptop = { width: 1024, height: 800 };
/** Amounts of the sample data with 12 digits may not fit beside the other columns. */
const hasHugeAmounts = ({ route }: ConsolePage) => route === 'payments' || route === 'reconciliation';

type PersonName = 'owner' | 'viewer' | 'nobody';

test('the list of pages contains every route of the router', () => {
  const router = readFileSync(new URL('../../console/frame/router.tsx', import.meta.url), 'utf8');
  const paths = [...router.matchAll(/(?:\bpath: |\bpage\()'([^']+)'/g)].map(([, path]) => path);
  expect(paths.length).toBeGreaterThan(30);
  const listed = new Set(pages.map(({ route }) => route));
  expect([...new Set(paths)].filter((path) => path === undefined || !listed.has(path))).toEqual([]);
});

describeInBrowser('console pages', () => {
  let data: SampleData;
  let ids: Ids;
  const states = new Map<PersonName, StorageState>();
  const suite = useBrowser({
    start: (folder) => startServer({ dataDir: folder.data, seed: folder.seed(seed) }),
    prepare: async ({ browser, url }) => {
      const signIn = async (who: PersonName, credentials: object): Promise<ConsoleApi> => {
        const context = await browser.newContext({ baseURL: url });
        const api = consoleApiOf(context.request);
        await api.post('session/sign_in', credentials);
        states.set(who, await context.storageState());
        return api;
      };
      const [created, ownerApi] = await Promise.all([
        createSampleData(url),
        signIn('owner', owner),
        signIn('viewer', viewer),
      ]);
      data = created;
      ids = await readIds(ownerApi, data);
    },
  });
  afterAll(async () => {
    await data?.close();
  });

  const borrowTab = (context: TestContext, who: PersonName): Promise<Tab> => {
    const storageState = states.get(who);
    return suite.borrowTab(context, who, storageState === undefined ? {} : { storageState });
  };

  /** The tables that are wider than their place. */
  const wideTables = (page: Page): Promise<string[]> =>
    page.evaluate(`[...document.querySelectorAll('section > table')]
      .filter((table) => table.scrollWidth > table.parentElement.clientWidth)
      .map((table) => table.caption.textContent)`);

  const headings = (page: Page) => page.getByRole('heading', { level: 1 });

  describe('with sample data', () => {
    for (const one of pages) {
      const title = titleOf(one);
      test.concurrent(`${title} is accessible and fits a phone`, async (context) => {
        const { page } = await borrowTab(context, one.by);
        await visit(page, one.address(ids));
        expect(await page.title()).toMatch(/^\S.* · Sandbank$/);
        await untilStill(page);
        await expectAccessible(page, title);
        await expectNoBackticks(page, title);
        await page.setViewportSize(phone);
        await untilStill(page);
        expect(await headings(page).count(), 'headings of level 1').toBe(1);
        expect(await headings(page).isVisible()).toBe(true);
        await expectNoOverflow(page, `${title} on a phone`);
        await page.setViewportSize(smallLaptop);
        await untilStill(page);
        if (!hasHugeAmounts(one)) expect(await wideTables(page), 'tables that scroll sideways').toEqual([]);
        await page.setViewportSize(desktop);
      });
    }
  });

  test('the theme of the operating system is applied, and its colours have enough contrast', async (context) => {
    const { page } = await suite.openTab(context, {
      theme: 'dark',
      storageState: states.get('owner') as StorageState,
    });
    await visit(page, `${ids.acme}/payments/${ids.payment.id}`);
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
    const background = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
    const dark = await background();
    await untilStill(page);
    await expectAccessible(page, 'a payment in the dark theme');
    await page.emulateMedia({ colorScheme: 'light' });
    await untilStill(page);
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('light');
    expect(await background()).not.toBe(dark);
  });

  const palette = (page: Page) => page.getByRole('dialog', { name: 'Search and commands' });

  const overlays: readonly (readonly [name: string, path: string, open: (page: Page) => Promise<void>])[] = [
    [
      'the dialog that creates a payment',
      'payments',
      async (page) => {
        await page.getByRole('button', { name: 'Create payment' }).first().click();
        await page.getByRole('dialog', { name: 'Create payment' }).getByLabel('Amount').waitFor();
      },
    ],
    [
      'the dialog that creates a key',
      'keys',
      async (page) => {
        await page.getByRole('button', { name: 'Create key' }).click();
        await page.getByRole('dialog', { name: 'Create API key' }).getByLabel('Name').waitFor();
      },
    ],
    [
      'the command palette',
      'payments',
      async (page) => {
        await page.keyboard.press('Control+K');
        await palette(page).getByRole('combobox').fill('order-');
        await palette(page)
          .getByRole('option', { name: /order-captured/ })
          .waitFor();
      },
    ],
    [
      'the clock',
      'payments',
      async (page) => {
        await page.getByRole('button', { name: /^Application clock/ }).click();
        await page.getByRole('button', { name: '+1 day' }).waitFor();
      },
    ],
    [
      'the account menu',
      'payments',
      async (page) => {
        await page.getByRole('button', { name: /account of/ }).click();
        await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
      },
    ],
    [
      'the menu of organizations and applications',
      'payments',
      async (page) => {
        await page.getByRole('button', { name: /^Organization and application/ }).click();
        await page.getByRole('option', { name: 'Organization settings' }).waitFor();
      },
    ],
  ];

  describe('overlays', () => {
    for (const [name, path, open] of overlays) {
      test.concurrent(`${name} is accessible and fits a phone`, async (context) => {
        const { page } = await borrowTab(context, 'owner');
        for (const viewport of [desktop, phone]) {
          await page.setViewportSize(viewport);
          await visit(page, `${ids.acme}/${path}`);
          await open(page);
          await untilStill(page);
          // An open menu is rendered outside of all landmarks.
          await expectAccessible(page, `${name}, ${viewport.width} px`, { except: ['region'] });
          await expectNoOverflow(page, name);
          await page.keyboard.press('Escape');
          await page.locator('[role=dialog], [role=menu]').first().waitFor({ state: 'detached' });
        }
        await page.setViewportSize(desktop);
      });
    }
  });

  test('the navigation menu of a phone is accessible and leads to every page', async (context) => {
    const { page } = await suite.openTab(context, {
      viewport: phone,
      storageState: states.get('owner') as StorageState,
    });
    await visit(page, `${ids.acme}/payments`);
    await expectAccessible(page, 'the list of payments on a phone');
    await page.getByRole('button', { name: 'Open menu' }).click();
    const menu = page.getByRole('dialog', { name: 'Menu' });
    await menu.waitFor();
    await untilStill(page);
    await expectAccessible(page, 'the navigation menu');
    expect(await menu.getByRole('link').count()).toBeGreaterThanOrEqual(17);
    await menu.getByRole('link', { name: 'Ledger' }).click();
    await page.getByRole('heading', { level: 1, name: 'Ledger' }).waitFor();
    await menu.waitFor({ state: 'detached' });
  });

  /** Names of buttons and links that change data. A viewer may only leave, and create an organization. */
  const writeNames =
    /^(Create (?!organization)|New (application|payment)|Invite|Rename|Archive|Restore|Revoke|Rotate|Delete|Disable|Enable|Examine|Replay|Send|Test|Actions$|Capture|Authorize|Refund$|Cancel|Advance|Freeze|Reset|\+1|Go to state|Next:|Edit|Save|Update|Submit|Add|Fork|Download snapshot|End\b|Run: (?!Retrieve|List))/;

  async function writesOn(page: Page): Promise<readonly string[]> {
    // Disabled buttons write nothing, pressed ones only filter, and buttons that expand something only show more, unless it is a
    // menu of actions.
    const names = await page
      .getByRole('main')
      .locator('a, button:enabled:not([aria-expanded], [aria-pressed]), button[aria-haspopup=menu]')
      .evaluateAll((all) => all.map((one) => one.getAttribute('aria-label') ?? one.textContent ?? ''));
    return names.filter((name) => writeNames.test(name.trim()));
  }

  const emptyPages: readonly (readonly [
    path: string,
    title: string,
    role: 'button' | 'link',
    action: string,
  ])[] = [
    ['', 'Create your first payment', 'link', 'Open the quick start'],
    ['payments', 'No payments yet', 'button', 'Create payment'],
    ['refunds', 'No refunds yet', 'link', 'View payments'],
    ['disputes', 'No disputes yet', 'link', 'Create a payment to dispute'],
    ['customers', 'No customers yet', 'button', 'Create customer'],
    ['transfers', 'No transfers yet', 'button', 'Create transfer'],
    ['ledger', 'No postings yet', 'link', 'Create a payment'],
    ['reconciliation', 'No settlements yet', 'link', 'Create a payment'],
    ['webhooks', 'Get notified of events', 'button', 'Create webhook'],
    ['events', 'No events yet', 'button', 'Create event'],
    ['requests', 'No requests yet', 'link', 'Make the first request'],
    ['faults', 'No fault plans yet', 'button', 'Create fault plan'],
    ['keys', 'No API keys yet', 'button', 'Create key'],
  ];

  const lists = new Set([
    'payments',
    'refunds',
    'disputes',
    'customers',
    'transfers',
    'events',
    'faults',
    'keys',
  ]);

  test('every empty page says so and offers the next action', async (context) => {
    const { page } = await borrowTab(context, 'owner');
    for (const [path, title, role, action] of emptyPages) {
      await visit(page, `${ids.newcomers}/${path}`);
      const heading = page.getByRole('main').getByRole('heading', { level: 2, name: title });
      await heading.waitFor();
      await heading.locator('..').getByRole(role, { name: action }).waitFor();
      if (!lists.has(path)) continue;
      expect(await page.getByRole('main').getByRole(role, { name: action }).count(), path).toBe(1);
      expect(await page.getByRole('search').count(), `filters of ${path}`).toBe(0);
    }
  });

  test('without an application the pages offer to create one', async (context) => {
    const { page } = await borrowTab(context, 'owner');
    await visit(page, `${ids.unbuilt}/payments`);
    await page.getByRole('link', { name: 'Create application' }).click();
    const dialog = page.getByRole('dialog', { name: 'Create application' });
    await dialog.getByLabel('Name').waitFor();
    await pressEscape(dialog);
  });

  test('an unknown address keeps its path and does not redirect', async (context) => {
    const { page } = await borrowTab(context, 'owner');
    // A full load, because the server has to answer with the console as well.
    await page.goto(`/console/${ids.acme}/no/such/page`, { waitUntil: 'domcontentloaded' });
    await untilLoaded(page);
    expect(new URL(page.url()).pathname).toContain('/no/such/page');
  });

  const viewerPages = pages.filter(
    ({ by, route, variant }) =>
      by === 'owner' && variant === undefined && !/^(\/|\*|welcome|account|\$orgId)/.test(route),
  );

  test('no page offers a write to a viewer', async (context) => {
    const { page } = await borrowTab(context, 'viewer');
    const found: Record<string, readonly string[]> = {};
    const check = async (title: string, address: string) => {
      const writes = await writesOn(await visit(page, address));
      if (writes.length > 0) found[title] = writes;
    };
    for (const one of viewerPages) await check(titleOf(one), one.address(ids));
    for (const [path] of emptyPages) await check(`empty ${path}`, `${ids.newcomers}/${path}`);
    await check('without an application', ids.unbuilt);
    expect(found).toEqual({});
    expect(viewerPages.length).toBeGreaterThan(25);
  });

  test('the same pages offer writes to an owner', async (context) => {
    const { page } = await borrowTab(context, 'owner');
    for (const address of [`${ids.acme}/payments/${ids.payment.id}`, `${ids.newcomers}/webhooks`])
      expect(await writesOn(await visit(page, address)), address).not.toEqual([]);
  });

  test('the palette, the clock and the menus offer no write to a viewer', async (context) => {
    const { page } = await borrowTab(context, 'viewer');
    await visit(page, `${ids.acme}/payments`);
    await page.getByRole('button', { name: /^Application clock/ }).click();
    const clock = page.getByRole('dialog', { name: 'Application clock' });
    await clock.getByText('Your role can view the clock but not change it.').waitFor();
    const buttons = await clock.getByRole('button').allInnerTexts();
    expect(buttons.filter((name) => writeNames.test(name.trim()))).toEqual([]);
    await pressEscape(clock);
    await page.getByRole('button', { name: /^Organization and application/ }).click();
    const menu = page.getByRole('dialog', { name: 'Organization and application' });
    await menu.getByRole('option', { name: 'Organization settings' }).waitFor();
    const items = await menu.getByRole('option').allInnerTexts();
    await pressEscape(menu);
    await page.keyboard.press('Control+K');
    await palette(page).getByRole('combobox').waitFor();
    const options = await palette(page).getByRole('option').allInnerTexts();
    expect(items.length).toBeGreaterThan(0);
    expect(options.length).toBeGreaterThan(0);
    expect([...items, ...options].filter((name) => writeNames.test(name.trim()))).toEqual([]);
    await page.keyboard.press('Escape');
  });
});
