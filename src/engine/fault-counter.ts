import { encodeArray } from '../db/array.ts';
import type { Database } from '../db/database.ts';
import { type ActivePlan, patternOf } from '../kernel/fault.ts';
import type { Instant } from '../kernel/table.ts';
import type { Committed } from './batch.ts';
import { holdDelivery, type Taken, takeForDeliveries, takeForRequests } from './fault-statements.ts';

interface Waiter {
  readonly requestId: string;
  readonly resolve: (isHit: boolean) => void;
  readonly reject: (error: unknown) => void;
}

interface Asking {
  readonly plan: ActivePlan;
  readonly waiters: Waiter[];
}

/** The fields of a claimed delivery that the counter needs. */
export interface ClaimedDelivery {
  readonly orgId: string;
  readonly id: string;
  readonly token: number;
  readonly requestId: string;
}

/** A claimed delivery that a plan may hit, and what becomes of it then. */
export interface MatchingDelivery {
  readonly claim: ClaimedDelivery;
  /** When it is due if it is delayed; null when that stays. */
  readonly dueAt: Instant | null;
}

const waitersMax = 500;

/**
 * Counts what matches the fault plans, and says what is hit: the engine's, because it is the only writer, and apart from it,
 * because no command asks. All nodes count in the same rows.
 *
 * Requests that ask while a statement is under way wait, and share the next one: a crowd costs one row lock a round trip.
 */
export class FaultCounter {
  readonly #database: Database;
  readonly #wallClock: () => Instant;
  readonly #watchers: ((appId: string) => void)[] = [];
  #asking = new Map<string, Asking>();
  #isTaking = false;

  constructor(database: Database, wallClock: () => Instant) {
    this.#database = database;
    this.#wallClock = wallClock;
  }

  /** Tells of applications whose plans have changed here: made, canceled or exhausted. */
  watch(onChange: (appId: string) => void): void {
    this.#watchers.push(onChange);
  }

  onCommit({ changes }: Pick<Committed, 'changes'>): void {
    for (const { resource, row } of changes)
      if (resource === 'fault_plan' && row.appId !== undefined) this.#tell(row.appId);
  }

  /** Whether the plan hits this request, which matches it. */
  take(plan: ActivePlan, requestId: string): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const key = `${plan.orgId} ${plan.id}`;
      const asking = this.#asking.get(key) ?? { plan, waiters: [] };
      asking.waiters.push({ requestId, resolve, reject });
      this.#asking.set(key, asking);
      if (!this.#isTaking) void this.#takeAll();
    });
  }

  async #takeAll(): Promise<void> {
    this.#isTaking = true;
    while (this.#asking.size > 0) {
      // Sorted: two nodes come to the rows of the same plans in one order.
      const round = [...this.#asking].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, asking]) => asking);
      this.#asking = new Map();
      const first = round.map(({ plan, waiters }) => ({ plan, waiters: waiters.splice(0, waitersMax) }));
      for (const { plan, waiters } of round)
        if (waiters.length > 0) this.#asking.set(`${plan.orgId} ${plan.id}`, { plan, waiters });
      await this.#takeRound(first);
    }
    this.#isTaking = false;
  }

  async #takeRound(round: readonly Asking[]): Promise<void> {
    try {
      const wants = round.map(({ plan, waiters }) => ({
        plan,
        n: waiters.length,
        requestId: waiters[0]?.requestId ?? '',
      }));
      const taken = await this.#database.query<Taken>(takeForRequests, this.#values(wants));
      for (const { plan, waiters } of round) {
        const own = taken.filter(({ orgId, id }) => orgId === plan.orgId && id === plan.id);
        this.#look(plan, own, waiters.length);
        waiters.forEach(({ resolve }, place) => {
          resolve(own[place]?.isHit ?? false);
        });
      }
    } catch (error) {
      for (const { reject } of round.flatMap(({ waiters }) => waiters)) reject(error);
    }
  }

  /**
   * Which of these deliveries, in order, the plan hits: by their ids. What becomes of them is written with the count. The lease is
   * null when this process releases what was hit.
   */
  async takeDeliveries(
    plan: ActivePlan,
    some: readonly MatchingDelivery[],
    leaseUntil: Instant | null,
  ): Promise<ReadonlySet<string>> {
    const want = { plan, n: some.length, requestId: some[0]?.claim.requestId ?? '' };
    const taken = await this.#database.query<Taken>(takeForDeliveries, [
      ...this.#values([want]),
      encodeArray(
        'text',
        some.map(({ claim }) => claim.id),
      ),
      encodeArray(
        'integer',
        some.map(({ claim }) => claim.token),
      ),
      encodeArray(
        'timestamptz',
        some.map(({ dueAt }) => dueAt),
      ),
      textOf(leaseUntil),
    ]);
    this.#look(plan, taken, some.length);
    return new Set(some.flatMap(({ claim }, place) => (taken[place]?.isHit ? [claim.id] : [])));
  }

  /** Ends the lease of a claimed delivery, and holds it until another one overtakes it or its time is up. */
  async hold({ orgId, id, token }: ClaimedDelivery, heldUntil: Instant): Promise<void> {
    await this.#database.query(holdDelivery, [orgId, id, token, textOf(heldUntil)]);
  }

  /** A plan that gave fewer numbers than asked for, or its last one, is known here as active and is not. */
  #look({ appId }: ActivePlan, taken: readonly Taken[], asked: number): void {
    if (taken.length < asked || taken.some(({ isOver }) => isOver)) this.#tell(appId);
  }

  #tell(appId: string): void {
    for (const tell of this.#watchers) tell(appId);
  }

  #values(wants: readonly { plan: ActivePlan; n: number; requestId: string }[]): unknown[] {
    return [
      encodeArray(
        'text',
        wants.map(({ plan }) => plan.orgId),
      ),
      encodeArray(
        'text',
        wants.map(({ plan }) => plan.id),
      ),
      encodeArray(
        'integer',
        wants.map(({ n }) => n),
      ),
      encodeArray(
        'bytea',
        wants.map(({ plan }) => patternOf(plan)),
      ),
      encodeArray(
        'text',
        wants.map(({ requestId }) => requestId),
      ),
      textOf(this.#wallClock()),
    ];
  }
}

function textOf(instant: Instant | null): string | null {
  return instant === null ? null : new Date(instant).toISOString();
}
