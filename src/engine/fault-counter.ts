import { encodeArray } from '../db/array.ts';
import type { Database } from '../db/database.ts';
import type { Id } from '../kernel/ids.ts';
import type { Instant } from '../kernel/table.ts';
import { type ActivePlan, patternOf } from '../resources/fault-plans/table.ts';
import type { Committed } from './batch-trail.ts';
import { holdDelivery, type MatchResult, takeForDeliveries, takeForRequests } from './fault-statements.ts';

interface Waiter {
  readonly requestId: Id<'request'>;
  readonly resolve: (isHit: boolean) => void;
  readonly reject: (error: unknown) => void;
}

interface PendingMatches {
  readonly plan: ActivePlan;
  readonly waiters: Waiter[];
}

/** The fields of a claimed delivery that the counter needs. */
export interface ClaimedDelivery {
  readonly orgId: Id<'organization'>;
  readonly id: string;
  readonly token: number;
  readonly requestId: Id<'request'>;
}

/** A claimed delivery that matches a plan, and its new due time if the plan hits it. */
export interface MatchingDelivery {
  readonly claim: ClaimedDelivery;
  /** The due time after a delay; null when the due time does not change. */
  readonly dueAt: Instant | null;
}

const waitersMax = 500;

/**
 * Counts the requests and deliveries that match fault plans, and decides which ones are hit. It belongs to the engine, the only
 * writer, although no command is involved. All nodes count in the same rows.
 *
 * Requests that arrive while a statement is in flight wait and share the next one: under load this costs one row lock per round
 * trip.
 */
export class FaultCounter {
  readonly #database: Database;
  readonly #wallClock: () => Instant;
  readonly #watchers: ((appId: Id<'application'>) => void)[] = [];
  #pending = new Map<string, PendingMatches>();
  #isTaking = false;

  constructor(database: Database, wallClock: () => Instant) {
    this.#database = database;
    this.#wallClock = wallClock;
  }

  /** Calls back with each application whose plans this process changed: created, canceled or exhausted. */
  watch(onChange: (appId: Id<'application'>) => void): void {
    this.#watchers.push(onChange);
  }

  onCommit({ changes }: Pick<Committed, 'changes'>): void {
    for (const { resource, row } of changes)
      if (resource === 'fault_plan' && row.appId !== undefined) this.#notifyWatchers(row.appId);
  }

  /** Counts a request that matches the plan. Resolves with whether the plan hits it. */
  take(plan: ActivePlan, requestId: Id<'request'>): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const key = `${plan.orgId} ${plan.id}`;
      const pending = this.#pending.get(key) ?? { plan, waiters: [] };
      pending.waiters.push({ requestId, resolve, reject });
      this.#pending.set(key, pending);
      if (!this.#isTaking) void this.#takeAll();
    });
  }

  async #takeAll(): Promise<void> {
    this.#isTaking = true;
    while (this.#pending.size > 0) {
      // Sorted: two nodes lock the rows of the same plans in the same order.
      const pending = [...this.#pending].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, matches]) => matches);
      this.#pending = new Map();
      const batch = pending.map(({ plan, waiters }) => ({ plan, waiters: waiters.splice(0, waitersMax) }));
      for (const { plan, waiters } of pending)
        if (waiters.length > 0) this.#pending.set(`${plan.orgId} ${plan.id}`, { plan, waiters });
      await this.#takeBatch(batch);
    }
    this.#isTaking = false;
  }

  async #takeBatch(batch: readonly PendingMatches[]): Promise<void> {
    try {
      const counts = batch.map(({ plan, waiters }) => ({
        plan,
        n: waiters.length,
        requestId: waiters[0]?.requestId ?? '',
      }));
      const results = await this.#database.query<MatchResult>(takeForRequests, this.#values(counts));
      for (const { plan, waiters } of batch) {
        const planResults = results.filter(({ orgId, id }) => orgId === plan.orgId && id === plan.id);
        this.#notifyIfOver(plan, planResults, waiters.length);
        waiters.forEach(({ resolve }, i) => {
          resolve(planResults[i]?.isHit ?? false);
        });
      }
    } catch (error) {
      for (const { reject } of batch.flatMap(({ waiters }) => waiters)) reject(error);
    }
  }

  /**
   * Counts deliveries that match the plan, in order, and returns the ids of those that it hits. The same statement writes the
   * effect on these deliveries. `leaseUntil` is null when this process releases them.
   */
  async takeDeliveries(
    plan: ActivePlan,
    deliveries: readonly MatchingDelivery[],
    leaseUntil: Instant | null,
  ): Promise<ReadonlySet<string>> {
    const count = { plan, n: deliveries.length, requestId: deliveries[0]?.claim.requestId ?? '' };
    const results = await this.#database.query<MatchResult>(takeForDeliveries, [
      ...this.#values([count]),
      encodeArray(
        'text',
        deliveries.map(({ claim }) => claim.id),
      ),
      encodeArray(
        'integer',
        deliveries.map(({ claim }) => claim.token),
      ),
      encodeArray(
        'timestamptz',
        deliveries.map(({ dueAt }) => dueAt),
      ),
      textOf(leaseUntil),
    ]);
    this.#notifyIfOver(plan, results, deliveries.length);
    return new Set(deliveries.flatMap(({ claim }, i) => (results[i]?.isHit ? [claim.id] : [])));
  }

  /** Ends the lease of a claimed delivery, and holds the delivery until another one overtakes it or the hold expires. */
  async hold({ orgId, id, token }: ClaimedDelivery, heldUntil: Instant): Promise<void> {
    await this.#database.query(holdDelivery, [orgId, id, token, textOf(heldUntil)]);
  }

  /** Fewer results than requested, or a last hit, mean that the plan is no longer active: watchers have stale plans. */
  #notifyIfOver({ appId }: ActivePlan, results: readonly MatchResult[], requested: number): void {
    if (results.length < requested || results.some(({ isOver }) => isOver)) this.#notifyWatchers(appId);
  }

  #notifyWatchers(appId: Id<'application'>): void {
    for (const onChange of this.#watchers) onChange(appId);
  }

  #values(counts: readonly { plan: ActivePlan; n: number; requestId: string }[]): unknown[] {
    return [
      encodeArray(
        'text',
        counts.map(({ plan }) => plan.orgId),
      ),
      encodeArray(
        'text',
        counts.map(({ plan }) => plan.id),
      ),
      encodeArray(
        'integer',
        counts.map(({ n }) => n),
      ),
      encodeArray(
        'bytea',
        counts.map(({ plan }) => patternOf(plan)),
      ),
      encodeArray(
        'text',
        counts.map(({ requestId }) => requestId),
      ),
      textOf(this.#wallClock()),
    ];
  }
}

function textOf(instant: Instant | null): string | null {
  return instant === null ? null : new Date(instant).toISOString();
}
