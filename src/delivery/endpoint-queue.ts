import { limits } from '../kernel/limits.ts';
import type { ClaimedDelivery, EndpointKey } from './queue.ts';

/** What may be claimed beyond what is being sent: as much as the endpoint will take in about this time. */
const aheadMs = 1_000;
const heldMax = 256;
/**
 * An endpoint that hangs, or that has failed so often in a row, is ailing: it gets few at once, and a rest after each claim. It
 * gains nothing by more, and others need the sockets and the time: with a failing and a hanging endpoint beside it a good one had
 * 1.9 times its 99th percentile before there were rests.
 */
const hangingMs = 8_000;
const failuresInRow = 8;
const ailingLimit = 4;
const ailingHeldMax = 32;
export const restMs = 250;
/** The newest attempt counts for a quarter of the pace. */
const paceShare = 0.25;

/**
 * What this process has claimed for one endpoint: some of it is being sent, never more at once than the endpoint wants, and
 * the rest waits in order. A quick endpoint is claimed many for, so that a claim costs little each; a slow one no more than
 * can be sent at once, so that no lease ends in the queue.
 */
export class EndpointQueue {
  readonly endpoint: EndpointKey;
  readonly #waiting: ClaimedDelivery[] = [];
  readonly #sending = new Set<ClaimedDelivery>();
  #limit: number = limits.webhookConcurrencyDefault;
  #paceMs: number | undefined;
  #failures = 0;
  /** The last claim took all there was room for, or somebody said that there is more. */
  mayHaveMore = true;
  /** A claim for it is under way. */
  isAsked = false;
  /** It is being left to other processes: it is not claimed for before that is written. */
  isLeaving = false;
  /** Nothing is claimed for it for a moment. */
  isResting = false;

  constructor(endpoint: EndpointKey) {
    this.endpoint = endpoint;
  }

  get held(): number {
    return this.#waiting.length + this.#sending.size;
  }

  /** Nothing is left to do for it here. */
  get isIdle(): boolean {
    return this.held === 0 && !this.mayHaveMore && !this.isAsked && !this.isResting;
  }

  get sending(): ReadonlySet<ClaimedDelivery> {
    return this.#sending;
  }

  /** How many a claim may take now. None while half of what was claimed before is still there. */
  get room(): number {
    const limit = this.#limitNow;
    const ahead = this.#paceMs === undefined ? limit : (limit * aheadMs) / Math.max(this.#paceMs, 1);
    const most = this.isAiling ? ailingHeldMax : heldMax;
    const wanted = Math.min(Math.max(Math.floor(ahead), limit), most);
    if (this.isResting) return 0;
    return this.held <= wanted / 2 || wanted === limit ? Math.max(wanted - this.held, 0) : 0;
  }

  get isAiling(): boolean {
    return (this.#paceMs ?? 0) > hangingMs || this.#failures >= failuresInRow;
  }

  get #limitNow(): number {
    return this.isAiling ? Math.min(this.#limit, ailingLimit) : this.#limit;
  }

  add(claims: readonly ClaimedDelivery[], room: number): void {
    this.#limit = claims.at(-1)?.concurrencyMax ?? this.#limit;
    this.mayHaveMore ||= claims.length >= room;
    this.#waiting.push(...claims);
  }

  /**
   * The delivery that `next` would take; undefined while the endpoint takes no other one. Deliveries that change places are sent one at a
   * time, whatever the endpoint's limit: requests that are open together may arrive in any order.
   */
  peek(): ClaimedDelivery | undefined {
    const [first] = this.#waiting;
    if (!first || this.#sending.size >= this.#limitNow) return undefined;
    const isAlone = first.isReordered || [...this.#sending].some(({ isReordered }) => isReordered);
    return isAlone && this.#sending.size > 0 ? undefined : first;
  }

  /** The next to be sent, if the endpoint takes another one now. */
  next(): ClaimedDelivery | undefined {
    if (!this.peek()) return undefined;
    const claim = this.#waiting.shift();
    if (claim) this.#sending.add(claim);
    return claim;
  }

  ended(claim: ClaimedDelivery, durationMs: number, isDelivered: boolean): void {
    this.#sending.delete(claim);
    this.#failures = isDelivered ? 0 : this.#failures + 1;
    this.#paceMs =
      this.#paceMs === undefined ? durationMs : this.#paceMs * (1 - paceShare) + durationMs * paceShare;
  }

  /** Takes back what waits. */
  clear(): readonly ClaimedDelivery[] {
    return this.#waiting.splice(0);
  }
}
