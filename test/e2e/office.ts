import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import {
  openBrowser,
  openWindow,
  type State,
  signedInState,
  untilLoaded,
  type Watched,
  type WindowOptions,
} from '../support/browser.ts';
import { type ServerProcess, startServer } from '../support/processes.ts';
import { type Caller, callerOf, type Folder, temporaryFolder } from './caller.ts';

const password = 'correct horse battery';
const people = {
  owner: { email: 'olga@acme.test', password },
  developer: { email: 'dora@acme.test', password },
  viewer: { email: 'vera@acme.test', password },
};
export type Who = keyof typeof people;

export const officeKey = 'sbk_sandbox_0123456789abcdefghijABCDEFGHIJ01';
const scopes = ['payments', 'customers', 'transfers', 'webhooks'].flatMap((name) => [
  `${name}:read`,
  `${name}:write`,
]);

export interface OfficeSettings {
  /** Whoever comes to the windows. */
  readonly who: readonly Who[];
  /** Of the one application; asked for when the tests begin. */
  readonly webhooks?: () => Promise<readonly object[]> | readonly object[];
}

/**
 * A server with one organization, Acme, whose one application has a key for everything, and people who have signed in. It
 * opens and closes with the tests of the block that it is made in, and no window may have complained.
 */
export class Office {
  readonly #folder: Folder = temporaryFolder();
  readonly #states = new Map<Who, State>();
  #server: ServerProcess | undefined;
  #browser: Browser | undefined;
  #watched: Watched | undefined;

  constructor({ who, webhooks = () => [] }: OfficeSettings) {
    beforeAll(async () => {
      const apiKeys = [{ name: 'ci', key: officeKey, scopes }];
      const users = Object.entries(people).map(([role, person]) => ({ ...person, role }));
      const applications = [{ name: 'Web shop', apiKeys, webhooks: await webhooks() }];
      const seed = this.#folder.seed({ organizations: [{ name: 'Acme', users, applications }] });
      const opened = await Promise.all([startServer({ dataDir: this.#folder.data, seed }), openBrowser()]);
      [this.#server, this.#browser] = opened;
      const [{ url }, browser] = opened;
      const states = await Promise.all(who.map((one) => signedInState(browser, url, people[one])));
      for (const [index, one] of who.entries()) this.#states.set(one, states[index] as State);
    });
    afterEach(async () => {
      const watched = this.#watched;
      this.#watched = undefined;
      if (watched === undefined) return;
      expect(watched.complaints, 'what the browser complained of').toEqual([]);
      await watched.context.close();
    });
    afterAll(async () => {
      await this.#browser?.close();
      await this.#server?.stop();
      this.#folder.remove();
    });
  }

  get url(): string {
    return this.#server?.url ?? '';
  }

  get caller(): Caller {
    return callerOf(this.url, officeKey);
  }

  /** A window at a page of the organization. */
  async open(who: Who, path: string, look: Omit<WindowOptions, 'signedIn'> = {}): Promise<Page> {
    const signedIn = this.#states.get(who);
    if (this.#browser === undefined || signedIn === undefined) throw new Error(`${who} is not in`);
    this.#watched = await openWindow(this.#browser, this.url, { ...look, signedIn });
    const { page } = this.#watched;
    await page.goto('/console/');
    await untilLoaded(page);
    const [orgId] = new URL(page.url()).pathname.split('/').slice(2);
    await page.goto(`/console/${orgId}/${path}`);
    await untilLoaded(page);
    return page;
  }
}
