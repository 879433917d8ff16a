import type { Facts } from './payment-model.ts';
import { amount, type Step } from './situations.ts';

/** A refund or a dispute in a state, with its payment as it then is. */
export interface PartSituation {
  readonly name: string;
  readonly create: Readonly<Record<string, unknown>>;
  readonly steps: readonly Step[];
  readonly status: string;
  /** Of the refund or dispute itself. */
  readonly amount: number;
  readonly payment: Facts;
  /** Of a dispute: whether it can be escalated once more. */
  readonly isLastStage: boolean;
}

const act = (action: string, some?: number): Step => ({
  advance: { action, ...(some === undefined ? {} : { amount: some }) },
});
const refund = (some: number): Step => ({ refund: { amount: some } });
const captured = [act('authorize'), act('capture')];
const settled = [...captured, act('settle')];

interface Base {
  readonly steps: readonly Step[];
  readonly amount: number;
  readonly payment: Partial<Facts> & Pick<Facts, 'status'>;
}

/** The two ways to capture are two providers, as in the other situations; the bases take turns. */
const made = (scenario: string, turn: number) => {
  const captureMethod = turn % 2 === 0 ? 'automatic' : 'manual';
  return {
    captureMethod,
    create: {
      amount,
      currency: 'EUR',
      captureMethod,
      scenario,
      paymentMethod: { type: captureMethod === 'manual' ? 'bank_transfer' : 'card' },
    },
  } as const;
};

const factsOf = (captureMethod: Facts['captureMethod'], scenario: string, more: Base['payment']): Facts => ({
  captureMethod,
  scenario,
  amount,
  capturable: 0,
  held: 0,
  captured: amount,
  refunded: 0,
  refunding: 0,
  disputed: 0,
  fee: 320,
  isSettled: false,
  failureCode: null,
  failedAttempts: 0,
  ...more,
});

const refundBases: Readonly<Record<string, Base>> = {
  'of a captured payment': {
    steps: [...captured, refund(2_500)],
    amount: 2_500,
    payment: { status: 'captured', refunding: 2_500 },
  },
  'of all that was captured': {
    steps: [...captured, refund(amount)],
    amount,
    payment: { status: 'captured', refunding: amount },
  },
  'of a settled payment': {
    steps: [...settled, refund(2_500)],
    amount: 2_500,
    payment: { status: 'settled', refunding: 2_500, isSettled: true },
  },
  'of a payment settled since': {
    steps: [...captured, refund(2_500), act('settle')],
    amount: 2_500,
    payment: { status: 'settled', refunding: 2_500, isSettled: true },
  },
  'of a partially refunded payment': {
    steps: [...captured, refund(2_500), { ofRefund: 'succeed' }, refund(3_000)],
    amount: 3_000,
    payment: { status: 'partially_refunded', refunded: 2_500, refunding: 3_000 },
  },
  'of the rest of a payment': {
    steps: [...settled, refund(2_500), { ofRefund: 'succeed' }, refund(7_500)],
    amount: 7_500,
    payment: { status: 'partially_refunded', refunded: 2_500, refunding: 7_500, isSettled: true },
  },
  'beside another pending one': {
    steps: [...captured, refund(2_500), refund(3_000)],
    amount: 3_000,
    payment: { status: 'captured', refunding: 5_500 },
  },
  'of a payment disputed since': {
    steps: [...captured, refund(2_500), act('dispute')],
    amount: 2_500,
    payment: { status: 'disputed', refunding: 2_500, disputed: 7_500 },
  },
  'of a settled payment disputed since': {
    steps: [...settled, refund(2_500), act('dispute', 3_000)],
    amount: 2_500,
    payment: { status: 'disputed', refunding: 2_500, disputed: 3_000, isSettled: true },
  },
  'of a payment whose rest was lost since': {
    steps: [...captured, refund(2_500), act('dispute'), { ofDispute: 'accept' }],
    amount: 2_500,
    payment: { status: 'captured', refunding: 2_500, disputed: 7_500 },
  },
};

/** What a refund that has ended did to its payment. */
function afterRefund({ amount: n, payment }: Base, facts: Facts, status: string): Facts {
  if (status === 'pending') return facts;
  const refunding = facts.refunding - n;
  if (status !== 'succeeded') return { ...facts, refunding };
  const refunded = facts.refunded + n;
  const rest = refunded === facts.captured ? 'refunded' : 'partially_refunded';
  return {
    ...facts,
    refunding,
    refunded,
    status: payment.status === 'disputed' ? 'disputed' : rest,
  };
}

const endings = { pending: [], succeeded: ['succeed'], failed: ['fail'], canceled: ['cancel'] } as const;

export const refundSituations: readonly PartSituation[] = Object.entries(refundBases).flatMap(
  ([name, base], turn) =>
    Object.entries(endings).map(([status, actions]) => {
      const scenario = 'refund_pending';
      const { captureMethod, create } = made(scenario, turn);
      return {
        name: `${status} ${name}`,
        create,
        steps: [...base.steps, ...actions.map((ofRefund) => ({ ofRefund }))],
        status,
        amount: base.amount,
        payment: afterRefund(base, factsOf(captureMethod, scenario, base.payment), status),
        isLastStage: false,
      };
    }),
);

const disputeBases: Readonly<Record<string, Base & { readonly scenario?: string; readonly rest: string }>> = {
  'of a captured payment': {
    steps: [...captured, act('dispute')],
    amount,
    payment: { status: 'disputed', disputed: amount },
    rest: 'captured',
  },
  'of a part of a captured payment': {
    steps: [...captured, act('dispute', 3_000)],
    amount: 3_000,
    payment: { status: 'disputed', disputed: 3_000 },
    rest: 'captured',
  },
  'of a settled payment': {
    steps: [...settled, act('dispute')],
    amount,
    payment: { status: 'disputed', disputed: amount, isSettled: true },
    rest: 'settled',
  },
  'of a part of a settled payment': {
    steps: [...settled, act('dispute', 3_000)],
    amount: 3_000,
    payment: { status: 'disputed', disputed: 3_000, isSettled: true },
    rest: 'settled',
  },
  'of a partially refunded payment': {
    steps: [...captured, refund(2_500), act('dispute')],
    amount: 7_500,
    payment: { status: 'disputed', refunded: 2_500, disputed: 7_500 },
    rest: 'partially_refunded',
  },
  'of a partially refunded and settled payment': {
    steps: [...settled, refund(2_500), act('dispute', 3_000)],
    amount: 3_000,
    payment: { status: 'disputed', refunded: 2_500, disputed: 3_000, isSettled: true },
    rest: 'partially_refunded',
  },
  'of what an earlier lost dispute left': {
    steps: [...captured, act('dispute', 3_000), { ofDispute: 'accept' }, act('dispute')],
    amount: 7_000,
    payment: { status: 'disputed', disputed: amount },
    rest: 'captured',
  },
  'of a payment with a pending refund': {
    steps: [...captured, refund(2_500), act('dispute')],
    amount: 7_500,
    payment: { status: 'disputed', refunding: 2_500, disputed: 7_500 },
    scenario: 'refund_pending',
    rest: 'captured',
  },
};

const round = ['submit_evidence', 'escalate'];
const stages: Readonly<
  Record<string, { status: string; actions: readonly string[]; isLastStage?: boolean }>
> = {
  needs_response: { status: 'needs_response', actions: [] },
  under_review: { status: 'under_review', actions: ['submit_evidence'] },
  'needs_response in pre-arbitration': { status: 'needs_response', actions: round },
  'under_review in pre-arbitration': { status: 'under_review', actions: [...round, 'submit_evidence'] },
  'needs_response in arbitration': {
    status: 'needs_response',
    actions: [...round, ...round],
    isLastStage: true,
  },
  'under_review in arbitration': {
    status: 'under_review',
    actions: [...round, ...round, 'submit_evidence'],
    isLastStage: true,
  },
  won: { status: 'won', actions: ['submit_evidence', 'win'] },
  'lost by accepting': { status: 'lost', actions: ['accept'] },
  'lost after review': { status: 'lost', actions: ['submit_evidence', 'lose'] },
};

/** The later stages do the same as the first whatever the payment is: two bases, one for each provider, show it. */
const stagesOf = (turn: number) =>
  Object.entries(stages).filter(([, { actions }]) => turn < 2 || !actions.includes('escalate'));

export const disputeSituations: readonly PartSituation[] = Object.entries(disputeBases).flatMap(
  ([name, base], turn) =>
    stagesOf(turn).map(([stage, { status, actions, isLastStage = false }]) => {
      const scenario = base.scenario ?? 'approve';
      const { captureMethod, create } = made(scenario, turn);
      const open = factsOf(captureMethod, scenario, base.payment);
      const isChargedBack = status === 'lost' && open.disputed === open.captured;
      const closed = { ...open, status: isChargedBack ? 'charged_back' : base.rest };
      const won = { ...closed, disputed: open.disputed - base.amount };
      return {
        name: `${stage} ${name}`,
        create,
        steps: [...base.steps, ...actions.map((ofDispute) => ({ ofDispute }))],
        status,
        amount: base.amount,
        payment: status === 'won' ? won : status === 'lost' ? closed : open,
        isLastStage,
      };
    }),
);
