import { randomUUID } from 'node:crypto';
import type { APIRequestContext, Locator, Page } from 'playwright-core';
import { inject, type TestContext } from 'vitest';
import {
  type BrowserSuite,
  type Credentials,
  type StorageState,
  type TabOptions,
  untilLoaded,
  useBrowser,
  waitMs,
} from '../support/browser.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { startServer } from '../support/processes.ts';
import { type Api, apiOf, type Body } from './api.ts';

const password = 'correct horse battery';

/** Members of every organization, each with the role that is their name here. */
export const people = {
  owner: { email: 'olga@acme.test', password },
  developer: { email: 'dora@acme.test', password },
  viewer: { email: 'vera@acme.test', password },
} as const;
export type PersonName = keyof typeof people;

const scopes = ['payments', 'customers', 'transfers', 'webhooks'].flatMap((name) => [
  `${name}:read`,
  `${name}:write`,
]);

/** An organization with one application, whose key has all scopes. */
interface Organization {
  readonly id: string;
  readonly name: string;
  readonly applicationId: string;
  readonly api: Api;
}

export interface ConsoleOptions {
  /** Names of organizations. Give each flow its own, so that flows do not see each other's records. */
  readonly organizations: readonly string[];
  /** Webhooks of the application, by organization. */
  readonly webhooks?: () => Promise<Readonly<Record<string, readonly object[]>>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Uses a new database on PostgreSQL, for tests that write rows with SQL. */
  readonly isOnPostgres?: boolean;
}

export interface Console extends BrowserSuite {
  /** Empty if the server uses the embedded database. */
  databaseUrl(): string;
  organization(name: string): Organization;
  /** Opens a page of an organization in a new tab, as a signed-in person. */
  open(
    test: TestContext,
    who: PersonName,
    organization: string,
    path: string,
    options?: TabOptions,
  ): Promise<Page>;
  /** The same in a tab that other tests of the file have used, whose cache is warm. For tests without a flow. */
  openShared(test: TestContext, who: PersonName, organization: string, path: string): Promise<Page>;
  /** Calls the console's API with the session of a person: for effects that an API key cannot read. */
  session(who: PersonName): ConsoleApi;
}

/**
 * A server whose organizations share three people. By default it uses the embedded database: the browser does not see which
 * database the server uses, and `path.test.ts` walks through the console on both.
 */
export function useConsole({
  organizations,
  webhooks = async () => ({}),
  env = {},
  isOnPostgres = false,
}: ConsoleOptions): Console {
  let databaseUrl = '';
  const states = new Map<PersonName, StorageState>();
  const sessions = new Map<PersonName, ConsoleApi>();
  const found = new Map<string, Organization>();
  const keyOf = (name: string) => `sbk_sandbox_${String(organizations.indexOf(name)).padStart(32, 'k')}`;
  const suite = useBrowser({
    start: async ({ data, seed }) => {
      const users = Object.entries(people).map(([role, person]) => ({ ...person, role }));
      const endpoints = await webhooks();
      const content = organizations.map((name) => ({
        name,
        users,
        applications: [
          {
            name: 'Web shop',
            apiKeys: [{ name: 'ci', key: keyOf(name), scopes }],
            webhooks: endpoints[name] ?? [],
          },
        ],
      }));
      if (isOnPostgres) databaseUrl = await migratedDatabase(inject('postgresUrl'));
      const database = isOnPostgres ? { databaseUrl } : { dataDir: data };
      return startServer({ ...database, seed: seed({ organizations: content }), env });
    },
    prepare: async ({ browser, url }) => {
      await Promise.all(
        (Object.keys(people) as PersonName[]).map(async (who) => {
          const context = await browser.newContext({ baseURL: url });
          const api = consoleApiOf(context.request);
          await api.post('session/sign_in', people[who]);
          states.set(who, await context.storageState());
          sessions.set(who, api);
        }),
      );
      const owner = entryOf(sessions, 'owner');
      const session = await owner.get('session');
      for (const { id, name } of session.organizations as readonly { id: string; name: string }[]) {
        const [application] = (await owner.get(`${id}/applications`)).data as readonly Body[];
        const applicationId = application?.id ?? '';
        found.set(name, { id, name, applicationId, api: apiOf(url, keyOf(name)) });
      }
    },
  });
  const load = async (page: Page, name: string, path: string) => {
    await page.goto(`/console/${entryOf(found, name).id}/${path}`, { waitUntil: 'domcontentloaded' });
    await untilLoaded(page);
    return page;
  };
  // Not spread: the server and the browser are getters.
  return Object.assign(Object.create(suite) as BrowserSuite, {
    databaseUrl: () => databaseUrl,
    organization: (name: string) => entryOf(found, name),
    session: (who: PersonName) => entryOf(sessions, who),
    open: async (
      test: TestContext,
      who: PersonName,
      name: string,
      path: string,
      options: TabOptions = {},
    ) => {
      const { page } = await suite.openTab(test, { ...options, storageState: entryOf(states, who) });
      return load(page, name, path);
    },
    openShared: async (test: TestContext, who: PersonName, name: string, path: string) => {
      const { page } = await suite.borrowTab(test, who, { storageState: entryOf(states, who) });
      return load(page, name, path);
    },
  });
}

export interface ConsoleApi {
  get(path: string): Promise<Body>;
  post(path: string, body?: unknown): Promise<Body>;
  /** Returns the status and does not throw on an error response. */
  status(path: string, body?: unknown): Promise<number>;
}

/** The API that the console's pages call, with the cookies of a browser context. */
export function consoleApiOf(request: APIRequestContext): ConsoleApi {
  const send = (path: string, body?: unknown) => {
    const address = `/console/api/${path}`;
    if (body === undefined) return request.get(address);
    // The server accepts writes only from its own pages, which browsers prove with this header.
    const headers = { 'sec-fetch-site': 'same-origin', 'idempotency-key': randomUUID() };
    return request.post(address, { data: body, headers });
  };
  const expectOk = async (path: string, body?: unknown) => {
    const response = await send(path, body);
    if (!response.ok()) throw new Error(`${path}: ${response.status()} ${await response.text()}`);
    return (await response.json()) as Body;
  };
  return {
    get: (path) => expectOk(path),
    post: (path, body = {}) => expectOk(path, body),
    status: async (path, body) => (await send(path, body)).status(),
  };
}

/** Whether these credentials sign in; the session is discarded. */
export async function canSignIn({ browser, url }: BrowserSuite, credentials: Credentials): Promise<boolean> {
  const context = await browser.newContext({ baseURL: url });
  const status = await consoleApiOf(context.request).status('session/sign_in', credentials);
  await context.close();
  return status === 200;
}

/** Opens a form with the buttons and menu items that lead to it. Without any, the form is part of the page. */
export async function openForm(page: Page, names: readonly (string | RegExp)[]): Promise<Locator> {
  for (const name of names) {
    const button = page.getByRole('button', { name, exact: true });
    await button
      .or(page.getByRole('menuitem', { name, exact: true }))
      .first()
      .click();
  }
  return page.getByRole(names.length === 0 ? 'main' : 'dialog');
}

/** Opens an address of the console: inside of the console without a full load, which takes half of the time. */
export async function visit(page: Page, address: string): Promise<Page> {
  const target = `/console/${address}`;
  const isInside = await page.evaluate("typeof __TSR_ROUTER__ !== 'undefined'");
  if (isInside) {
    // The previous page stays until the router has loaded the next one. The content security policy does not allow
    // `page.waitForFunction`, which needs `eval`.
    await page.evaluate(`new Promise((resolve, reject) => {
      const router = __TSR_ROUTER__;
      const before = router.state.location.state.__TSR_key;
      const deadline = Date.now() + ${waitMs};
      const check = () => {
        const { status, location, resolvedLocation } = router.state;
        const isResolved = status === 'idle' && location.href === resolvedLocation?.href;
        if (isResolved && location.state.__TSR_key !== before) resolve();
        else if (Date.now() > deadline) reject(new Error('The router is still ' + status));
        else setTimeout(check, 10);
      };
      router.history.push(${JSON.stringify(target)});
      check();
    })`);
  } else await page.goto(target, { waitUntil: 'domcontentloaded' });
  await untilLoaded(page);
  return page;
}

/** Follows a link of the main navigation. */
export async function goTo(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();
  await page.getByRole('heading', { level: 1, name }).waitFor();
}

function entryOf<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key): Value {
  const value = map.get(key);
  if (value === undefined) throw new Error(`${key} not found.`);
  return value;
}
