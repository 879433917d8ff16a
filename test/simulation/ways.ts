/** The three ways to ask for an advance, as the contract tells them: the next step, a step by name, a state. */
import {
  act,
  type Dispute,
  isRefused,
  moveDispute,
  openActions,
  type Params,
  type Payment,
  type Refund,
  type RefundEnd,
  type Refused,
  returnable,
  type Status,
  scenarioNow,
} from './model.ts';

const wrongState: Refused = { refused: 'invalid_state_transition' };

/** The next step of the scenario: what the provider and the customer do if nobody tells them. */
export function next(payment: Payment): Payment | Refused {
  const action = nextAction(payment);
  return action === undefined ? wrongState : act(payment, action, {}, 'as its scenario');
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

/** Actions that lead to a state only with the right amount: what they refuse is the reason why it is not reached. */
const arrivals: Readonly<Record<string, string>> = {
  partially_captured: 'capture',
  captured: 'capture',
  partially_refunded: 'refund',
  refunded: 'refund',
  disputed: 'dispute',
};

/** The shortest way of legal moves, breadth first; among equals the order of the table. The last step has the amount. */
export function walk(start: Payment, to: Status, params: Params): Payment | Refused {
  if (start.status === to) return wrongState;
  const seen = new Set<Status>([start.status, to]);
  const refusals: Refused[] = [];
  let row: readonly Payment[] = [start];
  while (row.length > 0) {
    const following: Payment[] = [];
    for (const at of row) {
      const accepted = acceptedDispute(start, at);
      for (const action of openActions(at)) {
        const arrived = act(at, action, { ...params, isPart: to.startsWith('partially_') }, 'willing');
        if (isRefused(arrived)) {
          if (action === arrivals[to]) refusals.push(arrived);
        } else if (arrived.status === to) return arrived;
      }
      if (accepted?.status === to) return accepted;
      const passed = openActions(at).map((action) => act(at, action, {}, 'willing'));
      for (const position of [...passed, ...(accepted ? [accepted] : [])]) {
        if (isRefused(position) || seen.has(position.status)) continue;
        seen.add(position.status);
        following.push(position);
      }
    }
    row = following;
  }
  return refusals[0] ?? wrongState;
}

/** A way may lose the dispute that it opened itself, and no other. */
function acceptedDispute(start: Payment, at: Payment): Payment | undefined {
  const isOwn = at.status === 'disputed' && at.disputes.length > start.disputes.length;
  return isOwn ? moveDispute(at, at.disputes.length - 1, 'lost') : undefined;
}

export type Ask =
  | { readonly by: 'next' }
  | { readonly by: 'action'; readonly action: string }
  | { readonly by: 'to'; readonly to: string };

const refundActions: Readonly<Record<string, RefundEnd>> = {
  succeed: 'succeeded',
  fail: 'failed',
  cancel: 'canceled',
};

/** How a refund ends that is asked for it, or why not. */
export function endOf(refund: Refund, payment: Payment, ask: Ask): RefundEnd | Refused {
  if (refund.status !== 'pending') return wrongState;
  if (ask.by === 'next') return scenarioNow(payment) === 'refund_fails' ? 'failed' : 'succeeded';
  if (ask.by === 'action') return refundActions[ask.action] ?? wrongState;
  return Object.values(refundActions).find((end) => end === ask.to) ?? wrongState;
}

type DisputeStatus = Dispute['status'];

const disputeTable: readonly {
  readonly action: string;
  readonly from: DisputeStatus;
  readonly to: DisputeStatus;
}[] = [
  { action: 'submit_evidence', from: 'needs_response', to: 'under_review' },
  { action: 'accept', from: 'needs_response', to: 'lost' },
  { action: 'expire', from: 'needs_response', to: 'lost' },
  { action: 'win', from: 'under_review', to: 'won' },
  { action: 'lose', from: 'under_review', to: 'lost' },
  { action: 'escalate', from: 'under_review', to: 'needs_response' },
];

export const disputeActions: readonly string[] = disputeTable.map(({ action }) => action);

export function openDisputeActions(dispute: Dispute): readonly string[] {
  return disputeTable
    .filter(({ action, from }) => from === dispute.status && (action !== 'escalate' || dispute.stage < 3))
    .map(({ action }) => action);
}

/** The states that a dispute comes through, or why it does not. */
export function stopsOf(dispute: Dispute, ask: Ask): readonly DisputeStatus[] | Refused {
  const open = openDisputeActions(dispute);
  const reached = (action: string | undefined): readonly DisputeStatus[] | Refused => {
    const move = disputeTable.find((row) => row.action === action && open.includes(row.action));
    return move ? [move.to] : wrongState;
  };
  if (ask.by === 'action') return reached(ask.action);
  if (ask.by === 'next') return reached(dispute.status === 'needs_response' ? 'submit_evidence' : 'win');
  const direct = disputeTable.find(({ action, to }) => to === ask.to && open.includes(action));
  if (direct) return [direct.to];
  const isWinnable = dispute.status === 'needs_response' && ask.to === 'won';
  return isWinnable ? ['under_review', 'won'] : wrongState;
}
