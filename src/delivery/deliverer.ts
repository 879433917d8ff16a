import type { Engine } from '../engine/engine.ts';
import type { FaultCounter } from '../engine/fault-counter.ts';
import { limits } from '../kernel/limits.ts';
import type { Instant } from '../kernel/table.ts';
import { type AttemptSettings, attemptDelivery } from './attempt.ts';
import { AttemptRecorder, type RecordedAttempt } from './attempt-recorder.ts';
import { DeliveryCapacity } from './capacity.ts';
import { cooldownMs, EndpointQueue } from './endpoint-queue.ts';
import { injectFaults } from './faults.ts';
import type { ClaimedDelivery, DeliveryQueue, EndpointKey } from './queue.ts';

export interface DelivererSettings extends Omit<AttemptSettings, 'engine'> {
  readonly queue: DeliveryQueue;
  readonly engine: Engine;
  readonly faults: FaultCounter;
  /** Low when several processes send, so that each gets a share of the due endpoints; high for a single process. */
  readonly endpointsInClaimMax: number;
  readonly onError: (error: unknown, what: string) => void;
}

/** Time for one attempt in the queue, one on the wire, and slack. Another process must replace a killed one within 30 s. */
export const leaseMs = 25_000;
/** An attempt starts only if its lease cannot expire before the attempt times out. */
const sendableMs = limits.webhookTimeoutMs + 2_000;
/** Deliveries in one claim. The next claim takes the remaining ones. */
const claimRowsMax = 256;
/**
 * Requests that start in one turn of the event loop. Each costs a signature and a write of its payload: hundreds in one turn
 * would delay all other requests of this process by as much.
 */
const startsPerTurn = 16;
const graceMsMax = 2_000;

/**
 * Sends due deliveries. `wake` marks an endpoint that may have something due; a claim takes as many deliveries as its queue has
 * room for; the queue sends as many at once as the endpoint allows; the recorder writes many results in one statement.
 *
 * Every endpoint has its own queue and its own limit, so a hanging endpoint uses up its own limit and no other. A process that
 * dies leaves its leases behind. The process that claims them after they expire sends again: at-least-once delivery, with the
 * same event id.
 */
export class Deliverer {
  readonly #settings: DelivererSettings;
  readonly #queues = new Map<string, EndpointQueue>();
  readonly #wanted = new Set<string>();
  readonly #starved = new Set<string>();
  readonly #capacity = new DeliveryCapacity();
  readonly #recorder: AttemptRecorder;
  readonly #leases = new Map<ClaimedDelivery, Instant>();
  readonly #waiters = new Map<string, (() => void)[]>();
  #startsLeft = startsPerTurn;
  #isClaiming = false;
  #isScheduled = false;
  #isStopping = false;

  constructor(settings: DelivererSettings) {
    this.#settings = settings;
    this.#recorder = new AttemptRecorder({
      ...settings,
      releasedBy: (batch) => this.#idleQueues(batch).map(({ endpoint }) => endpoint.webhookId),
      onRecorded: (batch) => this.#onRecorded(batch),
      expectsMore: () => this.sending > 0,
    });
  }

  get sending(): number {
    return this.#capacity.sending;
  }

  /** Marks an endpoint that may have something due. */
  wake(endpoint: EndpointKey): void {
    const key = keyOf(endpoint);
    let queue = this.#queues.get(key);
    if (!queue) {
      queue = new EndpointQueue({ orgId: endpoint.orgId, webhookId: endpoint.webhookId });
      this.#queues.set(key, queue);
    }
    queue.mayHaveMore = true;
    this.#wanted.add(key);
    this.#schedule();
  }

  /** The endpoint was changed: its waiting claims have the old settings, so they are released and claimed again. */
  refresh(endpoint: EndpointKey): void {
    const queue = this.#queues.get(keyOf(endpoint));
    this.#releaseClaims(queue?.clear() ?? [], endpoint);
  }

  /** Refreshes all endpoints, or those of an organization that was reset: the deliveries in their queues no longer exist. */
  refreshAll(orgId?: string): void {
    for (const { endpoint } of this.#queues.values())
      if (orgId === undefined || endpoint.orgId === orgId) this.refresh(endpoint);
  }

  #releaseClaims(claims: readonly ClaimedDelivery[], endpoint: EndpointKey): void {
    for (const claim of claims) {
      this.#leases.delete(claim);
      this.#capacity.release(claim);
    }
    const released = claims.map((claim) => ({ ...claim, isSent: false }));
    (released.length === 0 ? Promise.resolve() : this.#settings.queue.endLeases(released))
      .then(() => this.wake(endpoint))
      .catch((error: unknown) => this.#settings.onError(error, 'failed to release delivery leases'));
  }

  /** Resolves when the next attempt of the application is recorded. */
  nextMark(appId: string): Promise<void> {
    return new Promise((resolve) => {
      const waiters = this.#waiters.get(appId) ?? [];
      waiters.push(resolve);
      this.#waiters.set(appId, waiters);
    });
  }

  /** Waits one turn of the event loop, so that deliveries committed together are claimed together. */
  #schedule(): void {
    if (this.#isScheduled || this.#isClaiming || this.#isStopping || this.#wanted.size === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#claim();
    });
  }

  async #claim(): Promise<void> {
    const { queue: deliveryQueue, wallClock, onError, endpointsInClaimMax } = this.#settings;
    if (this.#isStopping || this.#isClaiming || this.#capacity.isFull) return;
    const bytesMax = this.#capacity.claimBytes;
    const claimable = [...this.#wanted].filter((key) => {
      const queue = this.#queues.get(key);
      // A recorded attempt frees capacity of its organization and schedules the next claim.
      return !queue || (!queue.isReleasing && this.#capacity.canClaim(queue.endpoint.orgId));
    });
    // Random start: processes that receive the same notification at the same time start with different endpoints.
    const from = Math.floor(this.#settings.engine.idGenerator.fraction('claims') * claimable.length);
    const rotated = [...claimable.slice(from), ...claimable.slice(0, from)];
    let rowsLeft = claimRowsMax;
    const requested = rotated.slice(0, endpointsInClaimMax).flatMap((key) => {
      if (rowsLeft <= 0) return [];
      this.#wanted.delete(key);
      const queue = this.#queues.get(key);
      const room = Math.min(queue?.room ?? 0, rowsLeft);
      rowsLeft -= room;
      return queue && room > 0 ? [{ key, queue, room }] : [];
    });
    if (requested.length === 0) return;
    this.#isClaiming = true;
    // A wake-up during the claim may be too late for it, so it counts for the next one.
    for (const { queue } of requested) {
      queue.mayHaveMore = false;
      queue.isClaiming = true;
    }
    try {
      const now = wallClock();
      const leaseUntil = now + leaseMs;
      const endpoints = requested.map(({ queue, room }) => ({ ...queue.endpoint, room }));
      const { claims: claimed, hasMore } = await deliveryQueue.claim(endpoints, {
        wallNow: now,
        leaseUntil,
        bytesMax,
      });
      const sendable = await injectFaults(claimed, leaseUntil, this.#settings);
      const claimsByEndpoint = new Map<string, ClaimedDelivery[]>(requested.map(({ key }) => [key, []]));
      for (const { claim: claimedDelivery, leaseUntil: until } of sendable) {
        const claim = this.#capacity.hold(claimedDelivery);
        this.#leases.set(claim, until);
        claimsByEndpoint.get(keyOf(claim))?.push(claim);
      }
      for (const { key, queue, room } of requested) {
        const claims = claimsByEndpoint.get(key) ?? [];
        queue.add(claims, room);
        queue.mayHaveMore ||= hasMore;
        if (sendable.length < claimed.length) this.#checkForMore(key, queue, claimed, room, claims.length);
        // No cooldown while a clock is being advanced: the advance waits for all of these deliveries.
        if (queue.isDegraded && claims.some(({ advanceRequestId }) => advanceRequestId === null))
          this.#coolDown(queue);
        this.#send(key, queue);
      }
    } catch (error) {
      onError(error, 'failed to claim deliveries');
    }
    for (const { key, queue } of requested) {
      queue.isClaiming = false;
      this.#removeIfIdle(key, queue);
    }
    this.#isClaiming = false;
    this.#schedule();
  }

  /** After fault plans removed some claims there may be more due: deliveries that did not fit, or that a plan released. */
  #checkForMore(
    key: string,
    queue: EndpointQueue,
    claimed: readonly ClaimedDelivery[],
    room: number,
    sendableCount: number,
  ): void {
    const claims = claimed.filter((claim) => keyOf(claim) === key);
    const isAdvancing = claims.some(({ advanceRequestId }) => advanceRequestId !== null);
    if (claims.length >= room || (isAdvancing && sendableCount < claims.length)) queue.mayHaveMore = true;
  }

  #coolDown(queue: EndpointQueue): void {
    if (queue.isCoolingDown) return;
    queue.isCoolingDown = true;
    setTimeout(() => {
      queue.isCoolingDown = false;
      this.wake(queue.endpoint);
    }, cooldownMs).unref();
  }

  /** Starts as many attempts as the endpoint allows at once. */
  #send(key: string, queue: EndpointQueue): void {
    const { wallClock } = this.#settings;
    for (let next = queue.peek(); next && !this.#isStopping; next = queue.peek()) {
      const canStart = this.#startsLeft > 0 && this.#capacity.canSend(next) && !this.#recorder.isFull;
      if (!canStart) this.#starved.add(key);
      const claim = canStart ? queue.next() : undefined;
      if (!claim) break;
      if ((this.#leases.get(claim) ?? 0) - wallClock() < sendableMs) {
        // The endpoint has slowed down since the claim. Release this claim and the waiting ones unsent.
        queue.complete(claim, limits.webhookTimeoutMs, false);
        this.#releaseClaims([claim, ...queue.clear()], queue.endpoint);
        break;
      }
      const startedAt = performance.now();
      this.#countStart();
      this.#capacity.begin(claim);
      void this.deliver(claim, (isDelivered) => {
        this.#capacity.end(claim);
        queue.complete(claim, performance.now() - startedAt, isDelivered);
        this.#starved.add(key);
        this.#resumeStarved();
      });
    }
    if (queue.mayHaveMore && queue.room > 0) this.#wanted.add(key);
    this.#schedule();
  }

  #countStart(): void {
    // The first start of a turn schedules the reset for the next turn.
    if (this.#startsLeft === startsPerTurn)
      setImmediate(() => {
        this.#startsLeft = startsPerTurn;
        this.#resumeStarved();
      });
    this.#startsLeft -= 1;
  }

  /** Resumes the endpoints that wait for capacity. Those that get some are last the next time. */
  #resumeStarved(): void {
    const keys = [...this.#starved];
    this.#starved.clear();
    const resumed: string[] = [];
    for (const key of keys) {
      const queue = this.#queues.get(key);
      if (!queue) continue;
      const before = queue.sending.size;
      this.#send(key, queue);
      if (queue.sending.size > before && this.#starved.delete(key)) resumed.push(key);
    }
    for (const key of resumed) this.#starved.add(key);
  }

  #removeIfIdle(key: string, queue: EndpointQueue): void {
    if (queue.isIdle) this.#queues.delete(key);
  }

  /** Sends a claimed delivery; resolves when the attempt is recorded. */
  async deliver(
    claim: ClaimedDelivery,
    onAnswered: (isDelivered: boolean) => void = () => undefined,
  ): Promise<void> {
    const attempt = await attemptDelivery(claim, this.#settings).catch((error: unknown) => {
      // A bug on our side. The lease expires, and the delivery is tried again.
      this.#settings.onError(error, `failed to send ${claim.id}`);
      return undefined;
    });
    if (!this.#isStopping || attempt) this.#leases.delete(claim);
    const recorded = attempt && this.#recorder.add(claim, attempt);
    // A delivery that a fault plan drops does not count as a failure of the endpoint.
    onAnswered(attempt?.error === null || claim.fault?.type === 'drop');
    void this.#recorder.start();
    await recorded;
    if (!attempt) this.#capacity.release(claim);
  }

  /** The endpoints of a batch that this process can release, because it has nothing left to send to them. */
  #idleQueues(batch: readonly RecordedAttempt[]): readonly EndpointQueue[] {
    const pending = new Set(this.#recorder.pending.map(({ claim }) => keyOf(claim)));
    const keys = new Set(batch.map(({ claim }) => keyOf(claim)));
    return [...keys].flatMap((key) => {
      const queue = this.#queues.get(key);
      if (!queue?.isIdle || pending.has(key)) return [];
      queue.isReleasing = true;
      return [queue];
    });
  }

  #onRecorded(batch: readonly RecordedAttempt[]): void {
    for (const { claim, attempt } of batch) {
      this.#capacity.release(claim);
      // While a clock is being advanced, the next attempt may already be due.
      if (attempt.status === 'pending' && claim.advanceRequestId !== null) this.wake(claim);
      for (const resolve of this.#waiters.get(claim.appId)?.splice(0) ?? []) resolve();
      this.#waiters.delete(claim.appId);
      const queue = this.#queues.get(keyOf(claim));
      if (!queue) continue;
      queue.isReleasing = false;
      this.#removeIfIdle(keyOf(claim), queue);
    }
    this.#resumeStarved();
    this.#schedule();
  }

  /** Stops claiming. In-flight attempts get a grace period; the other deliveries are left to the next process. */
  async stop(): Promise<void> {
    const { sender, queue: deliveryQueue, onError } = this.#settings;
    this.#isStopping = true;
    this.#recorder.stop();
    const until = performance.now() + graceMsMax;
    const isBusy = () => this.sending > 0 || this.#recorder.isRunning || this.#isClaiming;
    while (isBusy() && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 10));
    const sent = new Set([...this.#queues.values()].flatMap((queue) => [...queue.sending]));
    await sender.stop();
    const unfinished = [...this.#leases.keys()].map((claim) => ({ ...claim, isSent: sent.has(claim) }));
    try {
      if (unfinished.length > 0) await deliveryQueue.endLeases(unfinished);
      await deliveryQueue.releaseOwnEndpoints();
    } catch (error) {
      onError(error, 'failed to release delivery leases');
    }
  }
}

function keyOf({ orgId, webhookId }: EndpointKey): string {
  return `${orgId} ${webhookId}`;
}
