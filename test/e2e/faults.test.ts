import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeInBrowser, desktop, expectAccessible, phone } from '../support/browser.ts';
import { Office, officeKey } from './office.ts';

describeInBrowser('the page of faults', () => {
  const office = new Office({ who: ['developer'] });
  let page: Page;

  async function open(look: Parameters<Office['open']>[2]): Promise<void> {
    page = await office.open('developer', 'faults', look);
  }

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const dialog = () => page.getByRole('dialog');
  const row = (words: string) => page.getByRole('row').filter({ hasText: words });
  const pay = (idempotencyKey: string) =>
    fetch(`${office.url}/_api/developer_api_payments`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${officeKey}`,
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
    await expectAccessible(page, 'the list of plans', { except: ['region'] });
    await row('Lost answer').getByText('1 of 1').click();
    const hit = page.getByRole('row').filter({ hasText: 'By a fault plan' });
    await hit.getByText('No answer').waitFor();
    expect(await hit.count()).toBe(1);
    expect(await page.getByRole('row').count(), 'the hit and the head').toBe(2);
    await hit.getByRole('link').click();
    await page.getByText('Fault plan', { exact: true }).waitFor();
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
