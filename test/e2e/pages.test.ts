import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  describeInBrowser,
  desktop,
  expectAccessible,
  openBrowser,
  openWindow,
  phone,
  type Rules,
  type State,
  signedInState,
  untilLoaded,
  type Watched,
} from '../support/browser.ts';
import { effort, isThorough } from '../support/effort.ts';
import { type ServerProcess, startServer } from '../support/processes.ts';
import { type Folder, temporaryFolder } from './caller.ts';
import { closenessOf, expectWhole } from './looks.ts';
import { gather, type Ids, titleOf, visits } from './visits.ts';
import { owner, populate, seed, viewer, type World } from './world.ts';

const looks = [
  { name: 'light', theme: 'light', viewport: desktop },
  { name: 'dark', theme: 'dark', viewport: desktop },
  { name: 'phone', theme: 'light', viewport: phone },
] as const;
type Who = 'owner' | 'viewer' | 'nobody';
type Look = (typeof looks)[number]['name'];

test('every page of the router is visited below', () => {
  const router = readFileSync(new URL('../../console/frame/router.tsx', import.meta.url), 'utf8');
  const paths = [...router.matchAll(/(?:\bpath: |\bpage\()'([^']+)'/g)].map(([, path]) => path);
  expect(paths.length).toBeGreaterThan(30);
  const visited = new Set(visits.map(({ route }) => route));
  expect([...new Set(paths)].filter((path) => path === undefined || !visited.has(path))).toEqual([]);
});

describeInBrowser('the pages', () => {
  let folder: Folder;
  let server: ServerProcess;
  let browser: Browser;
  let world: World;
  let ids: Ids;
  let states: Readonly<Record<'owner' | 'viewer', State>>;
  const windows = new Map<string, Watched>();

  beforeAll(async () => {
    folder = temporaryFolder();
    [server, browser] = await Promise.all([
      startServer({ dataDir: folder.data, seed: folder.seed(seed) }),
      openBrowser(),
    ]);
    world = await populate(server.url);
    states = {
      owner: await signedInState(browser, server.url, owner),
      viewer: await signedInState(browser, server.url, viewer),
    };
    ids = await gather(await windowOf('owner', 'light'), world);
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
    await server?.stop();
    folder.remove();
  });

  /** One window for each person and look, opened when it is first needed. */
  async function windowOf(by: Who, look: Look): Promise<Watched> {
    const known = windows.get(`${by} ${look}`);
    if (known !== undefined) return known;
    const { theme, viewport } = looks.find(({ name }) => name === look) ?? looks[0];
    const signedIn = by === 'nobody' ? {} : { signedIn: states[by] };
    const watched = await openWindow(browser, server.url, { theme, viewport, ...signedIn });
    windows.set(`${by} ${look}`, watched);
    return watched;
  }

  async function visit(by: Who, look: Look, address: string): Promise<Page> {
    const { page, complaints } = await windowOf(by, look);
    complaints.length = 0;
    await page.goto(`/console/${address}`);
    await untilLoaded(page);
    return page;
  }

  async function expectSound(by: Who, look: Look, what: string, rules: Rules = {}): Promise<void> {
    const { page, complaints } = await windowOf(by, look);
    await expectAccessible(page, `${what}, ${look}`, rules);
    expect(complaints, `complaints of ${what}, ${look}`).toEqual([]);
  }

  for (const one of visits) {
    const { by, address } = one;
    const title = titleOf(one);
    test(`${title} is whole and fits a phone, and by turns looked at closely`, async () => {
      await visit(by, 'light', address(ids));
      await expectWhole(await windowOf(by, 'light'), title, closenessOf(visits.indexOf(one), 5));
    });
  }

  const palette = (page: Page) => page.getByRole('dialog', { name: 'Search and commands' });

  const opened: readonly (readonly [what: string, open: (page: Page) => Promise<void>])[] = [
    [
      'the dialog for a payment',
      async (page) => {
        await page.getByRole('button', { name: 'Create payment' }).first().click();
        await page.getByRole('dialog', { name: 'Create payment' }).getByLabel('Amount').waitFor();
      },
    ],
    [
      'the dialog for a key',
      async (page) => {
        await page.goto(page.url().replace('/payments', '/keys'));
        await page.getByRole('button', { name: 'Create key' }).click();
        await page.getByRole('dialog', { name: 'Create API key' }).getByLabel('Name').waitFor();
      },
    ],
    [
      'the palette',
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
      async (page) => {
        await page.getByRole('button', { name: /^Clock of the application/ }).click();
        await page.getByRole('button', { name: '+1 day' }).waitFor();
      },
    ],
    [
      'the account menu',
      async (page) => {
        await page.getByRole('button', { name: /account of/ }).click();
        await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
      },
    ],
    [
      'the choice of application and organization',
      async (page) => {
        await page.getByRole('button', { name: /^Organization and application/ }).click();
        await page.getByRole('menuitem', { name: 'Organization settings' }).waitFor();
      },
    ],
  ];

  test.each(opened)('%s is accessible when it is open', async (what, open) => {
    await Promise.all(
      looks.slice(isThorough ? 0 : 1).map(async ({ name: look }) => {
        const page = await visit('owner', look, `${ids.acme}/payments`);
        await open(page);
        // A menu stands beside every landmark, as menus do; no other rule lets it.
        await expectSound('owner', look, what, { except: ['region'] });
      }),
    );
  });

  test('the menu of a phone is accessible, and leads to every page', async () => {
    const page = await visit('owner', 'phone', `${ids.acme}/payments`);
    await page.getByRole('button', { name: 'Open menu' }).click();
    const menu = page.getByRole('dialog', { name: 'Menu' });
    await expectSound('owner', 'phone', 'the menu');
    expect(await menu.getByRole('link').count()).toBeGreaterThanOrEqual(17);
    await menu.getByRole('link', { name: 'Ledger' }).click();
    await page.getByRole('heading', { level: 1, name: 'Ledger' }).waitFor();
    await menu.waitFor({ state: 'detached' });
  });

  const empties: readonly (readonly [
    address: string,
    title: string,
    role: 'button' | 'link',
    action: string,
  ])[] = [
    ['', 'No payments in this period', 'link', 'Open the quick start'],
    ['payments', 'No payments yet', 'button', 'Create payment'],
    ['refunds', 'No refunds yet', 'link', 'See payments'],
    ['disputes', 'No disputes yet', 'link', 'Create a payment to dispute'],
    ['customers', 'No customers yet', 'button', 'Create customer'],
    ['transfers', 'No transfers yet', 'button', 'Create transfer'],
    ['ledger', 'No money has moved yet', 'link', 'Create a payment'],
    ['reconciliation', 'Nothing is settled yet', 'link', 'Create a payment'],
    ['webhooks', 'Be told when something happens', 'button', 'Create webhook'],
    ['events', 'Nothing has happened yet', 'button', 'Create event'],
    ['requests', 'No requests yet', 'link', 'Make the first request'],
    ['keys', 'No API keys yet', 'button', 'Create key'],
  ];

  test.each(empties)(
    'where nothing is yet, /%s says "%s" and what to do next',
    async (address, title, role, action) => {
      const page = await visit('owner', 'light', `${ids.newcomers}/${address}`);
      const heading = page.getByRole('main').getByRole('heading', { level: 2, name: title });
      await heading.waitFor();
      await heading.locator('..').getByRole(role, { name: action }).waitFor();
    },
  );

  test('without an application every page says how to make one', async () => {
    const page = await visit('owner', 'light', `${ids.unbuilt}/payments`);
    await page.getByRole('link', { name: 'Create application' }).click();
    await page.getByRole('dialog', { name: 'Create application' }).getByLabel('Name').waitFor();
  });

  test('an address that no page has says so, also where it names no application', async () => {
    const page = await visit('owner', 'light', `${ids.acme}/no/such/page`);
    expect(new URL(page.url()).pathname).toContain('/no/such/page');
  });

  /** What a viewer may do is look, leave, and open an organization of their own. */
  const ofWrites =
    /^(Create (?!organization)|New (application|payment)|Invite|Rename|Archive|Restore|Revoke|Rotate|Delete|Disable|Enable|Examine|Replay|Send|Test|Capture|Authorize|Refund$|Cancel|Advance|Freeze|Reset|\+1|Go to state|Next step|Edit|Save|Update|Submit|Add|Fork|Download snapshot|Start over|Plan|End)/;

  async function writesOn(page: Page): Promise<readonly string[]> {
    const main = page.getByRole('main');
    // What is disabled writes nothing, and what unfolds shows more of what is there.
    const names = await main
      .locator('a, button:enabled:not([aria-expanded])')
      .evaluateAll((all) => all.map((one) => one.getAttribute('aria-label') ?? one.textContent ?? ''));
    return names.filter((name) => ofWrites.test(name.trim()));
  }

  const mainPages = visits.filter(
    ({ by, route, of }) =>
      by === 'owner' && of === undefined && !/^(\/|\*|welcome|account|\$orgId)/.test(route),
  );

  test('a viewer finds nothing to write with where the owner finds much', async () => {
    const found: Record<string, readonly string[]> = {};
    for (const one of mainPages.filter((_, i) => i % effort(2, 1) === 0)) {
      const writes = await writesOn(await visit('viewer', 'light', one.address(ids)));
      if (writes.length > 0) found[titleOf(one)] = writes;
    }
    expect(found).toEqual({});
    expect(
      await writesOn(await visit('owner', 'light', `${ids.acme}/payments/${ids.payment.id}`)),
    ).not.toEqual([]);
  });

  test('a viewer finds nothing to write with where nothing is yet', async () => {
    const found: Record<string, readonly string[]> = {};
    for (const [address] of empties) {
      const writes = await writesOn(await visit('viewer', 'light', `${ids.newcomers}/${address}`));
      if (writes.length > 0) found[address] = writes;
    }
    expect(found).toEqual({});
  });

  test('a viewer without an application is not asked to make one', async () => {
    const page = await visit('viewer', 'light', ids.unbuilt);
    expect(await writesOn(page)).toEqual([]);
  });

  test('a viewer is offered no writes by the palette, the clock and the choice of application', async () => {
    const page = await visit('viewer', 'light', `${ids.acme}/payments`);
    await page.getByRole('button', { name: /^Clock of the application/ }).click();
    const clock = page.getByRole('dialog', { name: 'Clock of the application' });
    await clock.getByText('Your role may look at the clock but not move it.').waitFor();
    expect(await clock.getByRole('button').count()).toBe(0);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: /^Organization and application/ }).click();
    const items = await page.getByRole('menuitem').allInnerTexts();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+K');
    await palette(page).getByRole('combobox').waitFor();
    const options = await palette(page).getByRole('option').allInnerTexts();
    expect([...items, ...options].filter((name) => ofWrites.test(name.trim()))).toEqual([]);
  });
});
