import { describe, expect, test } from 'vitest';
import { allowedActions, paymentActions, statuses } from '../../../test/model/payments.ts';
import { paymentSituations, reach } from '../../../test/model/situations.ts';
import type { Step } from '../../../test/model/trial.ts';
import { CommandRunner } from '../../../test/support/command-runner.ts';
import { lifecycleMoves } from '../../kernel/machine.ts';
import { paymentMachine } from './machine.ts';

const advance = (body: Step['body']): Step => ({ on: 'payment', body });
const takesAmount = ['capture', 'refund', 'dispute'];
const amounts = [1_000, 20_000];

/** Every request that is sent in every situation: each action, each state, each with amounts that fit and that do not. */
const requests: readonly Step[] = [
  advance({}),
  ...paymentActions.map((action) => advance({ action })),
  ...takesAmount.flatMap((action) => amounts.map((amount) => advance({ action, amount }))),
  advance({ action: 'capture', amount: 1_000, final: true }),
  advance({ action: 'capture', amount: 1_000, currency: 'USD' }),
  advance({ action: 'fail', failureCode: 'expired_card' }),
  { on: 'payment refund', body: {} },
  ...amounts.map((amount): Step => ({ on: 'payment refund', body: { amount } })),
  ...statuses.map((to) => advance({ to })),
  ...['partially_captured', 'partially_refunded', 'disputed'].flatMap((to) =>
    amounts.map((amount) => advance({ to, amount })),
  ),
  advance({ to: 'failed', failureCode: 'stolen_card' }),
];

const reached = paymentSituations.map((situation) => ({ ...situation, trial: reach(situation) }));

describe('the matrix covers the payment machine:', () => {
  test('the model has every state and every action that a caller can request', () => {
    expect([...paymentMachine.states].sort()).toEqual(statuses.toSorted());
    const named = lifecycleMoves(paymentMachine).filter(
      ({ triggeredBy, from }) => triggeredBy === undefined && from.length > 0,
    );
    expect(new Set(named.map(({ action }) => action))).toEqual(new Set(paymentActions));
  });

  test.each(['automatic', 'manual'])('every state is reached with %s capture', (captureMethod) => {
    const some = reached.filter((situation) => situation.captureMethod === captureMethod);
    expect(new Set(some.map(({ trial }) => trial.payment.status))).toEqual(new Set(statuses));
  });

  test('every action is allowed in exactly the states that the machine names', () => {
    const ofMachine = lifecycleMoves(paymentMachine)
      .filter(({ triggeredBy }) => triggeredBy === undefined)
      .flatMap(({ action, from }) => from.map((state) => `${state} ${action}`));
    const ofModel = reached.flatMap(({ trial: { payment } }) =>
      allowedActions(payment).map((action) => `${payment.status} ${action}`),
    );
    expect([...new Set(ofModel)].sort()).toEqual([...new Set(ofMachine)].sort());
  });

  test('every condition of a transition is met in one situation and not met in another', () => {
    for (const { action, from, when } of paymentMachine.moves) {
      if (when === undefined) continue;
      const here = reached.filter(({ trial }) => from.includes(trial.payment.status));
      const allowed = here.filter(({ trial }) => allowedActions(trial.payment).includes(action));
      expect(allowed.length, `${action} is allowed somewhere`).toBeGreaterThan(0);
      expect(allowed.length, `${action} is refused somewhere`).toBeLessThan(here.length);
    }
  });
});

test.each(reached)('a payment $name: every request', ({ trial }) => trial.checkEach(requests));

test('a payment in a currency that does not exist is refused, and nothing is written', () => {
  const runner = new CommandRunner();
  const { status, body } = runner.post('developer_api_payments', { amount: 1_000, currency: 'XXX' });
  expect([status, body.error]).toMatchObject([422, { code: 'unsupported_currency', param: '/currency' }]);
  expect(runner.written.events).toEqual([]);
});
