/** What the clients of a journey ask for. A new kind of command is one more entry of a list. */
import type { App, Asked } from './journey-client.ts';
import type { Dice, World } from './journey-world.ts';

export interface Entry {
  readonly weight: number;
  /** Undefined when the world has nothing yet that it could be asked of. */
  readonly make: (world: World, dice: Dice) => Asked | undefined;
}

export const CURRENCIES = ['EUR', 'USD', 'JPY'];
const DAY_SECONDS = 86_400;
const PAYOUT_SECONDS = 6 * 3_600;

const scenarios: readonly string[] = [
  ...['approve', 'require_action', 'async', 'capture_fails', 'refund_fails', 'refund_pending', 'dispute'],
  ...['settle_short', 'settle_missing', 'settle_duplicate', 'settle_unknown'],
  ...['settle_short', 'settle_missing', 'settle_duplicate', 'settle_unknown'],
  ...['decline:insufficient_funds', 'decline:try_again_later', 'decline:stolen_card'],
];

const states: readonly string[] = [
  ...['requires_action', 'processing', 'authorized', 'partially_captured', 'captured', 'settled'],
  ...['partially_refunded', 'refunded', 'disputed', 'charged_back', 'failed', 'canceled', 'expired'],
];

function createPayment(world: World, dice: Dice): Asked {
  const list = () => Array.from({ length: dice.between(1, 3) }, () => dice.one(scenarios));
  const scenario = dice.isOne(5) ? {} : { scenario: dice.isOne(3) ? list() : dice.one(scenarios) };
  const method = dice.one(['card', 'wallet', 'bank_debit', 'bank_transfer']);
  return {
    app: dice.one(world.apps),
    path: 'payments',
    body: {
      amount: dice.isOne(5) ? dice.between(1, 60) : dice.between(100, 5_000_000),
      currency: dice.one(CURRENCIES),
      ...scenario,
      ...(dice.isOne(4) ? {} : { paymentMethod: { type: method } }),
      ...(dice.isOne(3) ? { captureMethod: 'manual' } : {}),
      ...(dice.isOne(2) ? { autoAdvance: true } : {}),
    },
  };
}

function advancePayment(world: World, dice: Dice): Asked | undefined {
  const payment = world.pick('payment', dice);
  if (!payment) return undefined;
  const { allowedActions = [], amount = 100 } = payment.seen;
  const way = dice.below(3);
  const part = { amount: dice.between(1, amount) };
  const body = way === 0 ? {} : way === 1 ? { to: dice.one(states) } : action();
  return { app: world.mover(payment, dice), path: `payments/${payment.id}/advance`, body };

  function action() {
    const name = dice.one(
      allowedActions.length > 0 && !dice.isOne(8) ? allowedActions : ['settle', 'cancel'],
    );
    if (name === 'capture')
      return { action: name, ...(dice.isOne(2) ? part : {}), ...(dice.isOne(3) ? { final: true } : {}) };
    if (name === 'dispute' || name === 'refund') return { action: name, ...(dice.isOne(2) ? part : {}) };
    if (name === 'fail') return { action: name, failureCode: dice.one(['generic_decline', 'lost_card']) };
    return { action: name };
  }
}

function refundPayment(world: World, dice: Dice): Asked | undefined {
  const payment = world.pick('payment', dice);
  if (!payment) return undefined;
  const { amountRefundable = 0 } = payment.seen;
  const part = amountRefundable > 0 && dice.isOne(2) ? { amount: dice.between(1, amountRefundable) } : {};
  return { app: world.mover(payment, dice), path: `payments/${payment.id}/refund`, body: part };
}

function advanceRefund(world: World, dice: Dice): Asked | undefined {
  const refund = world.pick('refund', dice);
  const body = dice.isOne(3) ? {} : { action: dice.one(['succeed', 'fail', 'cancel']) };
  return refund && { app: world.mover(refund, dice), path: `refunds/${refund.id}/advance`, body };
}

function advanceDispute(world: World, dice: Dice): Asked | undefined {
  const dispute = world.pick('dispute', dice);
  const evidence = { action: 'submit_evidence', evidence: { receipt: 'signed at the door' } };
  const body = dice.one([
    ...[{}, evidence, { action: 'submit_evidence' }, { action: 'accept' }, { action: 'win' }],
    ...[{ action: 'lose' }, { action: 'escalate' }, { action: 'escalate' }, { to: 'won' }],
  ]);
  return dispute && { app: world.mover(dispute, dice), path: `disputes/${dispute.id}/advance`, body };
}

export const paymentEntries: readonly Entry[] = [
  { weight: 30, make: createPayment },
  { weight: 30, make: advancePayment },
  { weight: 10, make: refundPayment },
  { weight: 5, make: advanceRefund },
  { weight: 10, make: advanceDispute },
];

const jumps: readonly number[] = [
  ...[1, 60, 1_800, 3_600, PAYOUT_SECONDS, DAY_SECONDS, DAY_SECONDS, 2 * DAY_SECONDS],
  ...[7 * DAY_SECONDS, 9 * DAY_SECONDS],
];

/** Of the first organization only: the other one must not notice. */
export function clockEntries(movable: readonly App[]): readonly Entry[] {
  const move = (path: string, body: (world: World, dice: Dice, app: App) => Asked['body']): Entry['make'] => {
    return (world, dice) => {
      const app = dice.one(movable);
      return { app, path: `clock/${path}`, body: body(world, dice, app) };
    };
  };
  const to = (instant: number) => ({ to: new Date(instant).toISOString() });
  return [
    {
      weight: 2,
      make: move('advance', (_, dice) => ({ seconds: Math.max(1, dice.one(jumps) + dice.between(-30, 30)) })),
    },
    {
      weight: 1,
      make: move('advance', (world, dice, app) => to(world.now(app) + dice.below(3 * DAY_SECONDS) * 1_000)),
    },
    // Just before the providers pay out: a clock that runs passes that hour by itself, with no request to see it.
    {
      weight: 0.7,
      make: move('advance', (world, dice, app) => to(nextPayout(world.now(app)) - dice.between(1, 900))),
    },
    { weight: 0.3, make: move('freeze', () => ({})) },
    { weight: 0.3, make: move('reset', () => ({})) },
  ];
}

function nextPayout(now: number): number {
  const day = DAY_SECONDS * 1_000;
  const today = Math.floor(now / day) * day + PAYOUT_SECONDS * 1_000;
  return today > now + 1_000 ? today : today + day;
}

export function choose(entries: readonly Entry[], world: World, dice: Dice): Asked {
  const total = entries.reduce((sum, { weight }) => sum + weight, 0);
  for (;;) {
    let left = dice.chance() * total;
    const entry = entries.find(({ weight }) => {
      left -= weight;
      return left < 0;
    });
    const asked = entry?.make(world, dice);
    if (asked) return asked;
  }
}
