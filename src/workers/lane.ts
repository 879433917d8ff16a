import type { ClaimedDelivery, EndpointKey } from '../engine/delivery-queue.ts';
import { limits } from '../kernel/limits.ts';

/** What may be claimed beyond what is being sent: as much as the endpoint will take in about this time. */
const aheadMs = 1_000;
const heldMax = 256;
/** An endpoint that hangs gets few at once, whatever its limit: it gains nothing by more, and others need the sockets. */
const hangingMs = 8_000;
const hangingLimit = 4;
/** The newest attempt counts for a quarter of the pace. */
const paceShare = 0.25;

/**
 * What this process has claimed for one endpoint: some of it is being sent, never more at once than the endpoint wants, and
 * the rest waits in order. A quick endpoint is claimed many for, so that a claim costs little each; a slow one no more than
 * can be sent at once, so that no lease ends in the queue.
 */
export class Lane {
  readonly endpoint: EndpointKey;
  readonly #waiting: ClaimedDelivery[] = [];
  readonly #sending = new Set<ClaimedDelivery>();
  #limit: number = limits.webhookConcurrencyDefault;
  #paceMs: number | undefined;
  /** The last claim took all there was room for, or somebody said that there is more. */
  mayHaveMore = true;
  /** A claim for it is under way. */
  isAsked = false;
  /** It is being left to other processes: it is not claimed for before that is written. */
  isLeaving = false;

  constructor(endpoint: EndpointKey) {
    this.endpoint = endpoint;
  }

  get held(): number {
    return this.#waiting.length + this.#sending.size;
  }

  /** Nothing is left to do for it here. */
  get isIdle(): boolean {
    return this.held === 0 && !this.mayHaveMore && !this.isAsked;
  }

  get sending(): ReadonlySet<ClaimedDelivery> {
    return this.#sending;
  }

  /** How many a claim may take now. None while half of what was claimed before is still there. */
  get room(): number {
    const limit = this.#limitNow;
    const ahead = this.#paceMs === undefined ? limit : (limit * aheadMs) / Math.max(this.#paceMs, 1);
    const wanted = Math.min(Math.max(Math.floor(ahead), limit), heldMax);
    return this.held <= wanted / 2 || wanted === limit ? Math.max(wanted - this.held, 0) : 0;
  }

  get #limitNow(): number {
    const isHanging = this.#paceMs !== undefined && this.#paceMs > hangingMs;
    return isHanging ? Math.min(this.#limit, hangingLimit) : this.#limit;
  }

  add(claims: readonly ClaimedDelivery[], room: number): void {
    this.#limit = claims.at(-1)?.concurrencyMax ?? this.#limit;
    this.mayHaveMore ||= claims.length >= room;
    this.#waiting.push(...claims);
  }

  /** The next to be sent, if the endpoint takes another one now. */
  next(): ClaimedDelivery | undefined {
    if (this.#sending.size >= this.#limitNow) return undefined;
    const claim = this.#waiting.shift();
    if (claim) this.#sending.add(claim);
    return claim;
  }

  ended(claim: ClaimedDelivery, durationMs: number): void {
    this.#sending.delete(claim);
    this.#paceMs =
      this.#paceMs === undefined ? durationMs : this.#paceMs * (1 - paceShare) + durationMs * paceShare;
  }

  /** Takes back what waits. */
  clear(): readonly ClaimedDelivery[] {
    return this.#waiting.splice(0);
  }
}
