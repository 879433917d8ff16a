/** The page that plans faults, and the effect of the faults on API requests. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeInBrowser, expectAccessible, expectNoOverflow, phone, step } from '../support/browser.ts';
import { useConsole } from './console.ts';

describeInBrowser('fault plans', () => {
  const suite = useConsole({ organizations: ['Lost responses', 'Invalid plans', 'Errors'] });

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });
  const pay = (organization: string, idempotencyKey: string) =>
    fetch(`${suite.url}/_api/developer_api_payments`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${suite.organization(organization).api.key}`,
        'idempotency-key': idempotencyKey,
        'content-type': 'application/json',
      },
      body: '{"amount":1250,"currency":"EUR"}',
    });

  test('a plan loses a response, and the retry returns the payment that was created', async (context) => {
    const page = await suite.open(context, 'developer', 'Lost responses', 'faults');
    const dialog = page.getByRole('dialog');
    await step('create the plan', async () => {
      await page.getByText('No fault plans yet').waitFor();
      await button(page, 'Create fault plan').first().click();
      await dialog.getByLabel('Fault type').selectOption('lose_answer');
      await dialog.getByLabel('Only these operations').fill('createPayment');
      await expectAccessible(page, 'the dialog that plans a fault', { except: ['region'] });
      await dialog.getByRole('button', { name: 'Create fault plan' }).click();
      await row(page, 'Lost response').getByText('Active').waitFor();
    });
    await step('the first request gets no response, the retry a replayed one', async () => {
      await expect(pay('Lost responses', 'order-1')).rejects.toThrow();
      const retried = await pay('Lost responses', 'order-1');
      expect(retried.headers.get('idempotent-replayed')).toBe('true');
      expect(await suite.organization('Lost responses').api.list('payments')).toHaveLength(1);
    });
    await step('the page shows the plan as used up, and the request that it hit', async () => {
      await row(page, 'Lost response').getByText('Exhausted').waitFor();
      await expectAccessible(page, 'the list of plans', { except: ['region'] });
      await row(page, 'Lost response').getByText('1 of 1').click();
      const hit = row(page, 'Injected fault');
      await hit.getByText('No response').waitFor();
      expect(await hit.count()).toBe(1);
      expect(await page.getByRole('row').count(), 'the header and the request').toBe(2);
      await hit.getByRole('link').click();
      await page.getByText('Fault plan', { exact: true }).waitFor();
    });
  });

  test('an invalid plan is rejected at its field', async (context) => {
    const page = await suite.open(context, 'developer', 'Invalid plans', 'faults');
    const dialog = page.getByRole('dialog');
    await button(page, 'Create fault plan').first().click();
    await dialog.getByLabel('Share').fill('101');
    await dialog.getByRole('button', { name: 'Create fault plan' }).click();
    await dialog.getByText(/100/).first().waitFor();
    await dialog.getByLabel('Share').fill('');
    await dialog.getByLabel('Count').fill('');
    await dialog.getByRole('button', { name: 'Create fault plan' }).click();
    await dialog.locator('[aria-invalid=true]').first().waitFor();
    expect(await suite.organization('Invalid plans').api.list('fault_plans')).toEqual([]);
    expect(
      await suite.organization('Invalid plans').api.status('payments', { amount: 1, currency: 'EUR' }),
    ).toBe(201);
  });

  test('a plan on a phone returns errors until it is ended', async (context) => {
    const options = { viewport: phone, theme: 'dark' } as const;
    const page = await suite.open(context, 'developer', 'Errors', 'faults', options);
    const dialog = page.getByRole('dialog');
    await step('create the plan', async () => {
      await button(page, 'Create fault plan').first().click();
      await dialog.getByLabel('Fault type').selectOption('error');
      await dialog.getByLabel('Code').selectOption('rate_limited');
      await dialog.getByLabel('Count').fill('');
      await dialog.getByLabel('Share').fill('100');
      await expectAccessible(page, 'the dialog on a phone', { except: ['region'] });
      await dialog.getByRole('button', { name: 'Create fault plan' }).click();
      await row(page, 'Error rate_limited').getByText('Active').waitFor();
      expect((await pay('Errors', 'order-2')).status).toBe(429);
    });
    await step('end the plan', async () => {
      await button(page, 'End plan: Error rate_limited').click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'End plan' }).click();
      await row(page, 'Error rate_limited').getByText('Canceled').waitFor();
      expect((await pay('Errors', 'order-2')).status).toBe(201);
      await expectAccessible(page, 'the list on a phone', { except: ['region'] });
      await expectNoOverflow(page, 'the list on a phone');
    });
  });
});
