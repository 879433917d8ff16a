import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Examinee, openExaminee, secret, verified } from '../examiner/receivers.ts';
import { describeInBrowser, desktop, expectAccessible, phone } from '../support/browser.ts';
import { Office, type Who } from './office.ts';

describeInBrowser('the panel that examines a receiver', () => {
  const closing: (() => Promise<void>)[] = [];
  let receiver: Examinee;
  const office = new Office({
    who: ['developer', 'viewer'],
    webhooks: async () => {
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
      return [{ url: receiver.url, secret, retryProfile: 'none' }];
    },
  });
  let webhookId = '';
  let page: Page;
  /** What the receiver has not learned yet. */
  let isForgetful = true;
  let isDown = false;

  beforeAll(async () => {
    const { data } = await office.caller.get('webhooks');
    webhookId = (data as readonly { id: string }[])[0]?.id ?? '';
  });
  afterAll(async () => {
    for (const close of closing) await close();
  });
  beforeEach(() => {
    isForgetful = true;
    isDown = false;
  });

  async function open(who: Who, look: Parameters<Office['open']>[2] = {}): Promise<void> {
    page = await office.open(who, `webhooks/${webhookId}`, look);
  }

  const start = (name = 'Examine receiver') => page.getByRole('button', { name, exact: true }).click();
  const report = () => page.getByRole('region', { name: 'Report' });

  test('a developer gets a graded report with advice, mends the receiver, and gets an A', async () => {
    await open('developer');
    await start();
    await report().getByText('Grade C').waitFor();
    expect(await report().innerText()).toContain('1 failed, 24 passed');
    const bad = report().getByRole('listitem').filter({ hasText: 'signed ten minutes ago is refused' });
    expect(await bad.innerText()).toMatch(/Failed\s+Major/);
    expect(await bad.innerText()).toMatch(/Expected\s+4xx\s+Came\s+204/);
    await bad.getByText('Refuse what was signed more than five minutes ago.').waitFor();
    await bad.getByText('Math.abs(Date.now() / 1000 - Number(timestamp)) > 300').waitFor();
    await report().getByText('24 cases passed').click();
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
    const folded = page.getByText('All 25 cases');
    await folded.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Choose none' }).click();
    await page.getByText('1 of 25 cases').waitFor();
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

  test.each(looks)('it is accessible and whole with its cases and a report, in %s', async (name, look) => {
    await open('developer', look);
    await page.getByText('All 25 cases').click();
    await expectAccessible(page, `the choice of cases, ${name}`);
    await start();
    await report().getByText('Grade C').waitFor();
    await report().getByText('24 cases passed').click();
    await expectAccessible(page, `the report, ${name}`);
    const width = await page.evaluate('document.documentElement.scrollWidth');
    expect(width).toBeLessThanOrEqual(look.viewport.width);
  });

  test('a viewer does not find it', async () => {
    await open('viewer');
    await page.getByRole('heading', { name: 'Configuration' }).waitFor();
    expect(await page.getByText('Examine receiver').count()).toBe(0);
  });
});
