import { limits } from '../kernel/limits.ts';
import type { ClaimedDelivery, EndpointKey } from './queue.ts';

/** A claim prefetches about as many deliveries as the endpoint accepts in this time. */
const prefetchMs = 1_000;
const claimedMax = 256;
/**
 * An endpoint is degraded when it hangs, or after this many consecutive failures. It gets few requests at once and a cooldown
 * after each claim. More would not help it, and other endpoints need the sockets and the time: without cooldowns, a healthy
 * endpoint beside a failing and a hanging one had 1.9 times its usual 99th percentile.
 */
const hangingMs = 8_000;
const consecutiveFailuresMax = 8;
const degradedConcurrencyMax = 4;
const degradedClaimedMax = 32;
export const cooldownMs = 250;
/** Weight of the newest attempt in the moving average of durations. */
const newestWeight = 0.25;

/**
 * The deliveries that this process has claimed for one endpoint. Some are being sent, never more at once than the endpoint
 * allows; the others wait in order. For a fast endpoint a claim takes many, which spreads its cost. For a slow one it takes no
 * more than can be sent at once, so that no lease expires in the queue.
 */
export class EndpointQueue {
  readonly endpoint: EndpointKey;
  readonly #waiting: ClaimedDelivery[] = [];
  readonly #sending = new Set<ClaimedDelivery>();
  /** How many of them are reordered. */
  #reordered = 0;
  #limit: number = limits.webhookConcurrencyDefault;
  #averageMs: number | undefined;
  #failures = 0;
  /** The last claim was full, or the endpoint was woken since. */
  mayHaveMore = true;
  /** A claim for this endpoint is in flight. */
  isClaiming = false;
  /** This process is releasing the endpoint to other processes. It claims nothing more until the release is written. */
  isReleasing = false;
  /** This process pauses claims for the endpoint. */
  isCoolingDown = false;

  constructor(endpoint: EndpointKey) {
    this.endpoint = endpoint;
  }

  get claimed(): number {
    return this.#waiting.length + this.#sending.size;
  }

  /** This process has nothing left to do for the endpoint. */
  get isIdle(): boolean {
    return this.claimed === 0 && !this.mayHaveMore && !this.isClaiming && !this.isCoolingDown;
  }

  get sending(): ReadonlySet<ClaimedDelivery> {
    return this.#sending;
  }

  /** How many deliveries a claim may take now. None while more than half of the earlier claims are left. */
  get room(): number {
    const limit = this.#currentLimit;
    const prefetch =
      this.#averageMs === undefined ? limit : (limit * prefetchMs) / Math.max(this.#averageMs, 1);
    const max = this.isDegraded ? degradedClaimedMax : claimedMax;
    const target = Math.min(Math.max(Math.floor(prefetch), limit), max);
    if (this.isCoolingDown) return 0;
    return this.claimed <= target / 2 || target === limit ? Math.max(target - this.claimed, 0) : 0;
  }

  get isDegraded(): boolean {
    return (this.#averageMs ?? 0) > hangingMs || this.#failures >= consecutiveFailuresMax;
  }

  get #currentLimit(): number {
    return this.isDegraded ? Math.min(this.#limit, degradedConcurrencyMax) : this.#limit;
  }

  add(claims: readonly ClaimedDelivery[], room: number): void {
    this.#limit = claims.at(-1)?.concurrencyMax ?? this.#limit;
    this.mayHaveMore ||= claims.length >= room;
    this.#waiting.push(...claims);
  }

  /**
   * The delivery that `next` would return; undefined while the endpoint is at its limit. Reordered deliveries are sent one at a
   * time, whatever the endpoint limit: concurrent requests may arrive in any order.
   */
  peek(): ClaimedDelivery | undefined {
    const [first] = this.#waiting;
    if (!first || this.#sending.size >= this.#currentLimit) return undefined;
    const isExclusive = first.isReordered || this.#reordered > 0;
    return isExclusive && this.#sending.size > 0 ? undefined : first;
  }

  /** Starts the next delivery; undefined while the endpoint is at its limit. */
  next(): ClaimedDelivery | undefined {
    if (!this.peek()) return undefined;
    const claim = this.#waiting.shift();
    if (!claim) return undefined;
    this.#sending.add(claim);
    if (claim.isReordered) this.#reordered += 1;
    return claim;
  }

  complete(claim: ClaimedDelivery, durationMs: number, isDelivered: boolean): void {
    if (this.#sending.delete(claim) && claim.isReordered) this.#reordered -= 1;
    this.#failures = isDelivered ? 0 : this.#failures + 1;
    this.#averageMs =
      this.#averageMs === undefined
        ? durationMs
        : this.#averageMs * (1 - newestWeight) + durationMs * newestWeight;
  }

  /** Removes and returns the waiting deliveries. */
  clear(): readonly ClaimedDelivery[] {
    return this.#waiting.splice(0);
  }
}
