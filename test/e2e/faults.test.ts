import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
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
import { type Folder, temporaryFolder } from './caller.ts';

const key = 'sbk_sandbox_0123456789abcdefghijABCDEFGHIJ01';
const developer = { email: 'dora@acme.test', password: 'correct horse battery' };

describeInBrowser('the page of faults', () => {
  const folder: Folder = temporaryFolder();
  let server: ServerProcess;
  let browser: Browser;
  let signedIn: State;
  let watched: Watched;
  let page: Page;

  beforeAll(async () => {
    const apiKeys = [{ name: 'ci', key, scopes: ['payments:read', 'payments:write'] }];
    const users = [
      { ...developer, role: 'developer' },
      { email: 'olga@acme.test', password: developer.password, role: 'owner' },
    ];
    const seed = folder.seed({
      organizations: [{ name: 'Acme', users, applications: [{ name: 'Web shop', apiKeys }] }],
    });
    [server, browser] = await Promise.all([startServer({ dataDir: folder.data, seed }), openBrowser()]);
    signedIn = await signedInState(browser, server.url, developer);
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    folder.remove();
  });
  afterEach(async () => {
    expect(watched.complaints, 'what the browser complained of').toEqual([]);
    await watched.context.close();
  });

  async function open(look: Parameters<typeof openWindow>[2] = {}): Promise<void> {
    watched = await openWindow(browser, server.url, { ...look, signedIn });
    page = watched.page;
    await page.goto('/console/');
    await untilLoaded(page);
    const [orgId] = new URL(page.url()).pathname.split('/').slice(2);
    await page.goto(`/console/${orgId}/faults`);
    await untilLoaded(page);
  }

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const dialog = () => page.getByRole('dialog');
  const row = (words: string) => page.getByRole('row').filter({ hasText: words });
  const pay = (idempotencyKey: string) =>
    fetch(`${server.url}/_api/developer_api_payments`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'idempotency-key': idempotencyKey,
        'content-type': 'application/json',
      },
      body: '{"amount":1250,"currency":"EUR"}',
    });

  test('a developer lets an answer get lost, and the retry finds the payment made', async () => {
    await open({ viewport: desktop });
    await page.getByText('Nothing fails yet').waitFor();
    await button('Plan a fault').first().click();
    await dialog().getByLabel('With').selectOption('lose_answer');
    await dialog().getByLabel('Only these operations').fill('createPayment');
    await expectAccessible(page, 'the dialog that plans a fault', { except: ['region'] });
    await button('Plan it').click();
    await row('Lost answer').getByText('Active').waitFor();
    await expect(pay('order-1')).rejects.toThrow();
    const retried = await pay('order-1');
    expect(retried.headers.get('idempotent-replayed')).toBe('true');
    await row('Lost answer').getByText('Exhausted').waitFor();
    await row('Lost answer').getByText('1 of 1').waitFor();
    await expectAccessible(page, 'the list of plans', { except: ['region'] });
  });

  test('what the server refuses is said at its field', async () => {
    await open({ viewport: desktop });
    await button('Plan a fault').first().click();
    await dialog().getByLabel('Share').fill('101');
    await button('Plan it').click();
    await dialog().getByText(/100/).first().waitFor();
    await dialog().getByLabel('Share').fill('');
    await dialog().getByLabel('Count').fill('');
    expect(await button('Plan it').isDisabled()).toBe(true);
  });

  test('a plan is ended, and hits nothing from then on', async () => {
    await open({ viewport: phone, theme: 'dark' });
    await button('Plan a fault').first().click();
    await dialog().getByLabel('With').selectOption('error');
    await dialog().getByLabel('Code').selectOption('rate_limited');
    await dialog().getByLabel('Count').fill('');
    await dialog().getByLabel('Share').fill('100');
    await expectAccessible(page, 'the dialog on a phone in the dark', { except: ['region'] });
    await button('Plan it').click();
    await row('Error rate_limited').getByText('Active').waitFor();
    expect((await pay('order-2')).status).toBe(429);
    await button('End plan: Error rate_limited').click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'End plan' }).click();
    await row('Error rate_limited').getByText('Canceled').waitFor();
    expect((await pay('order-2')).status).toBe(201);
    await expectAccessible(page, 'the list on a phone in the dark', { except: ['region'] });
  });
});
