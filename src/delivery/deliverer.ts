import type { Engine } from '../engine/engine.ts';
import type { FaultCounter } from '../engine/fault-counter.ts';
import { limits } from '../kernel/limits.ts';
import type { Instant } from '../kernel/table.ts';
import { type AttemptSettings, attemptDelivery } from './attempt.ts';
import { AttemptRecorder, type RecordedAttempt } from './attempt-recorder.ts';
import { DeliveryCapacity } from './capacity.ts';
import { EndpointQueue, restMs } from './endpoint-queue.ts';
import { injectFaults } from './faults.ts';
import type { ClaimedDelivery, DeliveryQueue, EndpointKey } from './queue.ts';

export interface DelivererSettings extends Omit<AttemptSettings, 'engine'> {
  readonly queue: DeliveryQueue;
  readonly engine: Engine;
  readonly faults: FaultCounter;
  /** Few where others send as well, so that each gets some of what there is; many for one that is alone. */
  readonly endpointsInClaimMax: number;
  readonly onError: (error: unknown, what: string) => void;
}

/** What an attempt may take, once in the queue and once on the wire. DESIGN gives a killed process 30 s until it is replaced. */
export const leaseMs = 25_000;
/** A delivery is not begun when its lease could end before its attempt. */
const sendableMs = limits.webhookTimeoutMs + 2_000;
/** Deliveries in one claim. What a claim does not take is claimed next. */
const claimRowsMax = 256;
/**
 * Requests that begin in one turn of the event loop. Each costs a signature and a write of its payload: hundreds in one turn
 * would delay everybody else's requests by as much.
 */
const startsPerTurn = 16;
const graceMsMax = 2_000;

/**
 * Sends what is due. An endpoint is wanted when somebody says that it may have something due; a claim takes of it what its
 * queue has room for; the queue sends as many at once as the endpoint wants; what came of it is marked, many in one go.
 *
 * Every endpoint has a queue, a queue and a limit of its own, so one that hangs fills its own limit and nobody else's. A process
 * that dies leaves leases behind, and whoever claims them after their end sends again: at least once, under the same event id.
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
      releasedBy: (batch) => this.#left(batch).map(({ endpoint }) => endpoint.webhookId),
      onRecorded: (batch) => this.#goOn(batch),
    });
  }

  get sending(): number {
    return this.#capacity.sending;
  }

  /** This endpoint may have something due. */
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

  /** The endpoint was changed: what waits for it goes by what it was, so it is given back and claimed anew. */
  refresh(endpoint: EndpointKey): void {
    const queue = this.#queues.get(keyOf(endpoint));
    this.#giveBack(queue?.clear() ?? [], endpoint);
  }

  /** All of them, or those of an organization that was reset: what waits for its endpoints is not there any more. */
  refreshAll(orgId?: string): void {
    for (const { endpoint } of this.#queues.values())
      if (orgId === undefined || endpoint.orgId === orgId) this.refresh(endpoint);
  }

  #giveBack(claims: readonly ClaimedDelivery[], endpoint: EndpointKey): void {
    for (const claim of claims) {
      this.#leases.delete(claim);
      this.#capacity.release(claim);
    }
    const given = claims.map((claim) => ({ ...claim, isSent: false }));
    (given.length === 0 ? Promise.resolve() : this.#settings.queue.endLeases(given))
      .then(() => this.wake(endpoint))
      .catch((error: unknown) => this.#settings.onError(error, 'deliveries were not given back'));
  }

  /** Resolves when something of the application has been marked next. */
  nextMark(appId: string): Promise<void> {
    return new Promise((resolve) => {
      const waiters = this.#waiters.get(appId) ?? [];
      waiters.push(resolve);
      this.#waiters.set(appId, waiters);
    });
  }

  /** One turn of the event loop later: what is committed together is claimed together. */
  #schedule(): void {
    if (this.#isScheduled || this.#isClaiming || this.#isStopping || this.#wanted.size === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#claim();
    });
  }

  async #claim(): Promise<void> {
    const { queue, wallClock, onError, endpointsInClaimMax } = this.#settings;
    if (this.#isStopping || this.#isClaiming || this.#capacity.isFull) return;
    const bytesMax = this.#capacity.claimBytes;
    const open = [...this.#wanted].filter((key) => {
      const queue = this.#queues.get(key);
      // An attempt that is recorded makes room for its organization, and schedules the next claim.
      return !queue || (!queue.isLeaving && this.#capacity.canClaim(queue.endpoint.orgId));
    });
    // From a random place on: processes that hear the same at the same time begin with different endpoints.
    const from = Math.floor(this.#settings.engine.idGenerator.fraction('claims') * open.length);
    const turned = [...open.slice(from), ...open.slice(0, from)];
    let rowsLeft = claimRowsMax;
    const asked = turned.slice(0, endpointsInClaimMax).flatMap((key) => {
      if (rowsLeft <= 0) return [];
      this.#wanted.delete(key);
      const queue = this.#queues.get(key);
      const room = Math.min(queue?.room ?? 0, rowsLeft);
      rowsLeft -= room;
      return queue && room > 0 ? [{ key, queue, room }] : [];
    });
    if (asked.length === 0) return;
    this.#isClaiming = true;
    // What is said while the claim is under way may be too late for it, and is kept for the next.
    for (const { queue } of asked) {
      queue.mayHaveMore = false;
      queue.isAsked = true;
    }
    try {
      const now = wallClock();
      const leaseUntil = now + leaseMs;
      const endpoints = asked.map(({ queue, room }) => ({ ...queue.endpoint, room }));
      const { claims: claimed, hasMore } = await queue.claim(endpoints, {
        wallNow: now,
        leaseUntil,
        bytesMax,
      });
      const sendable = await injectFaults(claimed, leaseUntil, this.#settings);
      const byLane = new Map<string, ClaimedDelivery[]>(asked.map(({ key }) => [key, []]));
      for (const { claim: struck, leaseUntil: until } of sendable) {
        const claim = this.#capacity.hold(struck);
        this.#leases.set(claim, until);
        byLane.get(keyOf(claim))?.push(claim);
      }
      for (const { key, queue, room } of asked) {
        const own = byLane.get(key) ?? [];
        queue.add(own, room);
        queue.mayHaveMore ||= hasMore;
        if (sendable.length < claimed.length) this.#look(key, queue, claimed, room, own.length);
        // A clock that is on its way waits for all of them.
        if (queue.isAiling && own.some(({ advanceRequestId }) => advanceRequestId === null))
          this.#rest(queue);
        this.#send(key, queue);
      }
    } catch (error) {
      onError(error, 'deliveries were not claimed');
    }
    for (const { key, queue } of asked) {
      queue.isAsked = false;
      this.#tidy(key, queue);
    }
    this.#isClaiming = false;
    this.#schedule();
  }

  /** Where fault plans have taken something away, there may be more: what was not claimed for want of room, or was let go of. */
  #look(
    key: string,
    queue: EndpointQueue,
    claimed: readonly ClaimedDelivery[],
    room: number,
    left: number,
  ): void {
    const own = claimed.filter((claim) => keyOf(claim) === key);
    const isUnderWay = own.some(({ advanceRequestId }) => advanceRequestId !== null);
    if (own.length >= room || (isUnderWay && left < own.length)) queue.mayHaveMore = true;
  }

  #rest(queue: EndpointQueue): void {
    if (queue.isResting) return;
    queue.isResting = true;
    setTimeout(() => {
      queue.isResting = false;
      this.wake(queue.endpoint);
    }, restMs).unref();
  }

  /** Begins as many as the endpoint takes at once. */
  #send(key: string, queue: EndpointQueue): void {
    const { wallClock } = this.#settings;
    for (let next = queue.peek(); next && !this.#isStopping; next = queue.peek()) {
      const isOpen = this.#startsLeft > 0 && this.#capacity.canSend(next) && !this.#recorder.isFull;
      if (!isOpen) this.#starved.add(key);
      const claim = isOpen ? queue.next() : undefined;
      if (!claim) break;
      if ((this.#leases.get(claim) ?? 0) - wallClock() < sendableMs) {
        // It has become slow since this was claimed. What waits is given back as if it had not been.
        queue.ended(claim, limits.webhookTimeoutMs, false);
        this.#giveBack([claim, ...queue.clear()], queue.endpoint);
        break;
      }
      const startedAt = performance.now();
      this.#countStart();
      this.#capacity.begin(claim);
      void this.deliver(claim, (isDelivered) => {
        this.#capacity.end(claim);
        queue.ended(claim, performance.now() - startedAt, isDelivered);
        this.#starved.add(key);
        this.#feed();
      });
    }
    if (queue.mayHaveMore && queue.room > 0) this.#wanted.add(key);
    this.#schedule();
  }

  #countStart(): void {
    // The first of a turn: the next turn has as many again.
    if (this.#startsLeft === startsPerTurn)
      setImmediate(() => {
        this.#startsLeft = startsPerTurn;
        this.#feed();
      });
    this.#startsLeft -= 1;
  }

  /** Continues the endpoints that waited for capacity. Those that get some are last the next time. */
  #feed(): void {
    const keys = [...this.#starved];
    this.#starved.clear();
    const fed: string[] = [];
    for (const key of keys) {
      const queue = this.#queues.get(key);
      if (!queue) continue;
      const before = queue.sending.size;
      this.#send(key, queue);
      if (queue.sending.size > before && this.#starved.delete(key)) fed.push(key);
    }
    for (const key of fed) this.#starved.add(key);
  }

  #tidy(key: string, queue: EndpointQueue): void {
    if (queue.isIdle) this.#queues.delete(key);
  }

  /** Sends what this process has claimed; resolves when what came of it is marked. */
  async deliver(
    claim: ClaimedDelivery,
    onAnswered: (isDelivered: boolean) => void = () => undefined,
  ): Promise<void> {
    const attempt = await attemptDelivery(claim, this.#settings).catch((error: unknown) => {
      // A fault of ours. Its lease ends by itself, and it is tried again.
      this.#settings.onError(error, `${claim.id} was not sent`);
      return undefined;
    });
    if (!this.#isStopping || attempt) this.#leases.delete(claim);
    const recorded = attempt && this.#recorder.add(claim, attempt);
    // What a fault plan drops says nothing about the endpoint.
    onAnswered(attempt?.error === null || claim.fault?.type === 'drop');
    void this.#recorder.start();
    await recorded;
    if (!attempt) this.#capacity.release(claim);
  }

  /** The endpoints of a batch that this process has nothing more for. */
  #left(batch: readonly RecordedAttempt[]): readonly EndpointQueue[] {
    const waiting = new Set(this.#recorder.pending.map(({ claim }) => keyOf(claim)));
    const keys = new Set(batch.map(({ claim }) => keyOf(claim)));
    return [...keys].flatMap((key) => {
      const queue = this.#queues.get(key);
      if (!queue?.isIdle || waiting.has(key)) return [];
      queue.isLeaving = true;
      return [queue];
    });
  }

  #goOn(batch: readonly RecordedAttempt[]): void {
    for (const { claim, attempt } of batch) {
      this.#capacity.release(claim);
      // While a clock is on its way, the next attempt may be due by it already.
      if (attempt.status === 'pending' && claim.advanceRequestId !== null) this.wake(claim);
      for (const resolve of this.#waiters.get(claim.appId)?.splice(0) ?? []) resolve();
      this.#waiters.delete(claim.appId);
      const queue = this.#queues.get(keyOf(claim));
      if (!queue) continue;
      queue.isLeaving = false;
      this.#tidy(keyOf(claim), queue);
    }
    this.#feed();
    this.#schedule();
  }

  /** Claims nothing more. What is under way has a moment to end; the rest is left to the next process. */
  async stop(): Promise<void> {
    const { sender, queue, onError } = this.#settings;
    this.#isStopping = true;
    this.#recorder.stop();
    const until = performance.now() + graceMsMax;
    const isBusy = () => this.sending > 0 || this.#recorder.isRunning || this.#isClaiming;
    while (isBusy() && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 10));
    const sent = new Set([...this.#queues.values()].flatMap((queue) => [...queue.sending]));
    await sender.stop();
    const left = [...this.#leases.keys()].map((claim) => ({ ...claim, isSent: sent.has(claim) }));
    try {
      if (left.length > 0) await queue.endLeases(left);
      await queue.leaveAll();
    } catch (error) {
      onError(error, 'deliveries were not given back');
    }
  }
}

function keyOf({ orgId, webhookId }: EndpointKey): string {
  return `${orgId} ${webhookId}`;
}
