import {
  expectMove,
  type Facts,
  type Moved,
  openActions,
  type Params,
  paymentTable,
  posted,
  type Refused,
  restOf,
} from './payment-model.ts';

interface Node {
  readonly facts: Facts;
  readonly told: Moved['told'];
  readonly entries: Moved['entries'];
  /** What a dispute that this way opened is about. */
  readonly opened: number;
}

const none: Refused = { code: 'invalid_state_transition' };

/**
 * The shortest way of legal moves to a state, searched state by state. Only the last step takes the parameters. When the
 * step that would arrive is there and only its amount is not, that is the refusal; else there is no way.
 */
export function expectWay(facts: Facts, to: string, params: Params = {}): Moved | Refused {
  if (facts.status === to) return none;
  const seen = new Set([facts.status, to]);
  let refusal: Refused | undefined;
  let ring: Node[] = [{ facts, told: [], entries: [], opened: 0 }];
  while (ring.length > 0) {
    const next: Node[] = [];
    for (const node of ring) {
      for (const action of openActions(node.facts)) {
        const arrival = step(node, action, { ...params, isPart: to.startsWith('partially_') });
        if (!('code' in arrival)) {
          if (arrival.facts.status === to) return arrival;
        } else if (mayLeadTo(action, node.facts.status, to)) refusal ??= arrival;
      }
      const lost = loseDispute(node);
      if (lost?.facts.status === to) return lost;
      const passes = openActions(node.facts).map((action) => step(node, action, {}));
      for (const pass of [...passes, ...(lost ? [lost] : [])]) {
        if ('code' in pass || seen.has(pass.facts.status)) continue;
        seen.add(pass.facts.status);
        next.push(pass);
      }
    }
    ring = next;
  }
  return refusal ?? none;
}

function step(node: Node, action: string, params: Params): Node | Refused {
  const moved = expectMove(node.facts, action, { ...params, isForced: true });
  if ('code' in moved) return moved;
  return {
    facts: moved.facts,
    told: [...node.told, ...moved.told],
    entries: [...node.entries, ...moved.entries],
    opened: action === 'dispute' ? moved.facts.disputed - node.facts.disputed : 0,
  };
}

/** Only for arrivals that an amount decides. */
function mayLeadTo(action: string, from: string, to: string): boolean {
  const parts: Readonly<Record<string, string>> = {
    capture: 'partially_captured',
    refund: 'partially_refunded',
  };
  return paymentTable[action]?.[from] === to || parts[action] === to;
}

/** A way may lose the dispute that it opened: that is how a payment comes to be charged back. */
function loseDispute({ facts, told, entries, opened }: Node): Node | undefined {
  if (opened === 0) return undefined;
  const to = facts.disputed === facts.captured ? 'charged_back' : restOf(facts);
  return {
    facts: { ...facts, status: to },
    told: [
      ...told,
      { resource: 'dispute', action: 'accept', from: 'needs_response', to: 'lost', event: 'dispute.lost' },
      { resource: 'payment', action: 'dispute_lost', from: 'disputed', to, event: `payment.${to}` },
    ],
    entries: [...entries, ...posted.dispute_lost(facts, opened)],
    opened: 0,
  };
}

/** The next step of a scenario, by the words of the scenario (section 9) and the way to capture. */
export function expectNext(facts: Facts): Moved | Refused {
  const { status, scenario } = facts;
  const pay = facts.captureMethod === 'automatic' ? 'capture' : 'authorize';
  const steps: Readonly<Record<string, string | undefined>> = {
    pending: pay,
    requires_action: pay,
    processing: pay,
    authorized: 'capture',
    partially_captured: 'capture',
    captured: 'settle',
    failed: 'retry',
    partially_refunded: 'settle',
  };
  const own: Readonly<Record<string, string>> =
    scenario === 'capture_fails'
      ? { pending: 'authorize' }
      : scenario.startsWith('decline:')
        ? { pending: 'fail' }
        : {};
  const action = own[status] ?? steps[status];
  return action === undefined ? none : expectMove(facts, action);
}
