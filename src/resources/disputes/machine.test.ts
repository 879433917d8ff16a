import { expect, test } from 'vitest';
import { disputeActions, disputeStatuses } from '../../../test/model/advance.ts';
import { disputeTable } from '../../../test/model/payments.ts';
import { disputeSituations, reach } from '../../../test/model/situations.ts';
import type { Step } from '../../../test/model/trial.ts';
import { CommandRunner, expectOk } from '../../../test/support/command-runner.ts';
import { AssertionFailed } from '../../kernel/assert.ts';
import type { CommandContext } from '../../kernel/command.ts';
import type { PaymentRow } from '../payments/table.ts';
import { disputeMachine, moveDispute } from './machine.ts';
import type { DisputeRow } from './table.ts';

const requests: readonly Step[] = [
  {},
  ...disputeActions.map((action) => ({ action })),
  ...disputeStatuses.map((to) => ({ to })),
].map((body) => ({ on: 'dispute', body }));

const reached = disputeSituations.map((situation) => ({ ...situation, trial: reach(situation) }));

test('the matrix covers every state and action of the dispute machine', () => {
  expect([...disputeMachine.states]).toEqual(disputeStatuses);
  const machineMoves = disputeMachine.moves.flatMap(({ action, from, to }) =>
    from.map((state) => ({ action, from: state, to: to[0] })),
  );
  expect(disputeTable).toEqual(machineMoves);
  const found = reached.map(({ trial }) => trial.payment.disputes.at(-1)?.status);
  expect(new Set(found)).toEqual(new Set(disputeStatuses));
});

test.each(reached)('a dispute $name: every request', ({ trial }) => trial.checkEach(requests));

test('an unknown action fails an assertion and does not lose the dispute', () => {
  const runner = new CommandRunner({ now: 0 });
  const { id } = expectOk(runner.post('developer_api_payments', { amount: 10_000, currency: 'EUR' }));
  expectOk(runner.post(`developer_api_payments/${id}/advance`, { to: 'disputed' }));
  const [payment] = runner.rows<PaymentRow>('payment');
  const [row] = runner.rows<DisputeRow>('dispute');
  if (!payment || !row) throw new Error('the payment has a dispute');
  const context = { now: 0 } as CommandContext;
  const move = () =>
    // @ts-expect-error The machine has no such action.
    moveDispute({ ok: true, row, payment, changes: [] }, { action: 'loose', params: null }, context);
  expect(move).toThrow(AssertionFailed);
  expect(move).toThrow('the action of a dispute is not handled: loose');
});
