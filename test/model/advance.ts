/** The three forms of an advance in the model: the next step of the scenario, an action by name, the shortest way to a state. */
import {
  act,
  allowedActions,
  type Dispute,
  type DisputeAction,
  disputeTable,
  endRefund,
  invalidTransition,
  isRefused,
  moveDispute,
  type Params,
  type Payment,
  type Refund,
  type RefundEnd,
  type Refused,
  returnable,
  type Status,
  scenarioNow,
} from './payments.ts';

/** The next step of the scenario, as the provider or the customer does it. */
export function next(payment: Payment): Payment | Refused {
  const action = nextAction(payment);
  return action === undefined ? invalidTransition : act(payment, action);
}

function nextAction(payment: Payment): string | undefined {
  const scenario = scenarioNow(payment);
  const pay = payment.isManual ? 'authorize' : 'capture';
  switch (payment.status) {
    case 'pending':
      if (scenario.startsWith('decline:')) return 'fail';
      if (scenario === 'require_action') return 'require_action';
      if (scenario === 'async') return 'process';
      return scenario === 'capture_fails' ? 'authorize' : pay;
    case 'requires_action':
    case 'processing':
      return pay;
    case 'authorized':
    case 'partially_captured':
      return 'capture';
    case 'captured':
    case 'settled':
    case 'partially_refunded':
      if (scenario === 'dispute' && payment.disputes.length === 0 && returnable(payment) > 0n)
        return 'dispute';
      return 'settle';
    case 'failed':
      return 'retry';
    default:
      return undefined;
  }
}

/** The action whose error explains why a state is not reached: it reaches the state only with the right amount. */
const arrivals: Readonly<Record<string, string>> = {
  partially_captured: 'capture',
  captured: 'capture',
  partially_refunded: 'refund',
  refunded: 'refund',
  disputed: 'dispute',
};

/** The shortest path of legal actions, breadth first, ties in table order. The last step has the parameters. */
export function walk(start: Payment, to: Status, params: Params = {}): Payment | Refused {
  if (start.status === to) return invalidTransition;
  const seen = new Set<Status>([start.status, to]);
  const refusals: Refused[] = [];
  let frontier: readonly Payment[] = [start];
  while (frontier.length > 0) {
    const following: Payment[] = [];
    for (const at of frontier) {
      const accepted = acceptedDispute(start, at);
      for (const action of allowedActions(at)) {
        const arrived = act(at, action, { ...params, isPart: to.startsWith('partially_') }, 'willing');
        if (isRefused(arrived)) {
          if (action === arrivals[to]) refusals.push(arrived);
        } else if (arrived.status === to) return arrived;
      }
      if (accepted?.status === to) return accepted;
      const passed = allowedActions(at).map((action) => act(at, action, {}, 'willing'));
      for (const position of [...passed, ...(accepted ? [accepted] : [])]) {
        if (isRefused(position) || seen.has(position.status)) continue;
        seen.add(position.status);
        following.push(position);
      }
    }
    frontier = following;
  }
  return refusals[0] ?? invalidTransition;
}

const accept = disputeTable.find(({ action }) => action === 'accept') as DisputeAction;

/** A walk may lose the dispute that it opened itself, and no other. */
function acceptedDispute(start: Payment, at: Payment): Payment | undefined {
  const isOwn = at.status === 'disputed' && at.disputes.length > start.disputes.length;
  return isOwn ? moveDispute(at, at.disputes.length - 1, accept) : undefined;
}

/** The body of an advance of a refund or dispute. */
export type Advance =
  | { readonly by: 'next' }
  | { readonly by: 'action'; readonly action: string }
  | { readonly by: 'to'; readonly to: string };

const refundEnds: Readonly<Record<string, RefundEnd>> = {
  succeed: 'succeeded',
  fail: 'failed',
  cancel: 'canceled',
};

export const refundActions: readonly string[] = Object.keys(refundEnds);
export const refundStatuses: readonly Refund['status'][] = ['pending', 'succeeded', 'failed', 'canceled'];

export function allowedRefundActions({ status }: Refund): readonly string[] {
  return status === 'pending' ? refundActions : [];
}

export function advanceRefund(payment: Payment, index: number, advance: Advance): Payment | Refused {
  const refund = payment.refunds[index];
  if (refund?.status !== 'pending') return invalidTransition;
  const end = refundEndOf(payment, advance);
  return end === undefined ? invalidTransition : endRefund(payment, index, end);
}

function refundEndOf(payment: Payment, advance: Advance): RefundEnd | undefined {
  if (advance.by === 'next') return scenarioNow(payment) === 'refund_fails' ? 'failed' : 'succeeded';
  if (advance.by === 'action') return refundEnds[advance.action];
  return Object.values(refundEnds).find((end) => end === advance.to);
}

export const disputeActions: readonly string[] = disputeTable.map(({ action }) => action);
export const disputeStatuses: readonly Dispute['status'][] = [
  'needs_response',
  'under_review',
  'won',
  'lost',
];

const isAllowed = (dispute: Dispute, { action, from }: DisputeAction): boolean =>
  from === dispute.status && (action !== 'escalate' || dispute.stage < 3);

export function allowedDisputeActions(dispute: Dispute): readonly string[] {
  return disputeTable.filter((row) => isAllowed(dispute, row)).map(({ action }) => action);
}

export function advanceDispute(payment: Payment, index: number, advance: Advance): Payment | Refused {
  const dispute = payment.disputes[index];
  const actions = dispute && disputePath(dispute, advance);
  if (!actions) return invalidTransition;
  let at = payment;
  for (const action of actions) at = moveDispute(at, index, action);
  return at;
}

/** Only one path takes two steps: winning a dispute that still needs a response. */
function disputePath(dispute: Dispute, advance: Advance): readonly DisputeAction[] | undefined {
  const allowed = disputeTable.filter((row) => isAllowed(dispute, row));
  const named = (name: string) => allowed.find(({ action }) => action === name);
  if (advance.by !== 'to') {
    const natural = dispute.status === 'needs_response' ? 'submit_evidence' : 'win';
    const one = named(advance.by === 'next' ? natural : advance.action);
    return one && [one];
  }
  const direct = allowed.find(({ to }) => to === advance.to);
  if (direct) return [direct];
  const isWinnable = dispute.status === 'needs_response' && advance.to === 'won';
  if (!isWinnable) return undefined;
  return disputeTable.filter(({ action }) => action === 'submit_evidence' || action === 'win');
}
