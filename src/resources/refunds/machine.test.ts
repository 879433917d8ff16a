import { expect, test } from 'vitest';
import { refundActions, refundStatuses } from '../../../test/model/advance.ts';
import { reach, refundSituations } from '../../../test/model/situations.ts';
import type { Step } from '../../../test/model/trial.ts';
import { refundMachine } from './machine.ts';

const requests: readonly Step[] = [
  {},
  ...refundActions.map((action) => ({ action })),
  ...refundStatuses.map((to) => ({ to })),
].map((body) => ({ on: 'refund', body }));

const reached = refundSituations.map((situation) => ({ ...situation, trial: reach(situation) }));

test('the matrix covers every state and action of the refund machine', () => {
  expect([...refundMachine.states]).toEqual(refundStatuses);
  const named = refundMachine.moves.filter(({ from }) => from.length > 0);
  expect(named.map(({ action }) => action)).toEqual(refundActions);
  const found = reached.map(({ trial }) => trial.payment.refunds.at(-1)?.status);
  expect(new Set(found)).toEqual(new Set(refundStatuses));
});

test.each(reached)('a refund $name: every request', ({ trial }) => trial.checkEach(requests));
