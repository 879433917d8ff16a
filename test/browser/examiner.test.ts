/** The panel that examines a webhook receiver, against a real receiver. */
import type { Page } from 'playwright-core';
import { afterAll, expect, type TestContext, test } from 'vitest';
import { type Examinee, openExaminee, secret, verified } from '../examiner/receivers.ts';
import {
  describeInBrowser,
  desktop,
  expectAccessible,
  expectNoOverflow,
  phone,
  untilStill,
} from '../support/browser.ts';
import { type PersonName, useConsole } from './console.ts';

describeInBrowser('receiver examiner', () => {
  const closing: (() => Promise<void>)[] = [];
  let receiver: Examinee;
  /** Whether the receiver accepts signatures that are older than five minutes. */
  let acceptsOldSignatures = true;
  let isDown = false;
  const suite = useConsole({
    organizations: ['Acme'],
    webhooks: async () => {
      receiver = await openExaminee(
        {
          before: ({ response }) => {
            if (isDown) response.destroy();
            return isDown;
          },
          verify: (handled) => {
            const isOld = Date.now() / 1_000 - Number(handled.headers['webhook-timestamp']) > 300;
            return acceptsOldSignatures && isOld
              ? JSON.parse(handled.rawBody.toString('utf8'))
              : verified(handled);
          },
        },
        (close) => closing.push(close),
      );
      return { Acme: [{ url: receiver.url, secret, retryProfile: 'none' }] };
    },
  });
  afterAll(async () => {
    for (const close of closing) await close();
  });

  async function open(
    context: TestContext,
    who: PersonName,
    viewport: typeof desktop | typeof phone = desktop,
  ) {
    acceptsOldSignatures = true;
    isDown = false;
    const [webhook] = await suite.organization('Acme').api.list('webhooks');
    return suite.open(context, who, 'Acme', `webhooks/${webhook?.id}`, { viewport });
  }
  // With the report of an earlier examination on the page, the button has the other name.
  const examine = (page: Page) => page.getByRole('button', { name: /^Examine (receiver|again)$/ }).click();
  const reportOf = (page: Page) => page.getByRole('region', { name: 'Report' });

  for (const viewport of [desktop, phone])
    test(`a developer gets a graded report with advice, fixes the receiver and gets an A, ${viewport.width} px`, async (context) => {
      const page = await open(context, 'developer', viewport);
      const report = reportOf(page);
      await page.getByText('All 25 cases').click();
      await untilStill(page);
      await expectAccessible(page, 'the list of cases');
      await page.getByText('All 25 cases').click();
      await examine(page);
      await report.getByText('Grade C').waitFor();
      expect(await report.innerText()).toContain('1 failed, 24 passed');
      const failed = report.getByRole('listitem').filter({ hasText: 'signed ten minutes ago is refused' });
      expect(await failed.innerText()).toMatch(/Failed\s+Major/);
      expect(await failed.innerText()).toMatch(/Expected\s+4xx\s+Received\s+204/);
      await failed.getByText('Reject requests that were signed more than five minutes ago.').waitFor();
      await failed.getByText('Math.abs(Date.now() / 1000 - Number(timestamp)) > 300').waitFor();
      await report.getByText('24 cases passed').click();
      await report.getByText('The same event twice is accepted twice').waitFor();
      await untilStill(page);
      await expectAccessible(page, 'the report');
      await expectNoOverflow(page, 'the report');
      acceptsOldSignatures = false;
      await examine(page);
      await report.getByText('Grade A').waitFor();
      expect(await report.innerText()).toContain('No findings.');
      // The examination is not recorded among the deliveries.
      await page.getByText('No deliveries yet').waitFor();
      expect(await suite.organization('Acme').api.list('webhook_deliveries')).toEqual([]);
      expect(await page.content()).not.toContain(secret);
    });

  test('cases and the event type are chosen with the keyboard', async (context) => {
    const page = await open(context, 'developer');
    await page.getByText('All 25 cases').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Select none' }).click();
    await page.getByText('1 of 25 cases').waitFor();
    const required = page.getByRole('checkbox', { name: 'A correctly signed event is accepted' });
    expect(await required.isDisabled()).toBe(true);
    await page.getByRole('checkbox', { name: 'The same event twice is accepted twice' }).focus();
    await page.keyboard.press('Space');
    await page.getByLabel('Event type', { exact: true }).first().selectOption('refund.succeeded');
    const before = receiver.handled.length;
    await examine(page);
    await reportOf(page).getByText('2 passed').waitFor();
    await reportOf(page).getByText('Grade A').waitFor();
    const types = receiver.handled
      .slice(before)
      .map(({ rawBody }) => JSON.parse(rawBody.toString('utf8')).type);
    expect(types).toEqual(Array(3).fill('refund.succeeded'));
  });

  test('a receiver that does not answer ends the examination early', async (context) => {
    const page = await open(context, 'developer');
    isDown = true;
    await examine(page);
    await reportOf(page).getByText('It ended early.').waitFor();
    const text = await reportOf(page).innerText();
    expect(text).toContain('Connection closed: the receiver sent no response.');
    expect(text).toContain('No other case ran');
    expect(text).toContain('1 failed');
  });

  test('a viewer sees the last report and cannot examine', async (context) => {
    const page = await open(context, 'viewer');
    await reportOf(page).waitFor();
    expect(await page.getByRole('button', { name: /^Examine/ }).count()).toBe(0);
  });
});
