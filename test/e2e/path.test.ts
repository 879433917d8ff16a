import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import {
  clipboardOf,
  describeInBrowser,
  everythingOf,
  openBrowser,
  openWindow,
  signIn,
  type Watched,
} from '../support/browser.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { type ServerProcess, startServer } from '../support/processes.ts';
import { openReceiver, type Received, type Receiver } from '../support/receiver.ts';
import { signaturesOf } from '../support/verify-signature.ts';
import { type Body, type Caller, callerOf, type Folder, temporaryFolder } from './caller.ts';

const person = { name: 'Ada Lovelace', email: 'ada@acme.test', password: 'correct horse battery' };

/** What a receiver of bad will answers: a page of the console that ran it would say so. */
const hostile = '<!doctype html><script>globalThis.wasRun = true</script><img src=x onerror="wasRun = true">';

const starts = {
  embedded: (folder: Folder) => startServer({ dataDir: folder.data }),
  // On a shared database nobody may sign up, and no private address is sent to, unless the operator says so.
  postgres: async () =>
    startServer({
      databaseUrl: await migratedDatabase(inject('postgresUrl')),
      env: {
        SANDBANK_REGISTRATION: 'open',
        SANDBANK_SECRET: 'a secret of more than thirty-two characters',
        SANDBANK_PRIVATE_WEBHOOKS: 'on',
      },
    }),
};

/** Each test goes on where the one before it has left the browser. */
describeInBrowser('in one browser', () => {
  describe.each(['embedded', 'postgres'] as const)('on the %s database', (kind) => {
    const folder = temporaryFolder();
    let server: ServerProcess;
    let receiver: Receiver;
    let browser: Browser;
    let watched: Watched;
    let page: Page;
    let key = '';
    let secret = '';
    let caller: Caller;
    let payment: Body;

    beforeAll(async () => {
      [server, receiver, browser] = await Promise.all([
        starts[kind](folder),
        openReceiver((_received, response) => {
          response.writeHead(200, { 'content-type': 'text/html' }).end(hostile);
        }),
        openBrowser(),
      ]);
      watched = await openWindow(browser, server.url);
      page = watched.page;
    });
    afterAll(async () => {
      await browser?.close();
      await receiver?.close();
      await server?.stop();
      folder.remove();
    });
    afterEach(() => {
      expect(watched.complaints, 'what the browser complained of').toEqual([]);
    });

    const go = (name: string) =>
      page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();
    const heading = (name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor();
    const received = async (type: string, number = 1): Promise<readonly Received[]> =>
      vi.waitFor(() => {
        const those = receiver.received.filter(({ body }) => JSON.parse(body).type === type);
        expect(those.length).toBeGreaterThanOrEqual(number);
        return those;
      }, 60_000);

    test('a newcomer signs up and makes an organization and an application', async () => {
      await page.goto('/console');
      await heading('Sign in');
      await page.getByRole('link', { name: 'Create an account' }).click();
      await page.getByLabel('Name').fill(person.name);
      await page.getByLabel('Email').fill(person.email);
      await page.getByLabel('Password', { exact: true }).fill(person.password);
      await page.getByRole('button', { name: 'Create account' }).click();
      await heading(`Welcome, ${person.name}`);
      await page.getByLabel('Organization name').fill('Acme');
      await page.getByRole('button', { name: 'Create organization' }).click();
      await page.getByLabel('Application name').fill('Web shop');
      await page.getByRole('button', { name: 'Create application' }).click();
      await heading('Quick start');
      await page.getByRole('button', { name: /Organization and application: Acme Web shop/ }).waitFor();
    });

    test('an API key is shown once, and is kept nowhere in the browser', async () => {
      await page.getByRole('link', { name: 'Create a key' }).click();
      const dialog = page.getByRole('dialog', { name: 'Create API key' });
      await dialog.getByLabel('Name').fill('Checkout server');
      await dialog.getByRole('button', { name: 'Create key' }).click();
      const made = page.getByRole('dialog', { name: 'API key created' });
      await made.getByRole('button', { name: 'Copy API key' }).click();
      key = await clipboardOf(page);
      expect(key).toMatch(/^sbk_sandbox_\w{32}$/);
      expect(await made.innerText()).toContain(key);
      await made.getByRole('button', { name: 'I have kept the API key' }).click();
      await made.waitFor({ state: 'detached' });
      await page.getByRole('row', { name: /Checkout server/ }).waitFor();
      expect(await everythingOf(page)).not.toContain(key);
      await page.reload();
      await page.getByRole('row', { name: /Checkout server/ }).waitFor();
      expect(await everythingOf(page)).not.toContain(key);
      caller = callerOf(server.url, key);
    });

    test('a webhook is registered, and its secret shown once', async () => {
      await go('Webhooks');
      await page.getByRole('button', { name: 'Create webhook' }).first().click();
      const dialog = page.getByRole('dialog', { name: 'Create webhook' });
      await dialog.getByLabel('URL').fill(receiver.url);
      await dialog.getByRole('button', { name: 'Create webhook' }).click();
      const made = page.getByRole('dialog', { name: 'Keep the signing secret' });
      await made.getByRole('button', { name: 'Copy signing secret' }).click();
      secret = await clipboardOf(page);
      expect(secret).toMatch(/^whsec_/);
      await made.getByRole('button', { name: 'I have kept the signing secret' }).click();
      await page.getByRole('row', { name: receiver.url }).waitFor();
      expect(await everythingOf(page)).not.toContain(secret);
    });

    test('a payment made with the key is in the list, and its state is lit in the diagram', async () => {
      payment = await caller.post('payments', {
        amount: 1250,
        currency: 'EUR',
        captureMethod: 'manual',
        reference: 'order-1001',
      });
      await go('Payments');
      await page
        .getByRole('row', { name: /order-1001/ })
        .getByRole('link')
        .click();
      await heading(/12\.50/);
      await page.getByRole('img', { name: /now pending/ }).waitFor();
      await vi.waitFor(async () => expect(await litStates(page)).toEqual(['pending']));
    });

    test('it is moved by an action and by a state to go to', async () => {
      await page.getByRole('button', { name: 'Authorize', exact: true }).click();
      await page.getByRole('img', { name: /now authorized/ }).waitFor();
      await page.getByRole('button', { name: 'Capture…' }).click();
      const capture = page.getByRole('dialog', { name: 'Capture' });
      await capture.getByRole('button', { name: 'Capture', exact: true }).click();
      await page.getByRole('img', { name: /now captured/ }).waitFor();
      await vi.waitFor(async () => expect(await litStates(page)).toEqual(['captured']));
      await page.getByRole('button', { name: 'Go to state…' }).click();
      const goal = page.getByRole('dialog', { name: 'Go to state' });
      await goal.getByLabel('State').selectOption('settled');
      await goal.getByRole('button', { name: 'Go', exact: true }).click();
      await page.getByRole('img', { name: /now settled/ }).waitFor();
      expect(await caller.get(`payments/${payment.id}`)).toMatchObject({ status: 'settled' });
    });

    test('every move has reached the receiver, signed with the secret that was shown', async () => {
      for (const state of ['created', 'authorized', 'captured', 'settled']) {
        const [first] = await received(`payment.${state}`);
        expect(first && signaturesOf(first, secret), state).toEqual([0]);
      }
    });

    test('a delivery is shown with its attempt, and what the receiver answered is text', async () => {
      await go('Webhooks');
      await page.getByRole('row', { name: receiver.url }).getByRole('link').click();
      await page
        .getByRole('row', { name: /payment\.captured/ })
        .getByRole('link')
        .click();
      await heading('Delivery of payment.captured');
      await page.getByText('Attempt 1', { exact: true }).waitFor();
      const shown = (title: string) => page.getByRole('figure', { name: title }).innerText();
      expect(await shown('Request headers')).toContain('webhook-signature');
      expect(await shown('The very text that is sent')).toContain(payment.id);
      expect(await shown('Answer: headers')).toContain('text/html');
      expect(await shown('Answer: body')).toContain(hostile);
      expect(await page.evaluate('globalThis.wasRun')).toBeUndefined();
      expect(await page.locator('img[src="x"]').count()).toBe(0);
    });

    test('a replay brings the same event again, under the same webhook-id', async () => {
      await page.getByRole('button', { name: 'Replay' }).click();
      const [first, again] = await received('payment.captured', 2);
      expect(again?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
      expect(again?.body).toBe(first?.body);
      expect(again && signaturesOf(again, secret)).toEqual([0]);
      await page.getByText('Replay', { exact: true }).first().waitFor();
    });

    test('the clock is moved by a day, says what happened, and goes back', async () => {
      const quote = { sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 10_000 };
      const transfer = await caller.post('transfers', quote);
      await page.getByRole('button', { name: /Clock of the application/ }).click();
      const clock = page.getByRole('dialog', { name: 'Clock of the application' });
      await clock.getByText('Real time.').waitFor();
      await clock.getByRole('button', { name: '+1 day' }).click();
      await clock.getByRole('heading', { name: /^\d+ things? happened$/ }).waitFor();
      await clock.getByText('1 day, 0 hours ahead of real time.').waitFor();
      await clock.getByText('Transfer: expired').click();
      await clock.getByRole('link', { name: transfer.id.slice(-6) }).waitFor();
      await clock.getByRole('button', { name: 'Reset…' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Reset clock' }).click();
      await page.getByText('Real time.').waitFor();
      await page.keyboard.press('Escape');
      expect(await caller.get(`transfers/${transfer.id}`)).toMatchObject({ status: 'expired' });
    });

    test('the ledger is balanced', async () => {
      await go('Ledger');
      await page.getByRole('heading', { name: 'The books are balanced' }).waitFor();
      await page.getByRole('table', { name: 'Balances in EUR' }).waitFor();
    });

    test('the request is in the log, with what was sent and answered', async () => {
      await go('Requests');
      const row = page.getByRole('row', { name: /POST ?developer_api_payments .*Checkout server/ });
      await vi.waitFor(async () => {
        await page.reload();
        await row.waitFor({ timeout: 10_000 });
      }, 60_000);
      await row.getByRole('link').click();
      await heading(/POST developer_api_payments/);
      expect(await page.getByRole('figure', { name: 'Sent' }).innerText()).toContain('order-1001');
      expect(await page.getByRole('figure', { name: 'Answered' }).innerText()).toContain(payment.id);
    });

    test('the audit trail names the person and the key, and is intact', async () => {
      await go('Audit');
      await page.getByRole('heading', { name: 'The trail is intact' }).waitFor();
      const rows = page.getByRole('table', { name: 'Audit trail, newest first' });
      await rows
        .getByRole('row', { name: /Checkout server .*payment/ })
        .first()
        .waitFor();
      await rows
        .getByRole('row', { name: /Ada Lovelace .*payment/ })
        .first()
        .waitFor();
    });

    test('who has signed out comes back to the page that was asked for', async () => {
      const address = page.url();
      await page.getByRole('button', { name: /account of Ada Lovelace/ }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await heading('Sign in');
      await page.goto(address);
      await heading('Sign in');
      await signIn(page, person);
      await heading('Audit');
      expect(page.url()).toBe(address);
    });
  });
});

/** The states whose box has a colour that no other has. */
function litStates(page: Page): Promise<readonly string[]> {
  return page.getByRole('img', { name: /^States of a/ }).evaluate((svg) => {
    const { getComputedStyle } = svg.ownerDocument.defaultView;
    const nodes: { state: string; fill: string }[] = [...svg.querySelectorAll('g:has(rect)')].map((node) => ({
      state: node.querySelector('text').textContent,
      fill: getComputedStyle(node.querySelector('rect')).fill,
    }));
    const isAlone = (fill: string) => nodes.filter((one) => one.fill === fill).length === 1;
    return nodes.filter(({ fill }) => isAlone(fill)).map(({ state }) => state);
  });
}
