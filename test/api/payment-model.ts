/**
 * What the design says of payments (sections 6 and 7), written down a second time and in another way than in `src`: plain
 * numbers, one function a move. The matrix compares the server with this, so nothing here may call the server's own parts.
 */
export interface Facts {
  readonly status: string;
  readonly captureMethod: 'automatic' | 'manual';
  readonly scenario: string;
  readonly amount: number;
  readonly capturable: number;
  readonly held: number;
  readonly captured: number;
  readonly refunded: number;
  /** Of refunds that are pending. */
  readonly refunding: number;
  /** Of disputes that are open or lost. */
  readonly disputed: number;
  readonly fee: number;
  readonly isSettled: boolean;
  readonly failureCode: string | null;
  readonly failedAttempts: number;
}

export const paymentStates = [
  ...['pending', 'requires_action', 'processing', 'authorized', 'partially_captured', 'captured', 'settled'],
  ...['partially_refunded', 'refunded', 'disputed', 'charged_back', 'failed', 'canceled', 'expired'],
];

/** The table of section 6: what leads where when it takes all that there is. */
export const paymentTable: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  require_action: { pending: 'requires_action' },
  process: { pending: 'processing', requires_action: 'processing' },
  authorize: { pending: 'authorized', requires_action: 'authorized', processing: 'authorized' },
  capture: {
    authorized: 'captured',
    partially_captured: 'captured',
    pending: 'captured',
    requires_action: 'captured',
    processing: 'captured',
  },
  settle: { captured: 'settled', partially_refunded: 'partially_refunded' },
  fail: { pending: 'failed', requires_action: 'failed', processing: 'failed', authorized: 'failed' },
  retry: { failed: 'pending' },
  cancel: {
    pending: 'canceled',
    requires_action: 'canceled',
    authorized: 'canceled',
    partially_captured: 'captured',
  },
  expire: {
    pending: 'expired',
    requires_action: 'expired',
    authorized: 'expired',
    partially_captured: 'captured',
  },
  refund: { captured: 'refunded', settled: 'refunded', partially_refunded: 'refunded' },
  dispute: { captured: 'disputed', settled: 'disputed', partially_refunded: 'disputed' },
};

const unpaid = ['pending', 'requires_action', 'processing'];
const softCodes = ['generic_decline', 'insufficient_funds', 'processing_error'];

/** The remarks of the table. A capture that the scenario lets fail is the one way from authorized to failed. */
function isOpen(action: string, facts: Facts): boolean {
  const { status } = facts;
  if (paymentTable[action]?.[status] === undefined) return false;
  if (action === 'capture' && unpaid.includes(status)) return facts.captureMethod === 'automatic';
  if (action === 'settle' && status === 'partially_refunded') return !facts.isSettled;
  if (action === 'fail' && status === 'authorized') return facts.scenario === 'capture_fails';
  if (action === 'retry') return softCodes.includes(facts.failureCode ?? '') && facts.failedAttempts < 3;
  return true;
}

export function openActions(facts: Facts): readonly string[] {
  return Object.keys(paymentTable).filter((action) => isOpen(action, facts));
}

export interface Params {
  readonly amount?: number;
  /** On a way to a `partially_` state without an amount: half of what is left. */
  readonly isPart?: boolean;
  readonly final?: boolean;
  readonly failureCode?: string;
  /** On a way to a named state the provider does what the way needs, whatever the scenario says. */
  readonly isForced?: boolean;
}

/** One row of the history with the event that tells of it. */
export interface Told {
  readonly resource: 'payment' | 'refund' | 'dispute';
  readonly action: string;
  readonly from: string | null;
  readonly to: string;
  readonly event: string;
}

export interface Posted {
  readonly reason: string;
  readonly postings: Readonly<Record<string, number>>;
}

export interface Moved {
  readonly facts: Facts;
  readonly told: readonly Told[];
  readonly entries: readonly Posted[];
}

export interface Refused {
  readonly code: string;
}

/** 2.9 % and 30, worked out by hand for the amounts that the situations use. */
const fees: Readonly<Record<number, number>> = {
  1000: 59,
  2500: 102,
  3000: 117,
  4000: 146,
  5000: 175,
  6000: 204,
  9000: 291,
  10000: 320,
};

export function feeOf(amount: number): number {
  const fee = fees[amount];
  if (fee === undefined) throw new Error(`the fee of ${amount} is not worked out`);
  return fee;
}

const lines = (reason: string, postings: Record<string, number>): readonly Posted[] => {
  const moving = Object.entries(postings).filter(([, amount]) => amount !== 0);
  return moving.length === 0 ? [] : [{ reason, postings: Object.fromEntries(moving) }];
};

const share = ({ isSettled }: Facts) => (isSettled ? 'merchant_available' : 'merchant_pending');
const money = ({ isSettled }: Facts) => (isSettled ? 'bank' : 'provider_receivable');

export const returnable = ({ captured, refunded, refunding, disputed }: Facts) =>
  captured - refunded - refunding - disputed;

export const posted = {
  release: (n: number) => lines('release', { hold_obligations: n, provider_holds: -n }),
  refund: (facts: Facts, n: number) => lines('refund', { [share(facts)]: n, refunds_in_transit: -n }),
  refund_succeeded: (facts: Facts, n: number) =>
    lines('refund_succeeded', { refunds_in_transit: n, [money(facts)]: -n }),
  refund_failed: (facts: Facts, n: number) =>
    lines('refund_failed', { refunds_in_transit: n, [share(facts)]: -n }),
  refund_canceled: (facts: Facts, n: number) =>
    lines('refund_canceled', { refunds_in_transit: n, [share(facts)]: -n }),
  dispute: (facts: Facts, n: number) => lines('dispute', { [share(facts)]: n, dispute_reserve: -n }),
  dispute_won: (facts: Facts, n: number) => lines('dispute_won', { dispute_reserve: n, [share(facts)]: -n }),
  dispute_lost: (facts: Facts, n: number) =>
    lines('dispute_lost', { dispute_reserve: n, [money(facts)]: -n }),
};

/** Where a payment stands by its amounts when no dispute is open. */
export function restOf(facts: Facts): string {
  if (facts.refunded > 0) return facts.refunded === facts.captured ? 'refunded' : 'partially_refunded';
  return facts.isSettled ? 'settled' : 'captured';
}

/** What an action of a payment must lead to: the move with all it leaves behind, or the code of the refusal. */
export function expectMove(facts: Facts, action: string, params: Params = {}): Moved | Refused {
  if (!isOpen(action, facts)) return { code: 'invalid_state_transition' };
  const { amount, status, held } = facts;
  const went = (
    more: Partial<Facts>,
    entries: readonly Posted[] = [],
    told: Partial<Told> = {},
    others: readonly Told[] = [],
  ): Moved => {
    const to = more.status ?? status;
    const move = { resource: 'payment', action, from: status, to, event: `payment.${to}`, ...told } as const;
    return { facts: { ...facts, ...more }, entries, told: [...others, move] };
  };
  switch (action) {
    case 'require_action':
      return went({ status: 'requires_action' });
    case 'process':
      return went({ status: 'processing' });
    case 'authorize':
      return went(
        { status: 'authorized', capturable: amount, held: amount },
        lines('authorize', { provider_holds: amount, hold_obligations: -amount }),
      );
    case 'capture':
      return capture(facts, params, went);
    case 'settle': {
      const gross = facts.captured - facts.refunded - facts.disputed;
      const net = gross - facts.fee - facts.refunding;
      const entries = lines('settle', {
        bank: gross,
        merchant_pending: net,
        provider_receivable: -gross,
        merchant_available: -net,
      });
      const arrival = status === 'captured' ? 'settled' : status;
      return went({ status: arrival, isSettled: true }, entries, { event: 'payment.settled' });
    }
    case 'fail':
      return went(failed(facts, params.failureCode ?? declineOf(facts)), posted.release(held));
    case 'retry':
      return went({ status: 'pending', failureCode: null });
    case 'cancel':
    case 'expire': {
      const ended = action === 'cancel' ? 'canceled' : 'expired';
      const arrival = status === 'partially_captured' ? 'captured' : ended;
      return went({ status: arrival, capturable: 0, held: 0 }, posted.release(held));
    }
    case 'refund':
      return refund(facts, params, went);
    case 'dispute': {
      const n = params.amount ?? returnable(facts);
      if (n > returnable(facts) || n === 0) return { code: 'amount_exceeds_disputable' };
      return went(
        { status: 'disputed', disputed: facts.disputed + n },
        posted.dispute(facts, n),
        {},
        madeBy('dispute', 'needs_response'),
      );
    }
    default:
      throw new Error(`nothing is written down for ${action}`);
  }
}

type Went = (
  more: Partial<Facts>,
  entries?: readonly Posted[],
  told?: Partial<Told>,
  others?: readonly Told[],
) => Moved;

const madeBy = (resource: 'refund' | 'dispute', to: string): readonly Told[] => [
  { resource, action: 'create', from: null, to, event: `${resource}.created` },
];

const declineOf = ({ scenario }: Facts) =>
  scenario.startsWith('decline:') ? scenario.slice('decline:'.length) : 'generic_decline';

const failed = (facts: Facts, failureCode: string): Partial<Facts> => ({
  status: 'failed',
  capturable: 0,
  held: 0,
  failureCode,
  failedAttempts: facts.failedAttempts + 1,
});

const partOf = (left: number, isPart = false): number => (isPart && left > 1 ? Math.floor(left / 2) : left);

function capture(facts: Facts, { amount, isPart, final, isForced }: Params, went: Went): Moved | Refused {
  const most = unpaid.includes(facts.status) ? facts.amount : facts.capturable;
  const n = amount ?? partOf(most, isPart);
  if (n > most) return { code: 'amount_exceeds_capturable' };
  if (!isForced && facts.scenario === 'capture_fails' && facts.status !== 'partially_captured') {
    return went(failed(facts, 'processing_error'), posted.release(facts.held), {
      action: 'fail',
      event: 'payment.failed',
    });
  }
  const held = facts.held > 0 ? n : 0;
  const rest = most - n;
  const isDone = rest === 0 || final === true;
  const fee = feeOf(n);
  const entries = lines('capture', {
    hold_obligations: held,
    provider_receivable: n,
    provider_holds: -held,
    merchant_pending: fee - n,
    fees: -fee,
  });
  return went(
    {
      status: isDone ? 'captured' : 'partially_captured',
      captured: facts.captured + n,
      capturable: isDone ? 0 : rest,
      held: isDone || facts.held === 0 ? 0 : rest,
      fee: facts.fee + fee,
    },
    [...entries, ...(isDone && facts.held > 0 ? posted.release(rest) : [])],
  );
}

function refund(facts: Facts, { amount, isPart, isForced }: Params, went: Went): Moved | Refused {
  const n = amount ?? partOf(returnable(facts), isPart);
  if (n > returnable(facts) || n === 0) return { code: 'amount_exceeds_refundable' };
  const made = madeBy('refund', 'pending');
  const entries = posted.refund(facts, n);
  const ended = (action: string, to: string): readonly Told[] => [
    { resource: 'refund', action, from: 'pending', to, event: `refund.${to}` },
  ];
  const stays = { event: 'payment.updated' } as const;
  const scenario = isForced ? 'approve' : facts.scenario;
  if (scenario === 'refund_pending') {
    return went({ refunding: facts.refunding + n }, entries, { action: 'refund_pending', ...stays }, made);
  }
  if (scenario === 'refund_fails') {
    const told = [...made, ...ended('fail', 'failed')];
    return went(
      {},
      [...entries, ...posted.refund_failed(facts, n)],
      { action: 'refund_failed', ...stays },
      told,
    );
  }
  const after = { ...facts, refunded: facts.refunded + n };
  return went(
    { refunded: after.refunded, status: restOf(after) },
    [...entries, ...posted.refund_succeeded(facts, n)],
    {},
    [...made, ...ended('succeed', 'succeeded')],
  );
}
