import { type AdvanceBody, type Step, Trial } from './trial.ts';

/** A payment in a state, with the conditions that matter there, and how to reach it. */
export interface Situation {
  readonly name: string;
  readonly captureMethod: 'automatic' | 'manual';
  readonly scenario: string | readonly string[];
  readonly steps: readonly Step[];
}

const amount = 10_000;

const act = (action: string, more: AdvanceBody = {}): Step => ({ on: 'payment', body: { action, ...more } });
const refund = (some?: number): Step => ({
  on: 'payment refund',
  body: some === undefined ? {} : { amount: some },
});
const endRefund = (action: string): Step => ({ on: 'refund', body: { action } });
const moveDispute = (action: string): Step => ({ on: 'dispute', body: { action } });

interface Draft {
  readonly steps: readonly Step[];
  readonly scenario?: string | readonly string[];
  /** The capture method, where only one is meaningful. */
  readonly only?: Situation['captureMethod'];
}

const authorized = [act('authorize')];
const captured = [...authorized, act('capture')];
const settled = [...captured, act('settle')];

const paymentDrafts: Readonly<Record<string, Draft>> = {
  pending: { steps: [] },
  'pending, second attempt': { steps: [act('fail'), act('retry')] },
  'pending, scenario declines': { steps: [], scenario: 'decline:insufficient_funds' },
  'pending, scenario declines hard': { steps: [], scenario: 'decline:stolen_card' },
  'pending, scenario requires action': { steps: [], scenario: 'require_action' },
  'pending, scenario is asynchronous': { steps: [], scenario: 'async' },
  'pending, capture fails': { steps: [], scenario: 'capture_fails' },
  'pending, list of scenarios': { steps: [], scenario: ['decline:insufficient_funds', 'approve'] },
  'pending, second of a list': {
    steps: [act('fail'), act('retry')],
    scenario: ['decline:insufficient_funds', 'capture_fails'],
  },
  requires_action: { steps: [act('require_action')] },
  processing: { steps: [act('process')] },
  authorized: { steps: authorized },
  'authorized, capture fails': { steps: authorized, scenario: 'capture_fails' },
  'partially_captured, held': { steps: [...authorized, act('capture', { amount: 4_000 })] },
  'partially_captured, capture fails': {
    steps: [act('authorize'), { on: 'payment', body: { to: 'partially_captured', amount: 4_000 } }],
    scenario: 'capture_fails',
  },
  'partially_captured, not held': { steps: [act('capture', { amount: 4_000 })], only: 'automatic' },
  captured: { steps: captured },
  'captured, never held': { steps: [act('capture')], only: 'automatic' },
  'captured in two parts': { steps: [...authorized, act('capture', { amount: 4_000 }), act('capture')] },
  'captured, rest released': { steps: [...authorized, act('capture', { amount: 4_000, final: true })] },
  'captured, scenario disputes': { steps: captured, scenario: 'dispute' },
  'captured, refund pending': { steps: [...captured, refund(2_500)], scenario: 'refund_pending' },
  'captured, all in pending refunds': { steps: [...captured, refund(amount)], scenario: 'refund_pending' },
  'captured, refunds fail': { steps: captured, scenario: 'refund_fails' },
  'captured, a failed refund': { steps: [...captured, refund(2_500)], scenario: 'refund_fails' },
  'captured, dispute won': {
    steps: [
      ...captured,
      act('dispute', { amount: 3_000 }),
      moveDispute('submit_evidence'),
      moveDispute('win'),
    ],
  },
  'captured, dispute of a part lost': {
    steps: [...captured, act('dispute', { amount: 3_000 }), moveDispute('accept')],
  },
  settled: { steps: settled },
  'settled, scenario disputes': { steps: settled, scenario: 'dispute' },
  'settled, reported short': { steps: settled, scenario: 'settle_short' },
  'settled, refund pending': { steps: [...settled, refund(2_500)], scenario: 'refund_pending' },
  'settled while a refund was pending': {
    steps: [...captured, refund(2_500), act('settle')],
    scenario: 'refund_pending',
  },
  'partially_refunded, not settled': { steps: [...captured, refund(2_500)] },
  'partially_refunded, settled before': { steps: [...settled, refund(2_500)] },
  'partially_refunded, settled after': { steps: [...captured, refund(2_500), act('settle')] },
  'partially_refunded, rest lost in a dispute': {
    steps: [...captured, refund(2_500), act('dispute'), moveDispute('accept')],
  },
  'partially_refunded by a pending refund': {
    steps: [...captured, refund(2_500), endRefund('succeed')],
    scenario: 'refund_pending',
  },
  refunded: { steps: [...captured, refund()] },
  'refunded after settlement': { steps: [...settled, refund(2_500), refund()] },
  disputed: { steps: [...captured, act('dispute')] },
  'disputed after settlement': { steps: [...settled, act('dispute', { amount: 3_000 })] },
  'disputed, refund pending': {
    steps: [...captured, refund(2_500), act('dispute')],
    scenario: 'refund_pending',
  },
  charged_back: { steps: [...captured, act('dispute'), moveDispute('accept')] },
  'failed, soft': { steps: [act('fail')] },
  'failed, hard': { steps: [act('fail', { failureCode: 'stolen_card' })] },
  'failed, second attempt': { steps: [act('fail'), act('retry'), act('fail')] },
  'failed, third attempt': { steps: [act('fail'), act('retry'), act('fail'), act('retry'), act('fail')] },
  'failed at its capture': { steps: [...authorized, act('capture')], scenario: 'capture_fails' },
  canceled: { steps: [act('cancel')] },
  'canceled, once held': { steps: [...authorized, act('cancel')] },
  expired: { steps: [act('expire')] },
  'expired, once held': { steps: [...authorized, act('expire')] },
};

const refundDrafts: Readonly<Record<string, readonly Step[]>> = {
  'of a captured payment': [...captured, refund(2_500)],
  'of the whole captured amount': [...captured, refund(amount)],
  'of a settled payment': [...settled, refund(2_500)],
  'of a payment settled since': [...captured, refund(2_500), act('settle')],
  'of a partially refunded payment': [...captured, refund(2_500), endRefund('succeed'), refund(3_000)],
  'of the rest of a payment': [...settled, refund(2_500), endRefund('succeed'), refund(7_500)],
  'with another pending refund': [...captured, refund(2_500), refund(3_000)],
  'of a payment disputed since': [...captured, refund(2_500), act('dispute')],
  'of a settled payment disputed since': [...settled, refund(2_500), act('dispute', { amount: 3_000 })],
  'of a payment whose rest was lost since': [
    ...captured,
    refund(2_500),
    act('dispute'),
    moveDispute('accept'),
  ],
};

const refundEnds: Readonly<Record<string, readonly Step[]>> = {
  pending: [],
  succeeded: [endRefund('succeed')],
  failed: [endRefund('fail')],
  canceled: [endRefund('cancel')],
};

const disputeDrafts: Readonly<Record<string, Draft>> = {
  'of a captured payment': { steps: [...captured, act('dispute')] },
  'of a part of a captured payment': { steps: [...captured, act('dispute', { amount: 3_000 })] },
  'of a settled payment': { steps: [...settled, act('dispute')] },
  'of a part of a settled payment': { steps: [...settled, act('dispute', { amount: 3_000 })] },
  'of a partially refunded payment': { steps: [...captured, refund(2_500), act('dispute')] },
  'of a partially refunded and settled payment': {
    steps: [...settled, refund(2_500), act('dispute', { amount: 3_000 })],
  },
  'of what an earlier lost dispute left': {
    steps: [...captured, act('dispute', { amount: 3_000 }), moveDispute('accept'), act('dispute')],
  },
  'of a payment with a pending refund': {
    steps: [...captured, refund(2_500), act('dispute')],
    scenario: 'refund_pending',
  },
};

const escalated = [moveDispute('submit_evidence'), moveDispute('escalate')];
const disputeStages: Readonly<Record<string, readonly Step[]>> = {
  needs_response: [],
  under_review: [moveDispute('submit_evidence')],
  'needs_response in pre-arbitration': escalated,
  'under_review in pre-arbitration': [...escalated, moveDispute('submit_evidence')],
  'needs_response in arbitration': [...escalated, ...escalated],
  'under_review in arbitration': [...escalated, ...escalated, moveDispute('submit_evidence')],
  won: [moveDispute('submit_evidence'), moveDispute('win')],
  'won in arbitration': [...escalated, ...escalated, moveDispute('submit_evidence'), moveDispute('win')],
  'lost by accepting': [moveDispute('accept')],
  'lost by expiry': [moveDispute('expire')],
  'lost after review': [moveDispute('submit_evidence'), moveDispute('lose')],
};

function withBothMethods(name: string, { steps, scenario = 'approve', only }: Draft): readonly Situation[] {
  return (['automatic', 'manual'] as const)
    .filter((captureMethod) => (only ?? captureMethod) === captureMethod)
    .map((captureMethod) => ({ name: `${name} (${captureMethod})`, captureMethod, scenario, steps }));
}

export const paymentSituations: readonly Situation[] = Object.entries(paymentDrafts).flatMap(
  ([name, draft]) => withBothMethods(name, draft),
);

export const refundSituations: readonly Situation[] = Object.entries(refundDrafts).flatMap(([name, steps]) =>
  Object.entries(refundEnds).flatMap(([status, end]) =>
    withBothMethods(`${status} ${name}`, { steps: [...steps, ...end], scenario: 'refund_pending' }),
  ),
);

export const disputeSituations: readonly Situation[] = Object.entries(disputeDrafts).flatMap(
  ([name, draft]) =>
    Object.entries(disputeStages).flatMap(([stage, moves]) =>
      withBothMethods(`${stage} ${name}`, { ...draft, steps: [...draft.steps, ...moves] }),
    ),
);

export function reach({ captureMethod, scenario, steps }: Situation): Trial {
  const trial = Trial.start({ amount, captureMethod, scenario });
  for (const step of steps) trial.reach(step);
  return trial;
}
