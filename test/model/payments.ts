/**
 * The independent model of payments, refunds and disputes, written from the contract alone, without server code:
 * states, amounts, allowed actions, transitions, ledger entries and errors. The state matrices and the simulation compare the
 * server with it. Values are immutable; each transition returns a new payment.
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

export type Resource = 'payment' | 'refund' | 'dispute';

/** One row of a record's history with its event. `index` counts the refunds or disputes of the payment. */
export interface Transition {
  readonly resource: Resource;
  readonly index: number;
  readonly action: string;
  readonly from: string | null;
  readonly to: string;
  readonly event: string;
}

/** Debits positive. Accounts without a posting are absent. */
export interface LedgerEntry {
  readonly reason: string;
  readonly postings: Readonly<Record<string, bigint>>;
}

export interface Refund {
  readonly amount: bigint;
  readonly status: 'pending' | 'succeeded' | 'failed' | 'canceled';
}

export interface Dispute {
  readonly amount: bigint;
  readonly status: 'needs_response' | 'under_review' | 'won' | 'lost';
  /** 1 is chargeback, 2 pre-arbitration, 3 arbitration. */
  readonly stage: number;
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
  /** Of the payment, its refunds and its disputes, in the order in which the server emits their events. */
  readonly transitions: readonly Transition[];
  readonly entries: readonly LedgerEntry[];
}

export interface Refused {
  readonly refused: string;
}

export const isRefused = (outcome: object): outcome is Refused => 'refused' in outcome;
export const invalidTransition: Refused = { refused: 'invalid_state_transition' };

export interface Params {
  readonly amount?: bigint;
  /** Without an amount: half of the remaining amount, rounded down. */
  readonly isPart?: boolean;
  readonly currency?: string;
  readonly isFinal?: boolean;
  readonly failureCode?: string;
}

export type NewPayment = Pick<Payment, 'amount' | 'currency' | 'isManual' | 'scenario' | 'terms'>;

export function newPayment(fields: NewPayment): Payment {
  const created = { action: 'create', from: null, to: 'pending', event: 'payment.created' } as const;
  return {
    ...fields,
    status: 'pending',
    ...{ capturable: 0n, held: 0n, captured: 0n, fee: 0n },
    ...{ isSettled: false, failure: null, failures: 0, retries: 0 },
    ...{ refunds: [], disputes: [] },
    transitions: [{ resource: 'payment', index: 0, ...created }],
    entries: [],
  };
}

export function transitionsOf(payment: Payment, resource: Resource, index = 0): readonly Transition[] {
  return payment.transitions.filter((one) => one.resource === resource && one.index === index);
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
/** The amount that can still be refunded or disputed. */
export const returnable = (payment: Payment): bigint =>
  payment.captured - refunded(payment) - refundPending(payment) - disputed(payment);

/** 2.9 % + 30 by default, rounded half to even, never more than the amount. */
function feeOf(amount: bigint, { basisPoints, fixed }: Fee): bigint {
  const product = amount * basisPoints;
  const below = product / 10_000n;
  const rest = product - below * 10_000n;
  const isUp = rest > 5_000n || (rest === 5_000n && below % 2n !== 0n);
  const fee = below + (isUp ? 1n : 0n) + fixed;
  return fee > amount ? amount : fee;
}

/** The scenario of the current attempt, or of the one that failed. */
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

/** The contract's table of payment actions, in its order: when each is allowed. */
const table: Readonly<Record<string, (payment: Payment) => boolean>> = {
  require_action: (payment) => isIn(payment, 'pending'),
  process: (payment) => isIn(payment, 'pending', 'requires_action'),
  authorize: isUnpaid,
  capture: (payment) =>
    isIn(payment, 'authorized', 'partially_captured') || (isUnpaid(payment) && !payment.isManual),
  settle: (payment) =>
    isIn(payment, 'captured') || (isIn(payment, 'partially_refunded') && !payment.isSettled),
  // A capture that the provider declines fails a payment that is already authorized.
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

export function allowedActions(payment: Payment): readonly string[] {
  return paymentActions.filter((action) => table[action]?.(payment));
}

/** Entries without a posting are not written. */
function entry(reason: string, postings: Readonly<Record<string, bigint>>): readonly LedgerEntry[] {
  const moving = Object.entries(postings).filter(([, amount]) => amount !== 0n);
  return moving.length === 0 ? [] : [{ reason, postings: Object.fromEntries(moving) }];
}

const merchant = ({ isSettled }: Payment) => (isSettled ? 'merchant_available' : 'merchant_pending');
const provider = ({ isSettled }: Payment) => (isSettled ? 'bank' : 'provider_receivable');

const release = (amount: bigint) => entry('release', { hold_obligations: amount, provider_holds: -amount });

interface Effects {
  readonly event?: string;
  readonly entries?: readonly LedgerEntry[];
  /** Transitions of refunds and disputes whose events precede that of the payment. */
  readonly parts?: readonly Transition[];
}

/** The payment after one of its own transitions. The event is named after the new status unless given. */
function arrive(payment: Payment, action: string, patch: Partial<Payment>, effects: Effects = {}): Payment {
  const { event, entries = [], parts = [] } = effects;
  const to = patch.status ?? payment.status;
  const own: Transition = {
    ...{ resource: 'payment', index: 0, action, from: payment.status, to },
    event: `payment.${event ?? to}`,
  };
  return {
    ...payment,
    ...patch,
    status: to,
    transitions: [...payment.transitions, ...parts, own],
    entries: [...payment.entries, ...entries],
  };
}

/** The status of a payment that has no open dispute. */
function restingStatus(payment: Payment): Status {
  const returned = refunded(payment);
  if (returned === 0n) return payment.isSettled ? 'settled' : 'captured';
  return returned === payment.captured ? 'refunded' : 'partially_refunded';
}

/**
 * One action, requested by name. A `willing` provider executes the action regardless of the scenario: that is how `{to}` walks
 * to a state.
 */
export function act(
  payment: Payment,
  action: string,
  params: Params = {},
  by: 'scenario' | 'willing' = 'scenario',
): Payment | Refused {
  if (!allowedActions(payment).includes(action)) return invalidTransition;
  const takesMoney = action === 'capture' || action === 'refund' || action === 'dispute';
  if (takesMoney && params.currency !== undefined && params.currency !== payment.currency) {
    return { refused: 'currency_mismatch' };
  }
  const { amount, held } = payment;
  switch (action) {
    case 'require_action':
      return arrive(payment, action, { status: 'requires_action' });
    case 'process':
      return arrive(payment, action, { status: 'processing' });
    case 'authorize':
      return arrive(
        payment,
        action,
        { status: 'authorized', capturable: amount, held: amount },
        { entries: entry('authorize', { provider_holds: amount, hold_obligations: -amount }) },
      );
    case 'capture':
      return capture(payment, params, by === 'willing');
    case 'settle':
      return settle(payment);
    case 'fail': {
      const scenario = scenarioNow(payment);
      const declined = scenario.startsWith('decline:') ? scenario.slice('decline:'.length) : undefined;
      return fail(payment, params.failureCode ?? declined ?? 'generic_decline');
    }
    case 'retry':
      return arrive(payment, action, { status: 'pending', failure: null, retries: payment.retries + 1 });
    case 'cancel':
    case 'expire': {
      const ended = action === 'cancel' ? 'canceled' : 'expired';
      const status = isIn(payment, 'partially_captured') ? 'captured' : ended;
      return arrive(payment, action, { status, capturable: 0n, held: 0n }, { entries: release(held) });
    }
    case 'refund':
      return createRefund(payment, params, by === 'willing' ? 'approve' : scenarioNow(payment));
    default:
      return openDispute(payment, params);
  }
}

function settle(payment: Payment): Payment {
  const gross = payment.captured - refunded(payment) - disputed(payment);
  const net = gross - payment.fee - refundPending(payment);
  const status = isIn(payment, 'captured') ? 'settled' : payment.status;
  return arrive(
    payment,
    'settle',
    { status, isSettled: true },
    {
      event: 'settled',
      entries: entry('settle', {
        bank: gross,
        merchant_pending: net,
        provider_receivable: -gross,
        merchant_available: -net,
      }),
    },
  );
}

function fail(payment: Payment, failure: string): Payment {
  const failures = payment.failures + 1;
  return arrive(
    payment,
    'fail',
    { status: 'failed', failure, failures, capturable: 0n, held: 0n },
    { entries: release(payment.held) },
  );
}

/** The amount without an explicit one: all, or half of it where a part is requested and there is one. */
function amountOf(most: bigint, { amount, isPart }: Params): bigint {
  return amount ?? (isPart && most > 1n ? most / 2n : most);
}

function capture(payment: Payment, params: Params, isWilling: boolean): Payment | Refused {
  const most = isUnpaid(payment) ? payment.amount : payment.capturable;
  const amount = amountOf(most, params);
  if (amount > most) return { refused: 'amount_exceeds_capturable' };
  const isFailing = scenarioNow(payment) === 'capture_fails' && !isWilling;
  if (isFailing && !isIn(payment, 'partially_captured')) return fail(payment, 'processing_error');
  const isDone = amount === most || params.isFinal === true;
  const isHeld = payment.held > 0n;
  const fee = feeOf(amount, payment.terms);
  const held = isHeld ? amount : 0n;
  return arrive(
    payment,
    'capture',
    {
      status: isDone ? 'captured' : 'partially_captured',
      captured: payment.captured + amount,
      capturable: isDone ? 0n : most - amount,
      held: isDone || !isHeld ? 0n : payment.held - amount,
      fee: payment.fee + fee,
    },
    {
      entries: [
        ...entry('capture', {
          hold_obligations: held,
          provider_receivable: amount,
          provider_holds: -held,
          merchant_pending: fee - amount,
          fees: -fee,
        }),
        ...(isDone && isHeld ? release(most - amount) : []),
      ],
    },
  );
}

export type RefundEnd = 'succeeded' | 'failed' | 'canceled';

const refundActions: Readonly<Record<RefundEnd, string>> = {
  succeeded: 'succeed',
  failed: 'fail',
  canceled: 'cancel',
};

const refundTransition = (index: number, end: RefundEnd): Transition => ({
  ...{ resource: 'refund', index, action: refundActions[end], from: 'pending', to: end },
  event: `refund.${end}`,
});

function refundEntries(payment: Payment, amount: bigint, end: RefundEnd): readonly LedgerEntry[] {
  const to = end === 'succeeded' ? provider(payment) : merchant(payment);
  return entry(`refund_${end}`, { refunds_in_transit: amount, [to]: -amount });
}

function createRefund(payment: Payment, params: Params, scenario: string): Payment | Refused {
  const most = returnable(payment);
  const amount = amountOf(most, params);
  if (amount > most || amount === 0n) return { refused: 'amount_exceeds_refundable' };
  const index = payment.refunds.length;
  const created: Transition = {
    ...{ resource: 'refund', index, action: 'create', from: null, to: 'pending' },
    event: 'refund.created',
  };
  const opened = entry('refund', { [merchant(payment)]: amount, refunds_in_transit: -amount });
  if (scenario === 'refund_pending') {
    const refunds: readonly Refund[] = [...payment.refunds, { amount, status: 'pending' }];
    return arrive(
      payment,
      'refund_pending',
      { refunds },
      { event: 'updated', entries: opened, parts: [created] },
    );
  }
  const end = scenario === 'refund_fails' ? 'failed' : 'succeeded';
  const refunds: readonly Refund[] = [...payment.refunds, { amount, status: end }];
  return settleRefund(payment, end === 'failed' ? 'refund_failed' : 'refund', refunds, {
    entries: [...opened, ...refundEntries(payment, amount, end)],
    parts: [created, refundTransition(index, end)],
  });
}

/** Ends a pending refund of a payment, with its effect on the payment. */
export function endRefund(payment: Payment, index: number, end: RefundEnd): Payment {
  const amount = payment.refunds[index]?.amount ?? 0n;
  const refunds = payment.refunds.map((refund, i) => (i === index ? { ...refund, status: end } : refund));
  return settleRefund(payment, `refund_${end}`, refunds, {
    entries: refundEntries(payment, amount, end),
    parts: [refundTransition(index, end)],
  });
}

function settleRefund(
  payment: Payment,
  action: string,
  refunds: readonly Refund[],
  effects: Effects,
): Payment {
  const after = { ...payment, refunds };
  const hasSucceeded = refunded(after) > refunded(payment);
  if (!hasSucceeded || isIn(payment, 'disputed'))
    return arrive(payment, action, { refunds }, { ...effects, event: 'updated' });
  return arrive(payment, action, { refunds, status: restingStatus(after) }, effects);
}

function openDispute(payment: Payment, params: Params): Payment | Refused {
  const most = returnable(payment);
  const amount = params.amount ?? most;
  if (amount > most || amount === 0n) return { refused: 'amount_exceeds_disputable' };
  const dispute: Dispute = { amount, status: 'needs_response', stage: 1 };
  const created: Transition = {
    ...{ resource: 'dispute', index: payment.disputes.length, action: 'create', from: null },
    ...{ to: 'needs_response', event: 'dispute.created' },
  };
  return arrive(
    payment,
    'dispute',
    { status: 'disputed', disputes: [...payment.disputes, dispute] },
    {
      entries: entry('dispute', { [merchant(payment)]: amount, dispute_reserve: -amount }),
      parts: [created],
    },
  );
}

export interface DisputeAction {
  readonly action: string;
  readonly from: Dispute['status'];
  readonly to: Dispute['status'];
}

export const disputeTable: readonly DisputeAction[] = [
  { action: 'submit_evidence', from: 'needs_response', to: 'under_review' },
  { action: 'accept', from: 'needs_response', to: 'lost' },
  { action: 'expire', from: 'needs_response', to: 'lost' },
  { action: 'win', from: 'under_review', to: 'won' },
  { action: 'lose', from: 'under_review', to: 'lost' },
  { action: 'escalate', from: 'under_review', to: 'needs_response' },
];

/** The payment after one allowed action of a dispute. When the dispute is closed, the payment leaves `disputed`. */
export function moveDispute(payment: Payment, index: number, { action, from, to }: DisputeAction): Payment {
  const amount = payment.disputes[index]?.amount ?? 0n;
  const disputes = payment.disputes.map((dispute, i): Dispute => {
    if (i !== index) return dispute;
    return { ...dispute, status: to, stage: dispute.stage + (action === 'escalate' ? 1 : 0) };
  });
  const own: Transition = { resource: 'dispute', index, action, from, to, event: `dispute.${to}` };
  if (to === 'needs_response' || to === 'under_review')
    return { ...payment, disputes, transitions: [...payment.transitions, own] };
  const after = { ...payment, disputes };
  const isAllLost = disputeLost(after) === payment.captured;
  const account = to === 'won' ? merchant(payment) : provider(payment);
  return arrive(
    payment,
    `dispute_${to}`,
    { disputes, status: isAllLost ? 'charged_back' : restingStatus(after) },
    { entries: entry(`dispute_${to}`, { dispute_reserve: amount, [account]: -amount }), parts: [own] },
  );
}
