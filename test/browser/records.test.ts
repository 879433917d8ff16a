/** Record pages: actions on transfers, refunds and disputes, progress, the diagram, and what amount fields understand. */
import type { Locator, Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { amountText } from '../../console/client/amount.ts';
import { clipboardOf, describeInBrowser, phone, step, untilStill, waitMs } from '../support/browser.ts';
import type { Api, Body } from './api.ts';
import { useConsole } from './console.ts';

describeInBrowser('record pages', () => {
  const suite = useConsole({ organizations: ['Transfers', 'Refunds', 'Pages', 'Amounts', 'Fields'] });
  const stateIs = (page: Page, state: string) =>
    page.locator('[aria-current=step]', { hasText: new RegExp(`^${state}`) }).waitFor();
  const act = async (page: Page, action: string) => {
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('menuitem', { name: action, exact: true }).click();
    return page.getByRole('dialog');
  };
  const button = (scope: Page | Locator, name: string) => scope.getByRole('button', { name, exact: true });
  const capturedPayment = async (api: Api, body: object = {}) => {
    const { id } = await api.post('payments', { amount: 12_500, currency: 'EUR', ...body });
    return api.post(`payments/${id}/advance`, { to: 'captured' });
  };

  test('a transfer is previewed, quoted and moved to its end', async (context) => {
    const { api } = suite.organization('Transfers');
    const page = await suite.open(context, 'developer', 'Transfers', 'transfers');
    const transfer = await step('the preview shows the amounts of the quote', async () => {
      await page.getByRole('button', { name: 'Create transfer' }).first().click();
      const dialog = page.getByRole('dialog', { name: 'Create transfer' });
      const preview = dialog.getByText(/^You pay/);
      await dialog.getByText('Enter an amount to see what you pay').waitFor();
      await dialog.getByLabel('Target currency').selectOption('JPY');
      await dialog.getByLabel('Amount in', { exact: true }).selectOption('target');
      await dialog.getByLabel('Amount in JPY').fill('44,000');
      const pair = { sourceCurrency: 'EUR', targetCurrency: 'JPY' };
      const fixed = await api.post('transfers', { ...pair, targetAmount: 44_000 });
      await preview.filter({ hasText: `You pay ${amountText(Number(fixed.totalAmount), 'EUR')},` }).waitFor();
      await dialog.getByLabel('Amount in', { exact: true }).selectOption('source');
      await dialog.getByLabel('Amount in EUR').fill('250,5');
      await preview.filter({ hasText: /44,7\d\d JPY/ }).waitFor();
      const shown = await preview.innerText();
      await dialog
        .getByRole('group', { name: /^Beneficiary/ })
        .getByLabel('Name')
        .first()
        .fill('Grace Hopper');
      await button(dialog, 'Get quote').click();
      await page.getByRole('heading', { level: 1, name: /250\.50 EUR to/ }).waitFor();
      const [quoted] = await api.list('transfers?limit=1');
      const [pay, receive] = [Number(quoted?.totalAmount), Number(quoted?.targetAmount)];
      expect(quoted).toMatchObject({ status: 'quoted', sourceAmount: 25_050 });
      expect(shown).toContain(
        `You pay ${amountText(pay, 'EUR')}, they receive ${amountText(receive, 'JPY')}.`,
      );
      return quoted as Body;
    });
    await step('Next accepts the quote and follows the scenario to its end', async () => {
      for (const [action, state] of [
        ['Accept', 'Accepted'],
        ['Fund', 'Funded'],
        ['Convert', 'Converted'],
        ['Send', 'Sent'],
        ['Complete', 'Completed'],
      ] as const) {
        await button(page, `Next: ${action}`).click();
        await stateIs(page, state);
      }
      expect(await api.get(`transfers/${transfer.id}`)).toMatchObject({ status: 'completed' });
    });
    await step('the stepper has the time of each state', async () => {
      const done = await api.get(`transfers/${transfer.id}`);
      const times = ['createdAt', 'acceptedAt', 'fundedAt', 'convertedAt', 'sentAt', 'completedAt'];
      const shownTimes = page.getByRole('region', { name: 'Progress' }).locator('time');
      await shownTimes.nth(times.length - 1).waitFor();
      const shown = await shownTimes.allInnerTexts();
      expect(shown.map((text) => text.slice(-8))).toEqual(
        times.map((name) => String(done[name]).slice(11, 19)),
      );
    });
    await step('Go to state takes the shortest path', async () => {
      const quoted = await api.post('transfers', {
        ...{ sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 10_000 },
        beneficiary: { name: 'Ada' },
      });
      await page.goto(`${page.url().replace(/trf_\w+/, quoted.id)}`);
      await stateIs(page, 'Quoted');
      const dialog = await act(page, 'Go to state…');
      await dialog.getByLabel('State').selectOption('sent');
      await button(dialog, 'Go').click();
      await stateIs(page, 'Sent');
      expect(await api.get(`transfers/${quoted.id}`)).toMatchObject({ status: 'sent' });
    });
  });

  test('a refund of the console is in the timeline and in Requests, and is advanced', async (context) => {
    const { api } = suite.organization('Refunds');
    const { id } = await capturedPayment(api, { scenario: 'refund_pending' });
    const page = await suite.open(context, 'developer', 'Refunds', `payments/${id}`);
    const address = page.url();
    const refund = await step('refund a part', async () => {
      const dialog = await act(page, 'Refund…');
      await dialog.getByLabel('Amount in EUR').fill('50');
      await button(dialog, 'Refund').click();
      await dialog.waitFor({ state: 'detached' });
      const [created] = await api.list(`refunds?paymentId=${id}`);
      expect(created).toMatchObject({ status: 'pending', amount: 5_000 });
      return created as Body;
    });
    await step('the request log has the request with its path, as curl', async () => {
      await page.goto(address.replace(/payments\/.*/, 'requests'));
      const row = page.getByRole('row', { name: /POST ?developer_api_payments\/\S+\/refund/ });
      // The server writes the log in the background.
      await vi.waitFor(
        async () => {
          await page.reload();
          await page.getByRole('row').nth(1).waitFor();
          expect(await row.count()).toBe(1);
        },
        { timeout: waitMs, interval: 500 },
      );
      await row.getByRole('link').click();
      await button(page, 'Copy as curl').click();
      await page.getByText('Copied as curl').waitFor();
      const curl = await clipboardOf(page);
      expect(curl).toContain(`/_api/developer_api_payments/${id}/refund`);
      expect(curl).toContain('"amount": 5000');
    });
    await step('the timeline of the payment has it, too', async () => {
      await page.goto(address);
      const path = new RegExp(`POST .*developer_api_payments/${id}/refund`);
      await page.getByRole('button', { name: path }).waitFor();
    });
    await step('Next succeeds the refund', async () => {
      await page.goto(address.replace(/payments\/.*/, `refunds/${refund.id}`));
      await stateIs(page, 'Pending');
      await button(page, 'Next: Succeed').click();
      await stateIs(page, 'Succeeded');
      expect(await api.get(`refunds/${refund.id}`)).toMatchObject({ status: 'succeeded' });
      expect(await api.get(`payments/${id}`)).toMatchObject({ amountRefunded: 5_000 });
    });
  });

  test('a disputed payment leads to its dispute, which is won with evidence or lost', async (context) => {
    const { api } = suite.organization('Refunds');
    const open = async () => {
      const { id } = await capturedPayment(api);
      await api.post(`payments/${id}/advance`, { action: 'dispute', reason: 'duplicate' });
      const [dispute] = await api.list(`disputes?paymentId=${id}`);
      return { paymentId: id, id: dispute?.id ?? '' };
    };
    const [won, lost] = [await open(), await open()];
    const page = await suite.open(context, 'developer', 'Refunds', `payments/${won.paymentId}`);
    await step('submit evidence and win', async () => {
      await page.getByText('Waiting for its dispute.').waitFor();
      await page.getByRole('link', { name: 'Open dispute' }).click();
      await page.getByText('Submit evidence by').waitFor();
      const dialog = await act(page, 'Submit evidence…');
      for (const [index, [name, value]] of [
        ['receipt', 'R-17'],
        ['tracking', '1Z999'],
      ].entries()) {
        await button(dialog, 'Add line').click();
        await dialog.getByLabel(`Evidence, name ${index + 1}`).fill(name ?? '');
        await dialog.getByLabel(`Evidence, value ${index + 1}`).fill(value ?? '');
      }
      await button(dialog, 'Submit evidence').click();
      await stateIs(page, 'Under review');
      expect(await api.get(`disputes/${won.id}`)).toMatchObject({
        ...{ status: 'under_review', evidence: { receipt: 'R-17', tracking: '1Z999' } },
      });
      await act(page, 'Win');
      await stateIs(page, 'Won');
      expect(await api.get(`disputes/${won.id}`)).toMatchObject({ status: 'won' });
      expect(await api.get(`payments/${won.paymentId}`)).toMatchObject({ status: 'captured' });
    });
    await step('lose the other one: it leaves the path, and what it missed is cut off', async () => {
      await api.post(`disputes/${lost.id}/advance`, {
        action: 'submit_evidence',
        evidence: { note: 'None' },
      });
      await page.goto(page.url().replace(/dsp_\w+/, lost.id));
      await act(page, 'Lose…');
      await button(page.getByRole('alertdialog'), 'Lose').click();
      await stateIs(page, 'Lost');
      expect(await api.get(`disputes/${lost.id}`)).toMatchObject({ status: 'lost' });
      expect(await api.get(`payments/${lost.paymentId}`)).toMatchObject({ status: 'charged_back' });
      const steps = page.getByRole('region', { name: 'Progress' }).getByRole('listitem');
      await steps.filter({ hasText: /^Won\s*not reached/ }).waitFor();
    });
  });

  test('at 1440 px the progress is one line of equal steps, and the timeline is above the fold', async (context) => {
    const { api } = suite.organization('Pages');
    const { id } = await api.post('payments', { amount: 12_500, currency: 'EUR', captureMethod: 'manual' });
    await api.post(`payments/${id}/advance`, { to: 'authorized' });
    await api.post(`payments/${id}/advance`, { action: 'capture', amount: 500 });
    const viewport = { width: 1440, height: 900 };
    const page = await suite.open(context, 'viewer', 'Pages', `payments/${id}`, { viewport });
    await stateIs(page, 'Partially captured');
    const steps = page.getByRole('region', { name: 'Progress' }).getByRole('listitem');
    await steps.locator('time').nth(2).waitFor();
    expect(await steps.locator('time').count()).toBe(3);
    const boxes = await Promise.all((await steps.all()).map((one) => one.boundingBox()));
    expect(boxes.length).toBe(5);
    expect(new Set(boxes.map((box) => box?.y)).size, 'rows').toBe(1);
    const widths = boxes.map((box) => box?.width ?? 0);
    expect(Math.max(...widths) - Math.min(...widths), 'unequal steps').toBeLessThan(1);
    const boxOf = async (locator: Locator) => {
      const box = await locator.boundingBox();
      if (box === null) throw new Error('not visible');
      return box;
    };
    const timeline = await boxOf(page.getByRole('heading', { name: 'Timeline' }));
    const newest = await boxOf(page.getByRole('button', { name: /payment\.partially_captured/ }).first());
    const amounts = await boxOf(page.getByRole('heading', { name: 'Amounts' }));
    expect(newest.y + newest.height, 'the newest transition').toBeLessThan(viewport.height);
    expect(Math.abs(amounts.y - timeline.y), 'the side column starts beside the timeline').toBeLessThan(40);
    expect(amounts.x, 'the side column is narrow').toBeGreaterThan(1_000);
  });

  test('on a phone the diagram is readable and shows the current state first', async (context) => {
    const { api } = suite.organization('Pages');
    const payment = await capturedPayment(api);
    const { id } = await api.post('transfers', {
      ...{ sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 10_000 },
      beneficiary: { name: 'Ada' },
    });
    await api.post(`transfers/${id}/advance`, { to: 'converted' });
    const page = await suite.open(context, 'viewer', 'Pages', `payments/${payment.id}`, { viewport: phone });
    for (const [path, state] of [
      [`payments/${payment.id}`, 'captured'],
      [`transfers/${id}`, 'converted'],
    ]) {
      await page.goto(page.url().replace(/(payments|transfers)\/\w+/, path ?? ''));
      await button(page, 'View all states').click();
      const drawing = page.getByRole('img', { name: new RegExp(`now ${state}`) });
      await drawing.waitFor();
      await untilStill(page);
      const { fontSize, left, right, top, bottom, middle } = await drawing.evaluate((svg, name) => {
        const nodes = [...svg.querySelectorAll('g')];
        const node = nodes.find((one) => one.querySelector('text')?.textContent === name);
        const text = node?.querySelector('text');
        const box = node?.querySelector('rect')?.getBoundingClientRect();
        const region = svg.parentElement?.getBoundingClientRect();
        if (!text || !box || !region) throw new Error(`The diagram has no ${name}`);
        const scale = svg.getBoundingClientRect().width / Number(svg.getAttribute('viewBox')?.split(' ')[2]);
        return {
          ...{ left: box.left, right: box.right, top: box.top, bottom: box.bottom },
          fontSize: Number.parseFloat(svg.ownerDocument.defaultView.getComputedStyle(text).fontSize) * scale,
          middle: (region.left + region.right) / 2,
        };
      }, state);
      expect(fontSize, `${path}: text as rendered`).toBeGreaterThanOrEqual(11);
      expect(left, path).toBeGreaterThanOrEqual(0);
      expect(right, path).toBeLessThanOrEqual(phone.width);
      expect(top, path).toBeGreaterThanOrEqual(0);
      expect(bottom, path).toBeLessThanOrEqual(phone.height);
      expect(Math.abs((left + right) / 2 - middle), `${path}: centered`).toBeLessThan(10);
    }
  });

  test('every amount field reads a decimal comma, and refuses what has two meanings', async (context) => {
    const { api } = suite.organization('Amounts');
    const { id } = await api.post('payments', {
      ...{ amount: 2_000_000, currency: 'KWD', captureMethod: 'manual' },
    });
    await api.post(`payments/${id}/advance`, { to: 'authorized' });
    const page = await suite.open(context, 'developer', 'Amounts', `payments/${id}`);
    const amountOf = { capture: 'amountCaptured', refund: 'amountRefunded', dispute: 'amount' } as const;
    for (const [action, label, text, shown, minor] of [
      ['capture', 'Capture', '1250,5', '= 1,250.500 KWD', 1_250_500],
      ['refund', 'Refund', '1,5', '= 1.500 KWD', 1_500],
      ['dispute', 'Dispute', '12,50', '= 12.500 KWD', 12_500],
    ] as const)
      await step(action, async () => {
        const dialog = await act(page, `${label}…`);
        const amount = dialog.getByLabel('Amount in KWD');
        await amount.fill('2000,001');
        await dialog.getByText(/^2,000\.001 KWD exceeds/).waitFor();
        await amount.fill('1,250');
        await dialog.getByText('Ambiguous: enter 1.250 or 1250.').waitFor();
        await button(dialog, label).click();
        await amount.and(page.locator(':focus')).waitFor();
        await amount.fill(text);
        await dialog.getByText(shown).waitFor();
        if (action === 'capture') await dialog.getByLabel('Final capture').click();
        await button(dialog, label).click();
        await dialog.waitFor({ state: 'detached' });
        const disputes = await api.list(`disputes?paymentId=${id}`);
        const changed = action === 'dispute' ? disputes[0] : await api.get(`payments/${id}`);
        expect(changed?.[amountOf[action]]).toBe(minor);
      });
    await step('transfer', async () => {
      await page.goto(page.url().replace(/payments\/.*/, 'transfers?create=1'));
      const dialog = page.getByRole('dialog', { name: 'Create transfer' });
      await dialog.getByLabel('Source currency').selectOption('KWD');
      await dialog.getByLabel('Amount in KWD').fill('1,250');
      await dialog.getByText('Ambiguous: enter 1.250 or 1250.').waitFor();
      await button(dialog, 'Get quote').click();
      await dialog.getByLabel('Amount in KWD').fill('1,25');
      await dialog.getByText('= 1.250 KWD').waitFor();
      await button(dialog, 'Get quote').click();
      await stateIs(page, 'Quoted');
      const transfers = await api.list('transfers');
      expect(
        transfers.map(({ sourceAmount }) => sourceAmount),
        'the ambiguous amount is not sent',
      ).toEqual([1_250]);
    });
    await step('percentages and rates of an application', async () => {
      const { id: organizationId, applicationId } = suite.organization('Amounts');
      await page.goto(`/console/${organizationId}/applications/${applicationId}`);
      await page.getByLabel('Percentage fee').fill('1,5');
      await page.getByLabel('Margin in percent').fill('0,25');
      await button(page, 'Add rate').click();
      await page.getByLabel('Source currency of new rate').fill('EUR');
      await page.getByLabel('Target currency of EUR/').fill('USD');
      await page.getByLabel('Rate of EUR/USD').fill('1,250');
      await button(page, 'Save changes').click();
      await page.getByText('Ambiguous: enter 1.250 or 1250.').waitFor();
      await page.getByLabel('Rate of EUR/USD').and(page.locator('[aria-invalid=true]:focus')).waitFor();
      await page.getByLabel('Rate of EUR/USD').fill('1,0842');
      await button(page, 'Save changes').click();
      await page.getByText('Settings saved').waitFor();
      const saved = await suite.session('developer').get(`${organizationId}/applications/${applicationId}`);
      expect(saved).toMatchObject({
        ...{ fee: { basisPoints: 150 }, fx: { marginBasisPoints: 25, rates: { 'EUR/USD': '1.0842' } } },
      });
    });
  });

  test('a message of the server names the field by its label, without API wording', async (context) => {
    const page = await suite.open(context, 'developer', 'Fields', 'customers');
    const { id, applicationId } = suite.organization('Fields');
    const dialog = page.getByRole('dialog');
    await step('an invalid email address', async () => {
      await page.getByRole('button', { name: 'Create customer' }).first().click();
      await dialog.getByLabel('Name').fill('Ada');
      await dialog.getByLabel('Email').fill('ada');
      await button(dialog, 'Create customer').click();
      await dialog.getByText(/^Email does not have .* one @ with text before/).waitFor();
      expect(await dialog.innerText()).not.toMatch(/\/email|\^\[/);
    });
    await step('an amount above the maximum, which the page does not know yet', async () => {
      const { api } = suite.organization('Fields');
      const { id: paymentId } = await api.post('payments', { amount: 1_250, currency: 'EUR' });
      await api.post(`payments/${paymentId}/advance`, { to: 'captured' });
      await page.goto(`/console/${id}/payments/${paymentId}`);
      await stateIs(page, 'Captured');
      await page.getByRole('button', { name: /^Live\./ }).click();
      await api.post(`payments/${paymentId}/advance`, { action: 'refund', amount: 1_000 });
      await act(page, 'Refund…');
      await dialog.getByLabel('Amount in EUR').fill('12.50');
      await button(dialog, 'Refund').click();
      await dialog.getByText(/^12\.50 EUR exceeds the refundable amount of 2\.50 EUR\./).waitFor();
      expect(await dialog.innerText()).not.toMatch(/`|details\.|Leave `/);
    });
    await step('an unknown operation in a fault plan', async () => {
      await page.goto(`/console/${id}/faults`);
      await page.getByRole('button', { name: 'Create fault plan' }).first().click();
      await dialog.getByLabel('Only these operations').fill('createPaymnt');
      await button(dialog, 'Create fault plan').click();
      await dialog.getByText('Did you mean createPayment?').waitFor();
      expect(await dialog.innerText()).not.toMatch(/\/operations|listCustomers/);
    });
    await step('a rate of an unknown currency', async () => {
      await page.goto(`/console/${id}/applications/${applicationId}`);
      await button(page, 'Add rate').click();
      await page.getByLabel('Source currency of new rate').fill('EUR');
      await page.getByLabel('Target currency of EUR/').fill('XQX');
      await page.getByLabel('Rate of EUR/XQX').fill('2');
      await button(page, 'Save changes').click();
      const alert = page.getByRole('alert').filter({ hasText: 'XQX' });
      await alert.waitFor();
      expect(await alert.innerText()).not.toMatch(/\/fx|`/);
    });
  });
});
