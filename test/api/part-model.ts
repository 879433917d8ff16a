import type { PartSituation } from './part-situations.ts';
import { type Facts, type Moved, posted, type Refused, restOf, type Told } from './payment-model.ts';

/** The lines below the table of section 6: refunds and disputes, with what each move brings to the payment. */
export interface PartMoved extends Moved {
  readonly status: string;
}

export const partTables = {
  refund: {
    succeed: { pending: 'succeeded' },
    fail: { pending: 'failed' },
    cancel: { pending: 'canceled' },
  },
  dispute: {
    submit_evidence: { needs_response: 'under_review' },
    accept: { needs_response: 'lost' },
    expire: { needs_response: 'lost' },
    win: { under_review: 'won' },
    lose: { under_review: 'lost' },
    escalate: { under_review: 'needs_response' },
  },
} as const satisfies Record<string, Record<string, Record<string, string>>>;

export const partStates = {
  refund: ['pending', 'succeeded', 'failed', 'canceled'],
  dispute: ['needs_response', 'under_review', 'won', 'lost'],
} as const;

export type PartKind = keyof typeof partTables;
type Here = Pick<PartSituation, 'status' | 'amount' | 'payment' | 'isLastStage'>;

const none: Refused = { code: 'invalid_state_transition' };

function arrivalOf(kind: PartKind, action: string, { status, isLastStage }: Here): string | undefined {
  if (action === 'escalate' && isLastStage) return undefined;
  const table: Readonly<Record<string, Readonly<Record<string, string>>>> = partTables[kind];
  return table[action]?.[status];
}

export function openPartActions(kind: PartKind, here: Here): readonly string[] {
  return Object.keys(partTables[kind]).filter((action) => arrivalOf(kind, action, here) !== undefined);
}

export function expectPartMove(kind: PartKind, here: Here, action: string): PartMoved | Refused {
  const to = arrivalOf(kind, action, here);
  if (to === undefined) return none;
  const own: Told = { resource: kind, action, from: here.status, to, event: `${kind}.${to}` };
  const brought = kind === 'refund' ? endRefund(here, to) : closeDispute(here, to);
  return { status: to, ...brought, told: [own, ...brought.told] };
}

function endRefund({ payment, amount }: Here, to: string): Moved {
  const refunding = payment.refunding - amount;
  const action = `refund_${to}`;
  if (to !== 'succeeded') {
    const after = { ...payment, refunding };
    const entries = to === 'failed' ? posted.refund_failed : posted.refund_canceled;
    return { facts: after, entries: entries(payment, amount), told: [paid(payment, after, action, true)] };
  }
  const counted = { ...payment, refunding, refunded: payment.refunded + amount };
  const isDisputed = payment.status === 'disputed';
  const after = { ...counted, status: isDisputed ? 'disputed' : restOf(counted) };
  return {
    facts: after,
    entries: posted.refund_succeeded(payment, amount),
    told: [paid(payment, after, action, isDisputed)],
  };
}

function closeDispute({ payment, amount }: Here, to: string): Moved {
  if (to !== 'won' && to !== 'lost') return { facts: payment, entries: [], told: [] };
  const isChargedBack = to === 'lost' && payment.disputed === payment.captured;
  const after = {
    ...payment,
    disputed: to === 'won' ? payment.disputed - amount : payment.disputed,
    status: isChargedBack ? 'charged_back' : restOf(payment),
  };
  const entries = to === 'won' ? posted.dispute_won : posted.dispute_lost;
  return {
    facts: after,
    entries: entries(payment, amount),
    told: [paid(payment, after, `dispute_${to}`, false)],
  };
}

function paid(before: Facts, after: Facts, action: string, isUpdate: boolean): Told {
  const event = isUpdate ? 'payment.updated' : `payment.${after.status}`;
  return { resource: 'payment', action, from: before.status, to: after.status, event };
}

/** The shortest ways, by hand: only two of them take more than one step. */
const ways: Readonly<Record<PartKind, Readonly<Record<string, readonly string[]>>>> = {
  refund: {
    'pending succeeded': ['succeed'],
    'pending failed': ['fail'],
    'pending canceled': ['cancel'],
  },
  dispute: {
    'needs_response under_review': ['submit_evidence'],
    'needs_response won': ['submit_evidence', 'win'],
    'needs_response lost': ['accept'],
    'under_review won': ['win'],
    'under_review lost': ['lose'],
    'under_review needs_response': ['escalate'],
  },
};

const nextSteps: Readonly<Record<string, string>> = {
  pending: 'succeed',
  needs_response: 'submit_evidence',
  under_review: 'win',
};

export function expectPartWay(kind: PartKind, here: Here, to: string | undefined): PartMoved | Refused {
  const next = nextSteps[here.status];
  const actions =
    to === undefined ? (next === undefined ? [] : [next]) : (ways[kind][`${here.status} ${to}`] ?? []);
  let result: PartMoved | undefined;
  let at = here;
  for (const action of actions) {
    const moved = expectPartMove(kind, at, action);
    if ('code' in moved) return moved;
    result = {
      ...moved,
      told: [...(result?.told ?? []), ...moved.told],
      entries: [...(result?.entries ?? []), ...moved.entries],
    };
    at = { ...at, status: moved.status, payment: moved.facts };
  }
  return result ?? none;
}
