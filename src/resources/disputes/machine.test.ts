import { expect, test } from 'vitest';
import { disputeActions, disputeStatuses } from '../../../test/model/advance.ts';
import { disputeTable } from '../../../test/model/payments.ts';
import { disputeSituations, reach } from '../../../test/model/situations.ts';
import type { Step } from '../../../test/model/trial.ts';
import { disputeMachine } from './machine.ts';

const requests: readonly Step[] = [
  {},
  ...disputeActions.map((action) => ({ action })),
  ...disputeStatuses.map((to) => ({ to })),
].map((body) => ({ on: 'dispute', body }));

const reached = disputeSituations.map((situation) => ({ ...situation, trial: reach(situation) }));

test('the matrix covers every state and action of the dispute machine', () => {
  expect([...disputeMachine.states]).toEqual(disputeStatuses);
  const ofMachine = disputeMachine.moves.flatMap(({ action, from, to }) =>
    from.map((state) => ({ action, from: state, to: to[0] })),
  );
  expect(disputeTable).toEqual(ofMachine);
  const found = reached.map(({ trial }) => trial.payment.disputes.at(-1)?.status);
  expect(new Set(found)).toEqual(new Set(disputeStatuses));
});

test.each(reached)('a dispute $name: every request', ({ trial }) => trial.checkEach(requests));
