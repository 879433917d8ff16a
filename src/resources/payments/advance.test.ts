import { describe, expect, test } from 'vitest';
import type { Body } from '../../../test/support/api-client.ts';
import { CommandRunner, expectOk } from '../../../test/support/command-runner.ts';
import { paymentScenarios } from '../../kernel/scenario.ts';

const payments = 'developer_api_payments';
const start = Date.parse('2031-03-04T10:00:00.000Z');
const day = 86_400_000;

function created(runner: CommandRunner, body: object): Body {
  return expectOk(runner.post(payments, { amount: 10_000, currency: 'EUR', ...body }));
}

/** All rows that a payment's steps have written, without ids and the request. */
function written({ written: { history, events, entries, providerEvents, settlementLines } }: CommandRunner) {
  return {
    history: history
      .filter(({ resource }) => resource !== 'clock')
      .map(({ action, fromStatus, toStatus, at }) => [action, fromStatus, toStatus, at]),
    events: events.map(({ type, sequence, createdAt }) => [type, sequence, createdAt]),
    entries: entries.map(({ reason, postings, createdAt }) => [reason, postings, createdAt]),
    providerEvents: providerEvents.map(({ type, outcome, receivedAt }) => [type, outcome, receivedAt]),
    settlementLines: settlementLines.map(({ result, gross, createdAt }) => [result, gross, createdAt]),
  };
}

const methods = [
  { captureMethod: 'automatic' },
  { captureMethod: 'manual' },
  { captureMethod: 'manual', paymentMethod: { type: 'bank_debit' } },
];

describe.each(paymentScenarios)('the steps of %s by the clock', (scenario) => {
  test.each(methods)('write the same rows as requested steps, with %j', (method) => {
    const automatic = new CommandRunner({ now: start });
    const { id } = created(automatic, { scenario, autoAdvance: true, ...method });
    automatic.advance(30 * day);
    const steps = automatic.written.history.slice(1);
    expect(steps.length).toBeGreaterThan(0);

    // Each step is requested at the instant at which the clock took it.
    const manual = new CommandRunner({ now: start });
    const payment = created(manual, { scenario, ...method });
    for (const { at, resource, action } of steps) {
      manual.wallNow = at;
      // Payouts and deadlines do not depend on autoAdvance.
      if (action === 'settle' || action === 'expire') manual.advance(0);
      else if (resource === 'payment' && action !== 'dispute_lost')
        expectOk(manual.post(`${payments}/${payment.id}/advance`));
    }
    expect(written(manual)).toEqual(written(automatic));
    const { id: _id, autoAdvance: _autoAdvance, disputeId: _disputeId, ...shown } = automatic.show(id);
    expect(manual.show(payment.id)).toMatchObject(shown);
  });
});

test.each([{ action: 'refund' }, { action: 'dispute' }, { action: 'settle' }, { to: 'refunded' }])(
  'a refusal of %j after an overdue dispute does not name a dispute that does not exist',
  (body) => {
    const runner = new CommandRunner({ now: start });
    const { id } = created(runner, { autoAdvance: true, scenario: 'dispute' });
    runner.wallNow += 2 * 3_600_000;
    const { code, body: answer } = runner.post(`${payments}/${id}/advance`, body);
    expect(code).toBe('invalid_state_transition');
    const named = answer.error.details?.disputeId ?? runner.show(id).disputeId;
    if (named !== null) expect(runner.row(String(named))).toBeDefined();
    expect(runner.show(id)).toMatchObject({ status: 'pending', version: 1 });
  },
);
