import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  clipboardOf,
  describeInBrowser,
  openBrowser,
  openWindow,
  signIn,
  untilLoaded,
  type Watched,
} from '../support/browser.ts';
import { type ServerProcess, startServer } from '../support/processes.ts';
import { type Body, callerOf, type Folder, temporaryFolder } from './caller.ts';

const key = 'sbk_sandbox_0123456789abcdefghijABCDEFGHIJ01';
const owner = { email: 'olga@acme.test', password: 'correct horse battery' };
const seed = {
  organizations: [
    {
      name: 'Acme',
      users: [{ ...owner, role: 'owner' }],
      applications: [
        { name: 'Web shop', apiKeys: [{ name: 'ci', key, scopes: ['payments:read', 'payments:write'] }] },
      ],
    },
  ],
};

/** Each test goes on where the one before it has left both browsers. */
describeInBrowser('an owner and a viewer', () => {
  let folder: Folder;
  let server: ServerProcess;
  let browser: Browser;
  let olga: Watched;
  let vera: Watched;
  let payment: Body;
  let link = '';

  beforeAll(async () => {
    folder = temporaryFolder();
    [server, browser] = await Promise.all([
      startServer({ dataDir: folder.data, seed: folder.seed(seed) }),
      openBrowser(),
    ]);
    payment = await callerOf(server.url, key).post('payments', {
      amount: 1250,
      currency: 'EUR',
      reference: 'order-1001',
    });
    olga = await openWindow(browser, server.url);
    vera = await openWindow(browser, server.url);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    folder.remove();
  });
  afterEach(() => {
    expect([...olga.complaints, ...vera.complaints], 'what the browsers complained of').toEqual([]);
  });

  const go = (page: Page, name: string) =>
    page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();
  const heading = (page: Page, name: string | RegExp) =>
    page.getByRole('heading', { level: 1, name }).waitFor();

  test('the owner makes a link for a viewer', async () => {
    const { page } = olga;
    await page.goto('/console/');
    await signIn(page, owner);
    await go(page, 'Members');
    await page.getByRole('button', { name: 'Invite' }).click();
    const dialog = page.getByRole('dialog', { name: 'Invite a member' });
    await dialog.getByRole('radio', { name: 'Viewer' }).check();
    await dialog.getByRole('button', { name: 'Create and copy link' }).click();
    const made = page.getByRole('dialog', { name: 'Invitation created' });
    await made.getByRole('button', { name: /Copy invitation link|Copied/ }).click();
    link = await clipboardOf(page);
    expect(link.startsWith(`${server.url}/console/invitation/`)).toBe(true);
    await made.getByRole('button', { name: 'I have kept the invitation link' }).click();
    await page
      .getByRole('table', { name: 'Open invitations' })
      .getByRole('row', { name: /Viewer/ })
      .waitFor();
  });

  test('who follows it joins as a viewer and sees what is there', async () => {
    const { page } = vera;
    await page.goto(link);
    await heading(page, 'Join Acme');
    await page.getByLabel('Name').fill('Vera Rubin');
    await page.getByLabel('Email').fill('vera@acme.test');
    await page.getByLabel('Password', { exact: true }).fill(owner.password);
    await page.getByRole('button', { name: 'Create account' }).click();
    await heading(page, 'Overview');
    await go(page, 'Payments');
    await page
      .getByRole('row', { name: /order-1001/ })
      .getByRole('link')
      .click();
    await heading(page, /12\.50/);
    await page.getByText('Your role may look at it but not move it.').waitFor();
  });

  test('the link has been used, and brings in nobody else', async () => {
    const third = await openWindow(browser, server.url);
    await third.page.goto(link);
    await third.page.getByText(/This invitation is unknown, used or has ended/).waitFor();
    await third.context.close();
  });

  test('a viewer cannot write: not on the page, and not past it', async () => {
    const { page } = vera;
    await untilLoaded(page);
    expect(await page.getByRole('button', { name: /Capture|Next step|Go to state|Cancel/ }).count()).toBe(0);
    const status = await page.evaluate(`(() => {
      const [, orgId] = location.pathname.match(/(org_\\w+)/);
      const appId = new URLSearchParams(location.search).get('app');
      const headers = { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() };
      const address = '/console/api/' + orgId + '/' + appId + '/developer_api_payments/${payment.id}/advance';
      return fetch(address, { method: 'POST', headers, body: '{}' }).then((answer) => answer.status);
    })()`);
    expect(status).toBe(403);
  });

  test('the owner sees who came, and sees them write nothing', async () => {
    const { page } = olga;
    await page.reload();
    await page.getByRole('row', { name: /Vera Rubin .*Viewer/ }).waitFor();
    await go(page, 'Audit');
    await page.getByRole('row', { name: /Vera Rubin .*role_missing Refused/ }).waitFor();
  });

  test('the owner removes the viewer', async () => {
    await go(olga.page, 'Members');
    await olga.page.getByRole('button', { name: 'Actions for Vera Rubin' }).click();
    await olga.page.getByRole('menuitem', { name: 'Remove…' }).click();
    const sure = olga.page.getByRole('alertdialog', { name: 'Remove Vera Rubin?' });
    await sure.getByRole('button', { name: 'Remove member' }).click();
    await olga.page.getByRole('row', { name: /Vera Rubin/ }).waitFor({ state: 'detached' });
  });

  test('who was removed finds the organization gone with the next click, and nothing of what was seen before', async () => {
    await go(vera.page, 'Customers');
    await vera.page.getByText('This page does not exist').waitFor();
    expect(await vera.page.getByRole('row').count()).toBe(0);
  });

  test('who was removed finds nothing when the page is loaded anew', async () => {
    await vera.page.reload();
    await vera.page.getByText('This page does not exist').waitFor();
    await vera.page.goto('/console/');
    await heading(vera.page, 'Welcome, Vera Rubin');
  });
});
