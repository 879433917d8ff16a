import type { ClaimedDelivery, DeliveryQueue, EndpointKey, MarkedAttempt } from '../engine/delivery-queue.ts';
import type { Engine } from '../engine/engine.ts';
import type { FaultCounter } from '../engine/fault-counter.ts';
import { limits } from '../kernel/limits.ts';
import type { Instant } from '../kernel/table.ts';
import { type AttemptSettings, attemptDelivery } from './attempt.ts';
import { overtakes, strikeDeliveries } from './delivery-faults.ts';
import { giveUpHopeless } from './give-up.ts';
import { Lane, restMs } from './lane.ts';

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
const sendingMax = 2_000;
/** Of one organization, so that its endpoints cannot take all there is. */
const sendingOfOneMax = 500;
const marksMax = 256;
const markAttemptsMax = 60;
const markPauseMs = 250;
const graceMsMax = 2_000;

interface Done {
  readonly claim: ClaimedDelivery;
  readonly attempt: MarkedAttempt;
  readonly resolve: () => void;
}

/**
 * Sends what is due. An endpoint is wanted when somebody says that it may have something due; a claim takes of it what its
 * lane has room for; the lane sends as many at once as the endpoint wants; what came of it is marked, many in one go.
 *
 * Every endpoint has a queue, a lane and a limit of its own, so one that hangs fills its own limit and nobody else's. A process
 * that dies leaves leases behind, and whoever claims them after their end sends again: at least once, under the same event id.
 */
export class Deliverer {
  readonly #settings: DelivererSettings;
  readonly #lanes = new Map<string, Lane>();
  readonly #wanted = new Set<string>();
  readonly #starved = new Set<string>();
  readonly #sendingByOrg = new Map<string, number>();
  readonly #leases = new Map<ClaimedDelivery, Instant>();
  readonly #waiters = new Map<string, (() => void)[]>();
  #done: Done[] = [];
  #sending = 0;
  #isClaiming = false;
  #isMarking = false;
  #isScheduled = false;
  #isStopping = false;

  constructor(settings: DelivererSettings) {
    this.#settings = settings;
  }

  get sending(): number {
    return this.#sending;
  }

  /** This endpoint may have something due. */
  wake(endpoint: EndpointKey): void {
    const key = keyOf(endpoint);
    let lane = this.#lanes.get(key);
    if (!lane) {
      lane = new Lane({ orgId: endpoint.orgId, webhookId: endpoint.webhookId });
      this.#lanes.set(key, lane);
    }
    lane.mayHaveMore = true;
    this.#wanted.add(key);
    this.#schedule();
  }

  /** The endpoint was changed: what waits for it goes by what it was, so it is given back and claimed anew. */
  refresh(endpoint: EndpointKey): void {
    const lane = this.#lanes.get(keyOf(endpoint));
    this.#giveBack(lane?.clear() ?? [], endpoint);
  }

  /** All of them, or those of an organization that was reset: what waits for its endpoints is not there any more. */
  refreshAll(orgId?: string): void {
    for (const { endpoint } of this.#lanes.values())
      if (orgId === undefined || endpoint.orgId === orgId) this.refresh(endpoint);
  }

  #giveBack(claims: readonly ClaimedDelivery[], endpoint: EndpointKey): void {
    for (const claim of claims) this.#leases.delete(claim);
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
    if (this.#isStopping || this.#isClaiming || this.#sending >= sendingMax) return;
    const open = [...this.#wanted].filter((key) => !this.#lanes.get(key)?.isLeaving);
    // From a random place on: processes that hear the same at the same time begin with different endpoints.
    const from = Math.floor(this.#settings.engine.mint.fraction('claims') * open.length);
    const turned = [...open.slice(from), ...open.slice(0, from)];
    const asked = turned.slice(0, endpointsInClaimMax).flatMap((key) => {
      this.#wanted.delete(key);
      const lane = this.#lanes.get(key);
      const room = lane?.room ?? 0;
      return lane && room > 0 ? [{ key, lane, room }] : [];
    });
    if (asked.length === 0) return;
    this.#isClaiming = true;
    // What is said while the claim is under way may be too late for it, and is kept for the next.
    for (const { lane } of asked) {
      lane.mayHaveMore = false;
      lane.isAsked = true;
    }
    try {
      const now = wallClock();
      const leaseUntil = now + leaseMs;
      const endpoints = asked.map(({ lane, room }) => ({ ...lane.endpoint, room }));
      const claimed = await queue.claim(endpoints, now, leaseUntil);
      const sendable = await strikeDeliveries(claimed, leaseUntil, this.#settings);
      for (const { claim, leaseUntil: until } of sendable) this.#leases.set(claim, until);
      for (const { key, lane, room } of asked) {
        const own = sendable.flatMap(({ claim }) => (keyOf(claim) === key ? [claim] : []));
        lane.add(own, room);
        if (sendable.length < claimed.length) this.#look(key, lane, claimed, room, own.length);
        // A clock that is on its way waits for all of them.
        if (lane.isAiling && own.some(({ advanceRequestId }) => advanceRequestId === null)) this.#rest(lane);
        this.#send(key, lane);
      }
    } catch (error) {
      onError(error, 'deliveries were not claimed');
    }
    for (const { key, lane } of asked) {
      lane.isAsked = false;
      this.#tidy(key, lane);
    }
    this.#isClaiming = false;
    this.#schedule();
  }

  /** Where fault plans have taken something away, there may be more: what was not claimed for want of room, or was let go of. */
  #look(key: string, lane: Lane, claimed: readonly ClaimedDelivery[], room: number, left: number): void {
    const own = claimed.filter((claim) => keyOf(claim) === key);
    const isUnderWay = own.some(({ advanceRequestId }) => advanceRequestId !== null);
    if (own.length >= room || (isUnderWay && left < own.length)) lane.mayHaveMore = true;
  }

  #rest(lane: Lane): void {
    if (lane.isResting) return;
    lane.isResting = true;
    setTimeout(() => {
      lane.isResting = false;
      this.wake(lane.endpoint);
    }, restMs).unref();
  }

  /** Begins as many as the endpoint takes at once. */
  #send(key: string, lane: Lane): void {
    const { wallClock } = this.#settings;
    while (!this.#isStopping) {
      const isOpen = this.#sending < sendingMax && this.#sendingOf(lane) < sendingOfOneMax;
      if (!isOpen) this.#starved.add(key);
      const claim = isOpen ? lane.next() : undefined;
      if (!claim) break;
      if ((this.#leases.get(claim) ?? 0) - wallClock() < sendableMs) {
        // It has become slow since this was claimed. What waits is given back as if it had not been.
        lane.ended(claim, limits.webhookTimeoutMs, false);
        this.#giveBack([claim, ...lane.clear()], lane.endpoint);
        break;
      }
      const startedAt = performance.now();
      this.#count(lane, 1);
      void this.deliver(claim, (isDelivered) => {
        this.#count(lane, -1);
        lane.ended(claim, performance.now() - startedAt, isDelivered);
        this.#starved.add(key);
        this.#feed();
      });
    }
    if (lane.mayHaveMore && lane.room > 0) this.#wanted.add(key);
    this.#schedule();
  }

  /** Those that may go on now that there is room: the endpoint itself, and all that waited because too many were under way. */
  #feed(): void {
    const keys = [...this.#starved];
    this.#starved.clear();
    for (const key of keys) {
      const lane = this.#lanes.get(key);
      if (lane) this.#send(key, lane);
    }
  }

  #sendingOf({ endpoint }: Lane): number {
    return this.#sendingByOrg.get(endpoint.orgId) ?? 0;
  }

  #count(lane: Lane, one: 1 | -1): void {
    this.#sending += one;
    const count = this.#sendingOf(lane) + one;
    if (count > 0) this.#sendingByOrg.set(lane.endpoint.orgId, count);
    else this.#sendingByOrg.delete(lane.endpoint.orgId);
  }

  #tidy(key: string, lane: Lane): void {
    if (lane.isIdle) this.#lanes.delete(key);
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
    const marked = new Promise<void>((resolve) => {
      if (!attempt) return resolve();
      this.#done.push({ claim, attempt, resolve });
    });
    // What a fault plan drops says nothing about the endpoint.
    onAnswered(attempt?.error === null || claim.fault?.type === 'drop');
    void this.#mark();
    await marked;
    const overtaken = attempt ? overtakes(claim) : [];
    if (overtaken.length > 0) await this.#release(claim, overtaken);
  }

  /** What fault plans held until this one was sent goes out now. When that cannot be written, it goes when its time is up. */
  async #release(claim: ClaimedDelivery, overtaken: readonly string[]): Promise<void> {
    await this.#settings.faults
      .release(claim.orgId, overtaken)
      .catch((error: unknown) => this.#settings.onError(error, 'held deliveries were not let go'));
    this.wake(claim);
  }

  /** One statement for all that has come meanwhile. While the database is away it is tried again, about until the leases end. */
  async #mark(): Promise<void> {
    if (this.#isMarking) return;
    this.#isMarking = true;
    while (this.#done.length > 0) {
      const batch = this.#done.splice(0, marksMax);
      // Before the mark: whoever waits until nothing is left to send then also sees what a disabled endpoint has to tell.
      await giveUpHopeless(batch, this.#settings);
      await this.#markBatch(batch);
      for (const { resolve } of batch) resolve();
      this.#goOn(batch);
    }
    this.#isMarking = false;
  }

  async #markBatch(batch: readonly Done[]): Promise<void> {
    const { queue, onError } = this.#settings;
    const left = this.#left(batch);
    for (let attempt = 1; ; attempt += 1) {
      try {
        await queue.mark(
          batch.map((done) => done.attempt),
          left.map(({ endpoint }) => endpoint.webhookId),
        );
        return;
      } catch (error) {
        onError(error, 'deliveries were not marked');
        if (attempt >= markAttemptsMax || this.#isStopping) return;
        await new Promise((resolve) => setTimeout(resolve, markPauseMs));
      }
    }
  }

  /** The endpoints of a batch that this process has nothing more for. */
  #left(batch: readonly Done[]): readonly Lane[] {
    const waiting = new Set(this.#done.map(({ claim }) => keyOf(claim)));
    const keys = new Set(batch.map(({ claim }) => keyOf(claim)));
    return [...keys].flatMap((key) => {
      const lane = this.#lanes.get(key);
      if (!lane?.isIdle || waiting.has(key)) return [];
      lane.isLeaving = true;
      return [lane];
    });
  }

  #goOn(batch: readonly Done[]): void {
    for (const { claim, attempt } of batch) {
      // While a clock is on its way, the next attempt may be due by it already.
      if (attempt.status === 'pending' && claim.advanceRequestId !== null) this.wake(claim);
      for (const resolve of this.#waiters.get(claim.appId)?.splice(0) ?? []) resolve();
      this.#waiters.delete(claim.appId);
      const lane = this.#lanes.get(keyOf(claim));
      if (!lane) continue;
      lane.isLeaving = false;
      this.#tidy(keyOf(claim), lane);
    }
    this.#schedule();
  }

  /** Claims nothing more. What is under way has a moment to end; the rest is left to the next process. */
  async stop(): Promise<void> {
    const { sender, queue, onError } = this.#settings;
    this.#isStopping = true;
    const until = performance.now() + graceMsMax;
    const isBusy = () => this.#sending > 0 || this.#isMarking || this.#isClaiming;
    while (isBusy() && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 10));
    const sent = new Set([...this.#lanes.values()].flatMap((lane) => [...lane.sending]));
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
