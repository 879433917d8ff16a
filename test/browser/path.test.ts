/**
 * The whole path of a newcomer through the console: from the sign-up to the audit trail. It runs on both databases; the other
 * files of this folder run on one, because the browser does not see which database the server uses.
 */
import type { Page } from 'playwright-core';
import { expect, inject, test, vi } from 'vitest';
import {
  clipboardOf,
  describeInBrowser,
  pageContent,
  pressEscape,
  signIn,
  step,
  type TemporaryFolder,
  useBrowser,
  waitMs,
} from '../support/browser.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { startServer } from '../support/processes.ts';
import { openReceiver, type Received } from '../support/receiver.ts';
import { signaturesOf } from '../support/verify-signature.ts';
import { apiOf } from './api.ts';
import { goTo } from './console.ts';

const person = { name: 'Ada Lovelace', email: 'ada@acme.test', password: 'correct horse battery' };

/** The response body of a hostile receiver: a console page that executed it would set `wasRun`. */
const hostile = '<!doctype html><script>globalThis.wasRun = true</script><img src=x onerror="wasRun = true">';

const databases = {
  embedded: (folder: TemporaryFolder) => startServer({ dataDir: folder.data }),
  // On a shared database, registration and private webhook addresses are off unless the operator turns them on.
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

for (const kind of ['embedded', 'postgres'] as const)
  describeInBrowser(`on the ${kind} database`, () => {
    const suite = useBrowser({ start: databases[kind] });

    test('a newcomer signs up, integrates, inspects everything and signs out', async (context) => {
      const receiver = await openReceiver((_received, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).end(hostile);
      });
      context.onTestFinished(() => receiver.close());
      const { page } = await suite.openTab(context);
      const heading = (name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor();
      const received = (type: string, count = 1): Promise<readonly Received[]> =>
        vi.waitFor(() => {
          const found = receiver.received.filter(({ body }) => JSON.parse(body).type === type);
          expect(found.length).toBeGreaterThanOrEqual(count);
          return found;
        }, waitMs);

      await step('sign up, create an organization and an application', async () => {
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

      const api = await step('create an API key, which is shown once and stored nowhere', async () => {
        await page.getByRole('link', { name: 'Create a key' }).click();
        const dialog = page.getByRole('dialog', { name: 'Create API key' });
        await dialog.getByLabel('Name').fill('Checkout server');
        await dialog.getByRole('button', { name: 'Create key' }).click();
        const created = page.getByRole('dialog', { name: 'API key created' });
        await created.getByRole('button', { name: 'Copy API key' }).click();
        const key = await clipboardOf(page);
        expect(key).toMatch(/^sbk_sandbox_\w{32}$/);
        expect(await created.innerText()).toContain(key);
        await created.getByRole('button', { name: 'Done' }).click();
        await created.waitFor({ state: 'detached' });
        await page.getByRole('row', { name: /Checkout server/ }).waitFor();
        expect(await pageContent(page)).not.toContain(key);
        await page.reload();
        await page.getByRole('row', { name: /Checkout server/ }).waitFor();
        expect(await pageContent(page)).not.toContain(key);
        return apiOf(suite.url, key);
      });

      const secret = await step('create a webhook, whose secret is shown once', async () => {
        await goTo(page, 'Webhooks');
        await page.getByRole('button', { name: 'Create webhook' }).first().click();
        const dialog = page.getByRole('dialog', { name: 'Create webhook' });
        await dialog.getByLabel('URL').fill(receiver.url);
        await dialog.getByRole('button', { name: 'Create webhook' }).click();
        const created = page.getByRole('dialog', { name: 'Save the signing secret' });
        await created.getByRole('button', { name: 'Copy signing secret' }).click();
        const copied = await clipboardOf(page);
        expect(copied).toMatch(/^whsec_/);
        await created.getByRole('button', { name: 'Done' }).click();
        await page.getByRole('row', { name: receiver.url }).waitFor();
        expect(await pageContent(page)).not.toContain(copied);
        return copied;
      });

      const stateIs = (state: string) => page.locator('[aria-current=step]', { hasText: state }).waitFor();
      const act = async (action: string) => {
        await page.getByRole('button', { name: 'Actions' }).click();
        await page.getByRole('menuitem', { name: action, exact: true }).click();
      };

      const payment = await step('open a payment, whose state is highlighted in the diagram', async () => {
        const created = await api.post('payments', {
          amount: 1250,
          currency: 'EUR',
          captureMethod: 'manual',
          reference: 'order-1001',
        });
        await goTo(page, 'Payments');
        await page
          .getByRole('row', { name: /order-1001/ })
          .getByRole('link')
          .click();
        await heading(/12\.50/);
        await stateIs('Pending');
        await page.getByRole('button', { name: 'View all states' }).click();
        await page.getByRole('img', { name: /now pending/ }).waitFor();
        await vi.waitFor(async () => expect(await highlightedStates(page)).toEqual(['pending']), waitMs);
        await pressEscape(page.getByRole('dialog', { name: 'All states' }));
        return created;
      });

      await step('move the payment by an action and to a state', async () => {
        await page.getByRole('button', { name: 'Next: Authorize' }).click();
        await stateIs('Authorized');
        await act('Capture…');
        const capture = page.getByRole('dialog', { name: 'Capture' });
        await capture.getByRole('button', { name: 'Capture', exact: true }).click();
        await stateIs('Captured');
        await act('Go to state…');
        const goal = page.getByRole('dialog', { name: 'Go to state' });
        await goal.getByLabel('State').selectOption('settled');
        await goal.getByRole('button', { name: 'Go', exact: true }).click();
        await stateIs('Settled');
        expect(await api.get(`payments/${payment.id}`)).toMatchObject({ status: 'settled' });
      });

      await step('the receiver got every event, signed with the secret that was shown', async () => {
        for (const state of ['created', 'authorized', 'captured', 'settled']) {
          const [first] = await received(`payment.${state}`);
          expect(first && signaturesOf(first, secret), state).toEqual([0]);
        }
      });

      await step('open a delivery, which shows the hostile response as text', async () => {
        await goTo(page, 'Webhooks');
        await page.getByRole('row', { name: receiver.url }).getByRole('link').click();
        await page
          .getByRole('row', { name: /payment\.captured/ })
          .getByRole('link')
          .click();
        await heading('Delivery of payment.captured');
        await page.getByText('Attempt 1', { exact: true }).waitFor();
        const shown = (title: string) => page.getByRole('figure', { name: title }).innerText();
        expect(await shown('Request headers')).toContain('webhook-signature');
        const body = page.getByRole('figure', { name: /^JSON/ });
        expect(await body.innerText()).toContain(payment.id);
        await body.getByRole('button', { name: 'Raw' }).click();
        const [sent] = await received('payment.captured');
        expect(await body.locator('pre').innerText()).toBe(sent?.body);
        expect(await shown('Response headers')).toContain('text/html');
        expect(await shown('Response body')).toContain(hostile);
        expect(await page.evaluate('globalThis.wasRun')).toBeUndefined();
        expect(await page.locator('img[src="x"]').count()).toBe(0);
      });

      await step(
        'replay the delivery: the receiver gets the same event with the same webhook-id',
        async () => {
          await page.getByRole('button', { name: 'Replay' }).click();
          const [first, again] = await received('payment.captured', 2);
          expect(again?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
          expect(again?.body).toBe(first?.body);
          expect(again && signaturesOf(again, secret)).toEqual([0]);
          await page.getByText('Replay', { exact: true }).first().waitFor();
        },
      );

      await step('advance the clock by a day, which expires a quote, and reset it', async () => {
        const quote = { sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 10_000 };
        const transfer = await api.post('transfers', quote);
        await page.getByRole('button', { name: /Application clock/ }).click();
        const clock = page.getByRole('dialog', { name: 'Application clock' });
        await clock.getByText('Real time.', { exact: true }).waitFor();
        await clock.getByRole('button', { name: '+1 day' }).click();
        await clock.getByRole('heading', { name: /^\d+ events? processed$/ }).waitFor();
        await clock.getByText('1 day ahead of real time.').waitFor();
        await clock.getByText('Transfer: expired').click();
        await clock.getByRole('link', { name: transfer.id.slice(-6) }).waitFor();
        await clock.getByRole('button', { name: 'Reset…' }).click();
        await page.getByRole('alertdialog').getByRole('button', { name: 'Reset clock' }).click();
        await clock.getByText('Real time.', { exact: true }).waitFor();
        await page.keyboard.press('Escape');
        expect(await api.get(`transfers/${transfer.id}`)).toMatchObject({ status: 'expired' });
      });

      await step('the ledger is balanced', async () => {
        await goTo(page, 'Ledger');
        await page.getByRole('heading', { name: 'The ledger is balanced' }).waitFor();
        await page.getByRole('table', { name: 'Balances in EUR' }).waitFor();
      });

      await step('the request log shows the request and the response', async () => {
        await goTo(page, 'Requests');
        const row = page.getByRole('row', { name: /POST ?developer_api_payments .*Checkout server/ });
        // The server writes the log in the background.
        await vi.waitFor(
          async () => {
            await page.reload();
            await page.getByRole('row').nth(1).waitFor();
            expect(await row.count()).toBeGreaterThan(0);
          },
          { timeout: waitMs, interval: 500 },
        );
        await row.getByRole('link').click();
        await heading(/POST developer_api_payments/);
        expect(await page.getByRole('figure', { name: 'Request body' }).innerText()).toContain('order-1001');
        expect(await page.getByRole('figure', { name: 'Response body' }).innerText()).toContain(payment.id);
      });

      await step('the audit trail names the person and the key, and is intact', async () => {
        await goTo(page, 'Audit');
        await page.getByRole('heading', { name: 'Audit log verified' }).waitFor();
        const rows = page.getByRole('table', { name: 'Audit trail, newest first' });
        for (const entry of [/payment.* Checkout server/, /payment.* Ada Lovelace/])
          await rows.getByRole('row', { name: entry }).first().waitFor();
      });

      await step('sign out, and come back to the requested page after signing in', async () => {
        const address = page.url();
        await page.getByRole('button', { name: /account of Ada Lovelace/ }).click();
        await page.getByRole('menuitem', { name: 'Sign out' }).click();
        await heading('Sign in');
        expect((await page.request.get('/console/api/session').then((answer) => answer.json())).person).toBe(
          null,
        );
        await page.goto(address);
        await heading('Sign in');
        await signIn(page, person);
        await heading('Audit');
        expect(page.url()).toBe(address);
      });
    });
  });

/** The states whose box has a unique fill. */
function highlightedStates(page: Page): Promise<readonly string[]> {
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
