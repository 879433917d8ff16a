/**
 * The next timer of each record according to docs/clock.md: from the body that its client sent and its transitions. Imports nothing of
 * the server.
 */
import type { Transition } from './rows.ts';
import type { Body } from './servers.ts';

export interface NextTimer {
  readonly at: number;
  /** One of these actions must happen; the outcome may depend on the provider. */
  readonly actions: readonly string[];
}

export interface Lifecycle {
  /** Takes a transition and the record as its event shows it. */
  record(move: Transition, shown: Body): void;
  nextTimer(): NextTimer | null;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const PAYOUT_HOUR = 6;
const ATTEMPTS_MAX = 3;
const SOFT = ['insufficient_funds', 'try_again_later', 'generic_decline', 'processing_error'];

export function lifecycleOf(kind: string, request: Body): Lifecycle {
  if (kind === 'payment') return new PaymentLifecycle(request);
  if (kind === 'dispute') return new DisputeLifecycle();
  if (kind === 'transfer') return new TransferLifecycle(request);
  return { record: () => undefined, nextTimer: () => null };
}

/** The scenario of an attempt, counted from 1; the last one applies to all later attempts. */
function scenarioAt(scenario: unknown, attempt: number): string {
  const list = Array.isArray(scenario) ? scenario : [scenario ?? 'approve'];
  return String(list[Math.min(attempt, list.length) - 1]);
}

function earliest(timers: readonly (NextTimer | null)[]): NextTimer | null {
  return timers.reduce((a, b) => (a === null || (b !== null && b.at < a.at) ? b : a), null);
}

/** Bank debits and bank transfers use the bank gateway, which pays out a day later than the card processor. */
export function providerOf({ paymentMethod }: Body): 'meridian' | 'tidewater' {
  return /^bank/.test(paymentMethod?.type ?? 'card') ? 'tidewater' : 'meridian';
}

export class PaymentLifecycle implements Lifecycle {
  readonly #request: Body;
  #status = '';
  #at = 0;
  #failures = 0;
  #isSoft = false;
  #lapsesAt: number | null = null;
  #capturedAt = 0;
  #isSettled = false;
  #wasDisputed = false;
  #refundable = 0;

  constructor(request: Body) {
    this.#request = request;
  }

  record({ action, to, at }: Transition, shown: Body): void {
    this.#status = to;
    this.#at = at;
    this.#refundable = shown.amountRefundable;
    if (action === 'authorize') this.#lapsesAt = at + 7 * DAY;
    if (action === 'capture') this.#capturedAt = at;
    if (action === 'settle') this.#isSettled = true;
    if (action === 'dispute') this.#wasDisputed = true;
    if (to === 'failed') {
      this.#failures += 1;
      this.#isSoft = SOFT.includes(shown.failure.code);
      this.#lapsesAt = null;
    }
  }

  /** The provider's action for this attempt. */
  get scenario(): string {
    const attempt = this.#status === 'failed' ? this.#failures : this.#failures + 1;
    return scenarioAt(this.#request.scenario, attempt);
  }

  nextTimer(): NextTimer | null {
    const isHeld = this.#status === 'authorized' || this.#status === 'partially_captured';
    const isPayable =
      this.#status === 'captured' || (this.#status === 'partially_refunded' && !this.#isSettled);
    return earliest([
      this.#request.autoAdvance === true ? this.#ownStep() : null,
      isHeld && this.#lapsesAt !== null ? { at: this.#lapsesAt, actions: ['expire'] } : null,
      isPayable ? { at: this.#payoutAt(), actions: ['settle'] } : null,
    ]);
  }

  #ownStep(): NextTimer | null {
    const after = (delay: number, ...actions: string[]): NextTimer => ({ at: this.#at + delay, actions });
    const { scenario } = this;
    // With `capture_fails` the provider refuses a capture, but not the capture of the remaining amount.
    const capture = scenario === 'capture_fails' ? 'fail' : 'capture';
    const pay = this.#request.captureMethod === 'manual' ? 'authorize' : capture;
    switch (this.#status) {
      case 'pending':
        if (scenario.startsWith('decline:')) return after(SECOND, 'fail');
        if (scenario === 'require_action') return after(SECOND, 'require_action');
        if (scenario === 'async') return after(SECOND, 'process');
        return after(SECOND, scenario === 'capture_fails' ? 'authorize' : pay);
      case 'requires_action':
        return after(10 * SECOND, pay);
      case 'processing':
        return after(MINUTE, pay);
      case 'authorized':
        return after(SECOND, capture);
      case 'partially_captured':
        return after(SECOND, 'capture');
      case 'failed':
        return this.#isSoft && this.#failures < ATTEMPTS_MAX ? after(MINUTE, 'retry') : null;
      case 'captured':
      case 'settled':
      case 'partially_refunded':
        return scenario === 'dispute' && !this.#wasDisputed && this.#refundable > 0
          ? after(HOUR, 'dispute')
          : null;
      default:
        return null;
    }
  }

  /** The payout run of the promised day, or the next one after a later change. */
  #payoutAt(): number {
    const days = providerOf(this.#request) === 'meridian' ? 1 : 2;
    const run = (instant: number) => Math.floor(instant / DAY) * DAY + PAYOUT_HOUR * HOUR;
    const promised = run(this.#capturedAt) + days * DAY;
    const next = this.#at <= run(this.#at) ? run(this.#at) : run(this.#at) + DAY;
    return Math.max(promised, next);
  }
}

class DisputeLifecycle implements Lifecycle {
  #respondBy: number | null = null;

  record({ to, at }: Transition): void {
    this.#respondBy = to === 'needs_response' ? at + 7 * DAY : null;
  }

  nextTimer(): NextTimer | null {
    return this.#respondBy === null ? null : { at: this.#respondBy, actions: ['expire'] };
  }
}

export class TransferLifecycle implements Lifecycle {
  readonly #request: Body;
  #status = '';
  #at = 0;
  #sends = 0;
  #wasReviewed = false;
  #hasBeneficiary = false;

  constructor(request: Body) {
    this.#request = request;
  }

  record({ action, to, at }: Transition, shown: Body): void {
    this.#status = to;
    this.#at = at;
    this.#hasBeneficiary = shown.beneficiary !== null;
    if (action === 'send' || action === 'resend') this.#sends += 1;
    if (action === 'review') this.#wasReviewed = true;
  }

  get scenario(): string {
    return scenarioAt(this.#request.scenario, Math.max(this.#sends, 1));
  }

  nextTimer(): NextTimer | null {
    const deadline = this.#status === 'quoted' ? 30 * MINUTE : this.#status === 'accepted' ? DAY : null;
    return earliest([
      deadline === null ? null : { at: this.#at + deadline, actions: ['expire'] },
      this.#request.autoAdvance === true ? this.#ownStep() : null,
    ]);
  }

  #ownStep(): NextTimer | null {
    const after = (delay: number, ...actions: string[]): NextTimer => ({ at: this.#at + delay, actions });
    const { scenario } = this;
    const isReviewed = scenario === 'review' || scenario === 'reject';
    switch (this.#status) {
      case 'quoted':
        return this.#hasBeneficiary ? after(SECOND, 'accept') : null;
      case 'accepted':
        // Fails when the balance is too low.
        return this.#request.fundFrom === 'balance' ? after(SECOND, 'fund', 'fail') : after(SECOND, 'fund');
      case 'funded':
        return after(SECOND, isReviewed && !this.#wasReviewed ? 'review' : 'convert');
      case 'in_review':
        return after(MINUTE, scenario === 'reject' ? 'reject' : 'release');
      case 'converted':
        return after(SECOND, scenario.startsWith('fail:') ? 'fail' : 'send');
      case 'sent':
        return after(HOUR, scenario.startsWith('return:') ? 'return' : 'complete');
      default:
        return null;
    }
  }
}
