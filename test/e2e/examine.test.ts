import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Examinee, openExaminee, secret, verified } from '../examiner/receivers.ts';
import {
  describeInBrowser,
  desktop,
  expectAccessible,
  openBrowser,
  openWindow,
  phone,
  type State,
  signedInState,
  untilLoaded,
  type Watched,
} from '../support/browser.ts';
import { type ServerProcess, startServer } from '../support/processes.ts';
import { callerOf, type Folder, temporaryFolder } from './caller.ts';

const key = 'sbk_sandbox_0123456789abcdefghijABCDEFGHIJ01';
const password = 'correct horse battery';
const people = {
  developer: { email: 'dora@acme.test', password },
  viewer: { email: 'vera@acme.test', password },
};

describeInBrowser('the panel that examines a receiver', () => {
  const folder: Folder = temporaryFolder();
  const closing: (() => Promise<void>)[] = [];
  let server: ServerProcess;
  let browser: Browser;
  let receiver: Examinee;
  let states: Readonly<Record<keyof typeof people, State>>;
  let webhookId = '';
  let watched: Watched;
  let page: Page;
  /** What the receiver has not learned yet. */
  let isForgetful = true;
  let isDown = false;

  beforeAll(async () => {
    receiver = await openExaminee(
      {
        before: ({ response }) => {
          if (isDown) response.destroy();
          return isDown;
        },
        verify: (handled) => {
          const stale = Date.now() / 1_000 - Number(handled.headers['webhook-timestamp']) > 300;
          return isForgetful && stale ? JSON.parse(handled.rawBody.toString('utf8')) : verified(handled);
        },
      },
      (close) => closing.push(close),
    );
    const webhooks = [{ url: receiver.url, secret, retryProfile: 'none' }];
    const apiKeys = [{ name: 'ci', key, scopes: ['webhooks:read', 'webhooks:write'] }];
    const users = [
      { ...people.developer, role: 'developer' },
      { ...people.viewer, role: 'viewer' },
      { email: 'olga@acme.test', password, role: 'owner' },
    ];
    const seed = folder.seed({
      organizations: [{ name: 'Acme', users, applications: [{ name: 'Web shop', apiKeys, webhooks }] }],
    });
    [server, browser] = await Promise.all([startServer({ dataDir: folder.data, seed }), openBrowser()]);
    const { data } = await callerOf(server.url, key).get('webhooks');
    webhookId = (data as readonly { id: string }[])[0]?.id ?? '';
    const [developer, viewer] = await Promise.all([
      signedInState(browser, server.url, people.developer),
      signedInState(browser, server.url, people.viewer),
    ]);
    states = { developer, viewer };
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    for (const close of closing) await close();
    folder.remove();
  });
  beforeEach(() => {
    isForgetful = true;
    isDown = false;
  });
  afterEach(async () => {
    expect(watched.complaints, 'what the browser complained of').toEqual([]);
    await watched.context.close();
  });

  async function open(who: keyof typeof people, look: Parameters<typeof openWindow>[2] = {}): Promise<void> {
    watched = await openWindow(browser, server.url, { ...look, signedIn: states[who] });
    page = watched.page;
    await page.goto('/console/');
    await untilLoaded(page);
    const [orgId] = new URL(page.url()).pathname.split('/').slice(2);
    await page.goto(`/console/${orgId}/webhooks/${webhookId}`);
    await untilLoaded(page);
  }

  const start = (name = 'Examine receiver') => page.getByRole('button', { name, exact: true }).click();
  const report = () => page.getByRole('region', { name: 'Report' });

  test('a developer gets a graded report with advice, mends the receiver, and gets an A', async () => {
    await open('developer');
    await start();
    await report().getByText('Grade C').waitFor();
    expect(await report().innerText()).toContain('1 failed, 21 passed');
    const bad = report().getByRole('listitem').filter({ hasText: 'signed ten minutes ago is refused' });
    expect(await bad.innerText()).toMatch(/Failed\s+Major/);
    expect(await bad.innerText()).toMatch(/Expected\s+4xx\s+Came\s+204/);
    await bad.getByText('Refuse what was signed more than five minutes ago.').waitFor();
    await bad.getByText('Math.abs(Date.now() / 1000 - Number(timestamp)) > 300').waitFor();
    await report().getByText('21 cases passed').click();
    await report().getByText('The same event twice is accepted twice').waitFor();
    isForgetful = false;
    await start('Examine again');
    await report().getByText('Grade A').waitFor();
    expect(await report().innerText()).toContain('Nothing to mend.');
    // Nothing is left of it among the deliveries.
    await page.getByText('Nothing was sent yet').waitFor();
    expect(await page.content()).not.toContain(secret);
  });

  test('cases and the type of the events can be chosen, by keyboard too', async () => {
    await open('developer');
    const folded = page.getByText('All 22 cases');
    await folded.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Choose none' }).click();
    await page.getByText('1 of 22 cases').waitFor();
    expect(
      await page.getByRole('checkbox', { name: 'A correctly signed event is accepted' }).isDisabled(),
    ).toBe(true);
    const box = page.getByRole('checkbox', { name: 'The same event twice is accepted twice' });
    await box.focus();
    await page.keyboard.press('Space');
    await page.getByLabel('Event type', { exact: true }).first().selectOption('refund.succeeded');
    const before = receiver.handled.length;
    await start();
    await report().getByText('Grade A').waitFor();
    expect(await report().innerText()).toContain('2 passed');
    const types = receiver.handled
      .slice(before)
      .map(({ rawBody }) => JSON.parse(rawBody.toString('utf8')).type);
    expect(types).toEqual(Array(3).fill('refund.succeeded'));
  });

  test('where no answer comes it says so, and holds nothing else against the receiver', async () => {
    isDown = true;
    await open('developer');
    await start();
    await report().getByText('It ended early.').waitFor();
    const words = await report().innerText();
    expect(words).toContain('Connection closed: it ended before an answer came.');
    expect(words).toContain('Nothing else was tried');
    expect(words).toContain('1 failed');
  });

  const looks = [
    ['light', { viewport: desktop }],
    ['dark', { viewport: desktop, theme: 'dark' }],
    ['phone', { viewport: phone }],
  ] as const;

  test.each(looks)(
    'it is accessible and whole with its cases and a report, in %s',
    { timeout: 60_000 },
    async (name, look) => {
      await open('developer', look);
      await page.getByText('All 22 cases').click();
      await expectAccessible(page, `the choice of cases, ${name}`);
      await start();
      await report().getByText('Grade C').waitFor();
      await report().getByText('21 cases passed').click();
      await expectAccessible(page, `the report, ${name}`);
      const width = await page.evaluate('document.documentElement.scrollWidth');
      expect(width).toBeLessThanOrEqual(look.viewport.width);
    },
  );

  test('a viewer does not find it', async () => {
    await open('viewer');
    await page.getByRole('heading', { name: 'Configuration' }).waitFor();
    expect(await page.getByText('Examine receiver').count()).toBe(0);
  });
});
