/**
 * What each record waits for, by the contract alone: from the body that its client sent and the moves that it made. The
 * delays are those of docs/clock.md, written down here once more.
 */
import type { Body } from './journey-client.ts';
import type { Move } from './journey-rows.ts';

export interface Wait {
  readonly at: number;
  /** Which of these moves it is; a provider may play another one than was asked for. */
  readonly actions: readonly string[];
}

export interface Life {
  /** A move and the record as it was shown after it. */
  apply(move: Move, shown: Body): void;
  wait(): Wait | null;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const PAYOUT_HOUR = 6;
const ATTEMPTS_MAX = 3;
const SOFT = ['insufficient_funds', 'try_again_later', 'generic_decline', 'processing_error'];

export function lifeOf(kind: string, asked: Body): Life {
  if (kind === 'payment') return new PaymentLife(asked);
  if (kind === 'dispute') return new DisputeLife();
  if (kind === 'transfer') return new TransferLife(asked);
  return { apply: () => undefined, wait: () => null };
}

/** The entry that holds for a try, counted from 1; the last one holds for all that follow. */
export function scenarioAt(scenario: unknown, attempt: number): string {
  const list = Array.isArray(scenario) ? scenario : [scenario ?? 'approve'];
  return String(list[Math.min(attempt, list.length) - 1]);
}

function first(waits: readonly (Wait | null)[]): Wait | null {
  return waits.reduce((a, b) => (a === null || (b !== null && b.at < a.at) ? b : a), null);
}

/** Bank debits and transfers go to the bank gateway, which pays out a day later than the card processor. */
export function providerOf({ paymentMethod }: Body): 'meridian' | 'tidewater' {
  return /^bank/.test(paymentMethod?.type ?? 'card') ? 'tidewater' : 'meridian';
}

export class PaymentLife implements Life {
  readonly #asked: Body;
  #status = '';
  #at = 0;
  #failures = 0;
  #isSoft = false;
  #lapsesAt: number | null = null;
  #capturedAt = 0;
  #isSettled = false;
  #wasDisputed = false;
  #refundable = 0;

  constructor(asked: Body) {
    this.#asked = asked;
  }

  apply({ action, to, at }: Move, shown: Body): void {
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

  /** What the provider does with this try. */
  get scenario(): string {
    const attempt = this.#status === 'failed' ? this.#failures : this.#failures + 1;
    return scenarioAt(this.#asked.scenario, attempt);
  }

  wait(): Wait | null {
    const isHeld = this.#status === 'authorized' || this.#status === 'partially_captured';
    const isPayable =
      this.#status === 'captured' || (this.#status === 'partially_refunded' && !this.#isSettled);
    return first([
      this.#asked.autoAdvance === true ? this.#ownStep() : null,
      isHeld && this.#lapsesAt !== null ? { at: this.#lapsesAt, actions: ['expire'] } : null,
      isPayable ? { at: this.#payoutAt(), actions: ['settle'] } : null,
    ]);
  }

  #ownStep(): Wait | null {
    const after = (delay: number, ...actions: string[]): Wait => ({ at: this.#at + delay, actions });
    const { scenario } = this;
    // Who captures is refused where the scenario says so; what was captured in part already is not.
    const capture = scenario === 'capture_fails' ? 'fail' : 'capture';
    const pay = this.#asked.captureMethod === 'manual' ? 'authorize' : capture;
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

  /** The run of the promised day, or of what was changed since the next run. */
  #payoutAt(): number {
    const days = providerOf(this.#asked) === 'meridian' ? 1 : 2;
    const run = (instant: number) => Math.floor(instant / DAY) * DAY + PAYOUT_HOUR * HOUR;
    const promised = run(this.#capturedAt) + days * DAY;
    const next = this.#at <= run(this.#at) ? run(this.#at) : run(this.#at) + DAY;
    return Math.max(promised, next);
  }
}

class DisputeLife implements Life {
  #respondBy: number | null = null;

  apply({ to, at }: Move): void {
    this.#respondBy = to === 'needs_response' ? at + 7 * DAY : null;
  }

  wait(): Wait | null {
    return this.#respondBy === null ? null : { at: this.#respondBy, actions: ['expire'] };
  }
}

export class TransferLife implements Life {
  readonly #asked: Body;
  #status = '';
  #at = 0;
  #sends = 0;
  #wasReviewed = false;
  #hasBeneficiary = false;

  constructor(asked: Body) {
    this.#asked = asked;
  }

  apply({ action, to, at }: Move, shown: Body): void {
    this.#status = to;
    this.#at = at;
    this.#hasBeneficiary = shown.beneficiary !== null;
    if (action === 'send' || action === 'resend') this.#sends += 1;
    if (action === 'review') this.#wasReviewed = true;
  }

  get scenario(): string {
    return scenarioAt(this.#asked.scenario, Math.max(this.#sends, 1));
  }

  wait(): Wait | null {
    const deadline = this.#status === 'quoted' ? 30 * MINUTE : this.#status === 'accepted' ? DAY : null;
    return first([
      deadline === null ? null : { at: this.#at + deadline, actions: ['expire'] },
      this.#asked.autoAdvance === true ? this.#ownStep() : null,
    ]);
  }

  #ownStep(): Wait | null {
    const after = (delay: number, ...actions: string[]): Wait => ({ at: this.#at + delay, actions });
    const { scenario } = this;
    const isLooked = scenario === 'review' || scenario === 'reject';
    switch (this.#status) {
      case 'quoted':
        return this.#hasBeneficiary ? after(SECOND, 'accept') : null;
      case 'accepted':
        // Without the money for it, it fails.
        return this.#asked.fundFrom === 'balance' ? after(SECOND, 'fund', 'fail') : after(SECOND, 'fund');
      case 'funded':
        return after(SECOND, isLooked && !this.#wasReviewed ? 'review' : 'convert');
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
