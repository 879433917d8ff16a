/**
 * What a payment is, written from the contract alone and without a line of the server: its states, its amounts, what is
 * open to it, and what every request must answer. Values are never changed; each move makes a new one.
 */
export type Status =
  | 'pending'
  | 'requires_action'
  | 'processing'
  | 'authorized'
  | 'partially_captured'
  | 'captured'
  | 'settled'
  | 'partially_refunded'
  | 'refunded'
  | 'disputed'
  | 'charged_back'
  | 'failed'
  | 'canceled'
  | 'expired';

export const statuses: readonly Status[] = [
  ...(['pending', 'requires_action', 'processing', 'authorized', 'partially_captured', 'captured'] as const),
  ...(['settled', 'partially_refunded', 'refunded', 'disputed', 'charged_back'] as const),
  ...(['failed', 'canceled', 'expired'] as const),
];

export interface Fee {
  readonly basisPoints: bigint;
  readonly fixed: bigint;
}

/** One line of a record's history. */
export interface Step {
  readonly from: string | null;
  readonly to: string;
  readonly event: string;
}

export interface Refund {
  readonly amount: bigint;
  readonly status: 'pending' | 'succeeded' | 'failed' | 'canceled';
  readonly steps: readonly Step[];
}

export interface Dispute {
  readonly amount: bigint;
  readonly status: 'needs_response' | 'under_review' | 'won' | 'lost';
  /** Of three. */
  readonly stage: number;
  readonly steps: readonly Step[];
}

export interface Payment {
  readonly amount: bigint;
  readonly currency: string;
  readonly isManual: boolean;
  readonly scenario: string | readonly string[];
  readonly terms: Fee;
  readonly status: Status;
  readonly capturable: bigint;
  readonly held: bigint;
  readonly captured: bigint;
  readonly fee: bigint;
  readonly isSettled: boolean;
  readonly failure: string | null;
  readonly failures: number;
  readonly retries: number;
  readonly refunds: readonly Refund[];
  readonly disputes: readonly Dispute[];
  readonly steps: readonly Step[];
}

export interface Refused {
  readonly refused: string;
}

export const isRefused = (outcome: object): outcome is Refused => 'refused' in outcome;
const wrongState: Refused = { refused: 'invalid_state_transition' };

export interface Params {
  readonly amount?: bigint;
  /** Without an amount: half of what is left, rounded down. */
  readonly isPart?: boolean;
  readonly currency?: string;
  readonly isFinal?: boolean;
  readonly failureCode?: string;
}

export type NewPayment = Pick<Payment, 'amount' | 'currency' | 'isManual' | 'scenario' | 'terms'>;

export function newPayment(fields: NewPayment): Payment {
  return {
    ...fields,
    status: 'pending',
    ...{ capturable: 0n, held: 0n, captured: 0n, fee: 0n },
    ...{ isSettled: false, failure: null, failures: 0, retries: 0 },
    ...{ refunds: [], disputes: [] },
    steps: [{ from: null, to: 'pending', event: 'payment.created' }],
  };
}

const sum = (records: readonly { readonly amount: bigint }[]): bigint =>
  records.reduce((total, { amount }) => total + amount, 0n);

export const refunded = ({ refunds }: Payment): bigint =>
  sum(refunds.filter(({ status }) => status === 'succeeded'));
export const refundPending = ({ refunds }: Payment): bigint =>
  sum(refunds.filter(({ status }) => status === 'pending'));
export const disputeOpen = ({ disputes }: Payment): bigint =>
  sum(disputes.filter(({ status }) => status === 'needs_response' || status === 'under_review'));
export const disputeLost = ({ disputes }: Payment): bigint =>
  sum(disputes.filter(({ status }) => status === 'lost'));
export const disputed = (payment: Payment): bigint => disputeOpen(payment) + disputeLost(payment);
/** What may still go back to the payer. */
export const returnable = (payment: Payment): bigint =>
  payment.captured - refunded(payment) - refundPending(payment) - disputed(payment);

/** 2.9 % and 30 in the usual terms; to the nearest, from the middle to the even neighbour; never above the amount. */
export function feeOf(amount: bigint, { basisPoints, fixed }: Fee): bigint {
  const product = amount * basisPoints;
  const below = product / 10_000n;
  const rest = product - below * 10_000n;
  const isUp = rest > 5_000n || (rest === 5_000n && below % 2n !== 0n);
  const fee = below + (isUp ? 1n : 0n) + fixed;
  return fee > amount ? amount : fee;
}

/** The entry of the list for the attempt under way, or for the one that failed. */
export function scenarioNow({ scenario, status, failures }: Payment): string {
  if (typeof scenario === 'string') return scenario;
  const attempt = status === 'failed' ? failures : failures + 1;
  return String(scenario[Math.min(attempt, scenario.length) - 1]);
}

const hardDeclines = new Set(
  (
    'expired_card incorrect_number invalid_account account_closed lost_card stolen_card pickup_card restricted_card ' +
    'fraudulent card_not_supported currency_not_supported transaction_not_allowed mandate_revoked'
  ).split(' '),
);

const isUnpaid = ({ status }: Payment): boolean =>
  status === 'pending' || status === 'requires_action' || status === 'processing';
const isPaid = ({ status }: Payment): boolean =>
  status === 'captured' || status === 'settled' || status === 'partially_refunded';
const isIn = ({ status }: Payment, ...among: readonly Status[]): boolean => among.includes(status);

/** The table of the contract, in its order: which action is open when. */
const table: Readonly<Record<string, (payment: Payment) => boolean>> = {
  require_action: (payment) => isIn(payment, 'pending'),
  process: (payment) => isIn(payment, 'pending', 'requires_action'),
  authorize: isUnpaid,
  capture: (payment) =>
    isIn(payment, 'authorized', 'partially_captured') || (isUnpaid(payment) && !payment.isManual),
  settle: (payment) =>
    isIn(payment, 'captured') || (isIn(payment, 'partially_refunded') && !payment.isSettled),
  // A capture that the provider refuses fails a payment that is authorized already.
  fail: (payment) =>
    isUnpaid(payment) || (isIn(payment, 'authorized') && scenarioNow(payment) === 'capture_fails'),
  retry: (payment) =>
    isIn(payment, 'failed') && !hardDeclines.has(payment.failure ?? '') && payment.failures < 3,
  cancel: (payment) => isIn(payment, 'pending', 'requires_action', 'authorized', 'partially_captured'),
  expire: (payment) => isIn(payment, 'pending', 'requires_action', 'authorized', 'partially_captured'),
  refund: isPaid,
  dispute: isPaid,
};

export const paymentActions: readonly string[] = Object.keys(table);

export function openActions(payment: Payment): readonly string[] {
  return paymentActions.filter((action) => table[action]?.(payment));
}

/** The payment after a move that brings it to a state; the event is named by the arrival unless told. */
function arrive(payment: Payment, patch: Partial<Payment>, event?: string): Payment {
  const to = patch.status ?? payment.status;
  const step = { from: payment.status, to, event: `payment.${event ?? to}` };
  return { ...payment, ...patch, status: to, steps: [...payment.steps, step] };
}

/** Where a payment is when no dispute holds it. */
function restingPlace(payment: Payment): Status {
  const back = refunded(payment);
  if (back === 0n) return payment.isSettled ? 'settled' : 'captured';
  return back === payment.captured ? 'refunded' : 'partially_refunded';
}

/**
 * One action, as asked for by name. A `willing` provider does what is asked, whatever the scenario says: that is how a way to a
 * state is walked.
 */
export function act(
  payment: Payment,
  action: string,
  params: Params,
  provider: 'as its scenario' | 'willing',
): Payment | Refused {
  if (!openActions(payment).includes(action)) return wrongState;
  const isOfMoney = action === 'capture' || action === 'refund' || action === 'dispute';
  if (isOfMoney && params.currency !== undefined && params.currency !== payment.currency) {
    return { refused: 'currency_mismatch' };
  }
  const { amount } = payment;
  switch (action) {
    case 'require_action':
      return arrive(payment, { status: 'requires_action' });
    case 'process':
      return arrive(payment, { status: 'processing' });
    case 'authorize':
      return arrive(payment, { status: 'authorized', capturable: amount, held: amount });
    case 'capture':
      return capture(payment, params, provider === 'willing');
    case 'settle':
      return arrive(
        payment,
        { status: isIn(payment, 'captured') ? 'settled' : payment.status, isSettled: true },
        'settled',
      );
    case 'fail': {
      const scenario = scenarioNow(payment);
      const declined = scenario.startsWith('decline:') ? scenario.slice('decline:'.length) : undefined;
      return fail(payment, params.failureCode ?? declined ?? 'generic_decline');
    }
    case 'retry':
      return arrive(payment, { status: 'pending', failure: null, retries: payment.retries + 1 });
    case 'cancel':
    case 'expire': {
      const ended = action === 'cancel' ? 'canceled' : 'expired';
      const status = isIn(payment, 'partially_captured') ? 'captured' : ended;
      return arrive(payment, { status, capturable: 0n, held: 0n });
    }
    case 'refund':
      return makeRefund(payment, params, provider === 'willing' ? 'approve' : scenarioNow(payment));
    default:
      return openDispute(payment, params);
  }
}

function fail(payment: Payment, failure: string): Payment {
  const failures = payment.failures + 1;
  return arrive(payment, { status: 'failed', failure, failures, capturable: 0n, held: 0n });
}

/** What is taken without an amount: all, or half of it where a part is asked for and there is one. */
function takenOf(most: bigint, { amount, isPart }: Params): bigint {
  return amount ?? (isPart && most > 1n ? most / 2n : most);
}

function capture(payment: Payment, params: Params, isWilling: boolean): Payment | Refused {
  const most = isUnpaid(payment) ? payment.amount : payment.capturable;
  const amount = takenOf(most, params);
  if (amount > most) return { refused: 'amount_exceeds_capturable' };
  const isFailing = scenarioNow(payment) === 'capture_fails' && !isWilling;
  if (isFailing && !isIn(payment, 'partially_captured')) return fail(payment, 'processing_error');
  const isDone = amount === most || params.isFinal === true;
  return arrive(payment, {
    status: isDone ? 'captured' : 'partially_captured',
    captured: payment.captured + amount,
    capturable: isDone ? 0n : most - amount,
    held: isDone || payment.held === 0n ? 0n : payment.held - amount,
    fee: payment.fee + feeOf(amount, payment.terms),
  });
}

function makeRefund(payment: Payment, params: Params, scenario: string): Payment | Refused {
  const most = returnable(payment);
  const amount = takenOf(most, params);
  if (amount > most || amount === 0n) return { refused: 'amount_exceeds_refundable' };
  const made: Refund = {
    amount,
    status: 'pending',
    steps: [{ from: null, to: 'pending', event: 'refund.created' }],
  };
  if (scenario === 'refund_pending')
    return arrive(payment, { refunds: [...payment.refunds, made] }, 'updated');
  const refunds = [
    ...payment.refunds,
    endedRefund(made, scenario === 'refund_fails' ? 'failed' : 'succeeded'),
  ];
  return settleRefunds(payment, refunds);
}

export type RefundEnd = 'succeeded' | 'failed' | 'canceled';

function endedRefund(refund: Refund, status: RefundEnd): Refund {
  return {
    ...refund,
    status,
    steps: [...refund.steps, { from: 'pending', to: status, event: `refund.${status}` }],
  };
}

/** Ends a pending refund of a payment, with all that it means for the payment. */
export function endRefund(payment: Payment, at: number, end: RefundEnd): Payment {
  return settleRefunds(
    payment,
    payment.refunds.map((refund, i) => (i === at ? endedRefund(refund, end) : refund)),
  );
}

function settleRefunds(payment: Payment, refunds: readonly Refund[]): Payment {
  const after = { ...payment, refunds };
  const hasSucceeded = refunded(after) > refunded(payment);
  if (!hasSucceeded || isIn(payment, 'disputed')) return arrive(payment, { refunds }, 'updated');
  return arrive(payment, { refunds, status: restingPlace(after) });
}

function openDispute(payment: Payment, params: Params): Payment | Refused {
  const most = returnable(payment);
  const amount = params.amount ?? most;
  if (amount > most || amount === 0n) return { refused: 'amount_exceeds_disputable' };
  const steps = [{ from: null, to: 'needs_response', event: 'dispute.created' }];
  const dispute: Dispute = { amount, status: 'needs_response', stage: 1, steps };
  return arrive(payment, { status: 'disputed', disputes: [...payment.disputes, dispute] });
}

/** The dispute after one of its moves; a payment that is not held by it any more goes where it belongs. */
export function moveDispute(payment: Payment, at: number, to: Dispute['status']): Payment {
  const disputes = payment.disputes.map((dispute, i): Dispute => {
    if (i !== at) return dispute;
    const steps = [...dispute.steps, { from: dispute.status, to, event: `dispute.${to}` }];
    return { ...dispute, status: to, stage: dispute.stage + (to === 'needs_response' ? 1 : 0), steps };
  });
  if (to === 'needs_response' || to === 'under_review') return { ...payment, disputes };
  const after = { ...payment, disputes };
  const isAllLost = disputeLost(after) === payment.captured;
  return arrive(payment, { disputes, status: isAllLost ? 'charged_back' : restingPlace(after) });
}
