import type { Facts } from './payment-model.ts';

/** A step on the way into a situation: a body for `advance` of the payment, or of what hangs on it. */
export type Step =
  | { readonly advance: Readonly<Record<string, unknown>> }
  | { readonly refund: Readonly<Record<string, unknown>> }
  /** Of the newest refund or the newest dispute. */
  | { readonly ofRefund: string }
  | { readonly ofDispute: string };

/** A state with the conditions that matter in it, the way there, and what must then be true. */
export interface Situation {
  readonly name: string;
  readonly create: Readonly<Record<string, unknown>>;
  readonly steps: readonly Step[];
  readonly facts: Facts;
}

export const amount = 10_000;

const act = (action: string, more: Readonly<Record<string, unknown>> = {}): Step => ({
  advance: { action, ...more },
});
const refund = (some: number): Step => ({ refund: { amount: some } });

interface Draft {
  readonly status: string;
  readonly steps: readonly Step[];
  readonly scenario?: string;
  readonly facts?: Partial<Facts>;
  /** Where only one of the two makes sense. */
  readonly only?: Facts['captureMethod'];
}

const authorized = [act('authorize')];
const captured = [...authorized, act('capture')];
const settled = [...captured, act('settle')];
const all = { captured: amount, fee: 320 };
const part = { captured: 4_000, fee: 146 };
const soft = { failureCode: 'generic_decline', failedAttempts: 1 };

const drafts: Readonly<Record<string, Draft>> = {
  pending: { status: 'pending', steps: [] },
  'pending, second attempt': {
    status: 'pending',
    steps: [act('fail'), act('retry')],
    facts: { failedAttempts: 1 },
  },
  'pending, scenario declines': { status: 'pending', steps: [], scenario: 'decline:insufficient_funds' },
  'pending, scenario lets the capture fail': { status: 'pending', steps: [], scenario: 'capture_fails' },
  requires_action: { status: 'requires_action', steps: [act('require_action')] },
  processing: { status: 'processing', steps: [act('process')] },
  authorized: { status: 'authorized', steps: authorized, facts: { capturable: amount, held: amount } },
  'authorized, scenario lets the capture fail': {
    status: 'authorized',
    steps: authorized,
    scenario: 'capture_fails',
    facts: { capturable: amount, held: amount },
  },
  'partially_captured, held': {
    status: 'partially_captured',
    steps: [...authorized, act('capture', { amount: 4_000 })],
    facts: { ...part, capturable: 6_000, held: 6_000 },
  },
  'partially_captured, not held': {
    status: 'partially_captured',
    steps: [act('capture', { amount: 4_000 })],
    facts: { ...part, capturable: 6_000 },
    only: 'automatic',
  },
  captured: { status: 'captured', steps: captured, facts: all },
  'captured, never held': {
    status: 'captured',
    steps: [act('capture')],
    facts: all,
    only: 'automatic',
  },
  'captured in two parts': {
    status: 'captured',
    steps: [...authorized, act('capture', { amount: 4_000 }), act('capture')],
    facts: { captured: amount, fee: 350 },
  },
  'captured, the rest released': {
    status: 'captured',
    steps: [...authorized, act('capture', { amount: 4_000, final: true })],
    facts: part,
  },
  'captured, a refund pending': {
    status: 'captured',
    steps: [...captured, refund(2_500)],
    scenario: 'refund_pending',
    facts: { ...all, refunding: 2_500 },
  },
  'captured, all of it in pending refunds': {
    status: 'captured',
    steps: [...captured, refund(amount)],
    scenario: 'refund_pending',
    facts: { ...all, refunding: amount },
  },
  'captured, refunds fail': { status: 'captured', steps: captured, scenario: 'refund_fails', facts: all },
  'captured, a dispute won': {
    status: 'captured',
    steps: [
      ...captured,
      act('dispute', { amount: 3_000 }),
      { ofDispute: 'submit_evidence' },
      { ofDispute: 'win' },
    ],
    facts: all,
  },
  'captured, a dispute of a part lost': {
    status: 'captured',
    steps: [...captured, act('dispute', { amount: 3_000 }), { ofDispute: 'accept' }],
    facts: { ...all, disputed: 3_000 },
  },
  settled: { status: 'settled', steps: settled, facts: { ...all, isSettled: true } },
  'settled, a refund pending': {
    status: 'settled',
    steps: [...settled, refund(2_500)],
    scenario: 'refund_pending',
    facts: { ...all, isSettled: true, refunding: 2_500 },
  },
  'settled while a refund was pending': {
    status: 'settled',
    steps: [...captured, refund(2_500), act('settle')],
    scenario: 'refund_pending',
    facts: { ...all, isSettled: true, refunding: 2_500 },
  },
  'partially_refunded, not settled': {
    status: 'partially_refunded',
    steps: [...captured, refund(2_500)],
    facts: { ...all, refunded: 2_500 },
  },
  'partially_refunded, settled before': {
    status: 'partially_refunded',
    steps: [...settled, refund(2_500)],
    facts: { ...all, isSettled: true, refunded: 2_500 },
  },
  'partially_refunded, settled after': {
    status: 'partially_refunded',
    steps: [...captured, refund(2_500), act('settle')],
    facts: { ...all, isSettled: true, refunded: 2_500 },
  },
  'partially_refunded, the rest lost in a dispute': {
    status: 'partially_refunded',
    steps: [...captured, refund(2_500), act('dispute'), { ofDispute: 'accept' }],
    facts: { ...all, refunded: 2_500, disputed: 7_500 },
  },
  'partially_refunded by a pending refund': {
    status: 'partially_refunded',
    steps: [...captured, refund(2_500), { ofRefund: 'succeed' }],
    scenario: 'refund_pending',
    facts: { ...all, refunded: 2_500 },
  },
  refunded: {
    status: 'refunded',
    steps: [...captured, { refund: {} }],
    facts: { ...all, refunded: amount },
  },
  'refunded after it was settled': {
    status: 'refunded',
    steps: [...settled, refund(2_500), { refund: {} }],
    facts: { ...all, isSettled: true, refunded: amount },
  },
  disputed: {
    status: 'disputed',
    steps: [...captured, act('dispute')],
    facts: { ...all, disputed: amount },
  },
  'disputed after it was settled': {
    status: 'disputed',
    steps: [...settled, act('dispute', { amount: 3_000 })],
    facts: { ...all, isSettled: true, disputed: 3_000 },
  },
  'disputed, a refund pending': {
    status: 'disputed',
    steps: [...captured, refund(2_500), act('dispute')],
    scenario: 'refund_pending',
    facts: { ...all, refunding: 2_500, disputed: 7_500 },
  },
  charged_back: {
    status: 'charged_back',
    steps: [...captured, act('dispute'), { ofDispute: 'accept' }],
    facts: { ...all, disputed: amount },
  },
  'failed, soft': { status: 'failed', steps: [act('fail')], facts: soft },
  'failed, hard': {
    status: 'failed',
    steps: [act('fail', { failureCode: 'stolen_card' })],
    facts: { failureCode: 'stolen_card', failedAttempts: 1 },
  },
  'failed, second attempt': {
    status: 'failed',
    steps: [act('fail'), act('retry'), act('fail')],
    facts: { ...soft, failedAttempts: 2 },
  },
  'failed, third attempt': {
    status: 'failed',
    steps: [act('fail'), act('retry'), act('fail'), act('retry'), act('fail')],
    facts: { ...soft, failedAttempts: 3 },
  },
  'failed at its capture': {
    status: 'failed',
    steps: [...authorized, act('capture')],
    scenario: 'capture_fails',
    facts: { failureCode: 'processing_error', failedAttempts: 1 },
  },
  canceled: { status: 'canceled', steps: [act('cancel')] },
  'canceled, once held': { status: 'canceled', steps: [...authorized, act('cancel')] },
  expired: { status: 'expired', steps: [act('expire')] },
  'expired, once held': { status: 'expired', steps: [...authorized, act('expire')] },
};

/**
 * Every situation with automatic and with manual capture. The manual ones are paid by bank transfer, which another provider
 * serves: the same moves must come of both.
 */
export const situations: readonly Situation[] = Object.entries(drafts).flatMap(([name, draft]) =>
  (['automatic', 'manual'] as const)
    .filter((captureMethod) => (draft.only ?? captureMethod) === captureMethod)
    .map((captureMethod) => {
      const scenario = draft.scenario ?? 'approve';
      return {
        name: `${name} (${captureMethod})`,
        create: {
          amount,
          currency: 'EUR',
          captureMethod,
          scenario,
          paymentMethod: { type: captureMethod === 'manual' ? 'bank_transfer' : 'card' },
        },
        steps: draft.steps,
        facts: {
          status: draft.status,
          captureMethod,
          scenario,
          amount,
          capturable: 0,
          held: 0,
          captured: 0,
          refunded: 0,
          refunding: 0,
          disputed: 0,
          fee: 0,
          isSettled: false,
          failureCode: null,
          failedAttempts: 0,
          ...draft.facts,
        },
      };
    }),
);
