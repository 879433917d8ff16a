import { encodeArray } from '../db/array.ts';
import type { Database } from '../db/database.ts';
import { sortedOrganizations } from '../engine/clearing.ts';
import { retryAheadMsMax } from '../kernel/retry.ts';
import type { Instant } from '../kernel/table.ts';
import {
  type ClaimedDelivery,
  type ClaimedRow,
  claim,
  clearBodies,
  copiedColumns,
  type DueEndpoint,
  dueEndpoints,
  type EndpointKey,
  endLeases,
  type Held,
  type MarkedAttempt,
  type MarkedCopy,
  mark,
  markedColumns,
  markWithCopies,
  releaseDeliveries,
  releaseEndpoints,
  unstrand,
} from './statements.ts';

export type { ClaimedDelivery, CopiedAttempt, EndpointKey, MarkedAttempt } from './statements.ts';

export interface ClaimTerms {
  readonly wallNow: Instant;
  readonly leaseUntil: Instant;
  /** The bytes of event data that the claim may return. One delivery is claimed whatever its size. */
  readonly bytesMax: number;
}

export interface Claimed {
  readonly claims: readonly ClaimedDelivery[];
  /** More is due for these endpoints than `bytesMax` allowed. */
  readonly hasMore: boolean;
}

const clearMax = 1_000;
const endpointsMax = 2_000;

/** The deliveries as a queue: the engine's, because it is the only writer, and apart from it, because no command asks. */
export class DeliveryQueue {
  readonly #database: Database;
  /** What this process is known by among those that send. */
  readonly #sender: string;

  constructor(database: Database, sender: string) {
    this.#database = database;
    this.#sender = sender;
  }

  async claim(
    endpoints: readonly (EndpointKey & { readonly room: number })[],
    { wallNow, leaseUntil, bytesMax }: ClaimTerms,
  ): Promise<Claimed> {
    // Sorted: two nodes that want the same endpoints ask for them in one order.
    const sorted = [...endpoints].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    const rows = await this.#database.query<ClaimedRow>(claim, [
      ...keyArrays(sorted),
      encodeArray(
        'integer',
        sorted.map(({ room }) => room),
      ),
      new Date(wallNow).toISOString(),
      new Date(leaseUntil).toISOString(),
      this.#sender,
      sortedOrganizations(sorted.map(({ orgId }) => orgId)),
      Math.max(0, Math.floor(bytesMax)),
    ]);
    // Deliveries of one event share one string.
    const dataByEvent = new Map<string, string>();
    for (const { orgId, eventId, data } of rows)
      if (data !== null) dataByEvent.set(`${orgId} ${eventId}`, data);
    const claims = rows.map(({ hasMore: _, ...row }) => {
      const data = dataByEvent.get(`${row.orgId} ${row.eventId}`);
      if (data === undefined) throw new Error(`the claim of ${row.id} came without its event`);
      return { ...row, data, isReordered: false };
    });
    return { claims, hasMore: rows[0]?.hasMore ?? false };
  }

  /** And leaves the endpoints given to others. */
  async mark(attempts: readonly MarkedAttempt[], left: readonly string[]): Promise<void> {
    const copies = attempts.flatMap(copiesOf);
    await this.#database.query(copies.length === 0 ? mark : markWithCopies, [
      ...markedColumns.map(([property, , type]) =>
        encodeArray(
          type,
          attempts.map((attempt) => attempt[property]),
        ),
      ),
      this.#sender,
      encodeArray('text', left),
      sortedOrganizations(attempts.map(({ orgId }) => orgId)),
      ...(copies.length === 0 ? [] : copiedColumns).map(([property, , type]) =>
        encodeArray(
          type,
          copies.map((copy) => copy[property]),
        ),
      ),
    ]);
  }

  /** Ends leases of this process before their time: what was not sent is as before, what was may have arrived. */
  async endLeases(claims: readonly Held[]): Promise<void> {
    await this.#database.query(endLeases, [
      ...(['orgId', 'id'] as const).map((property) =>
        encodeArray(
          'text',
          claims.map((claimed) => claimed[property]),
        ),
      ),
      encodeArray(
        'integer',
        claims.map(({ token }) => token),
      ),
      encodeArray(
        'timestamptz',
        claims.map(({ isSent }) => (isSent ? 0 : null)),
      ),
    ]);
  }

  /** Leaves every endpoint to others. */
  async leaveAll(): Promise<void> {
    await this.#database.query(releaseEndpoints, [this.#sender]);
  }

  /** Endpoints that have something due, and where to go on; undefined when all were looked at. */
  async findDue(
    wallNow: Instant,
    after: EndpointKey | undefined,
  ): Promise<{ readonly due: readonly EndpointKey[]; readonly next: EndpointKey | undefined }> {
    const rows = await this.#database.query<DueEndpoint>(dueEndpoints, [
      new Date(wallNow).toISOString(),
      after?.orgId ?? '',
      after?.webhookId ?? '',
      endpointsMax,
      retryAheadMsMax,
    ]);
    for (const { orgId, webhookId, now } of rows.filter(({ isStranded }) => isStranded))
      await this.#database.query(unstrand, [orgId, webhookId, new Date(now).toISOString()]);
    return {
      due: rows.filter(({ isDue, isStranded }) => isDue || isStranded),
      next: rows.find(({ isLast }) => isLast),
    };
  }

  /** For the only process on its database: whatever was being sent at its start has lost its sender. */
  async releaseAll(): Promise<void> {
    await this.#database.query(releaseDeliveries, []);
    await this.#database.query(releaseEndpoints, [null]);
  }

  /** Clears what was sent and answered before an instant of the wall clock; that there was an attempt stays. */
  async clearBodies(before: Instant): Promise<number> {
    let cleared = 0;
    for (;;) {
      const rows = await this.#database.query(clearBodies, [new Date(before).toISOString(), clearMax]);
      cleared += rows.length;
      if (rows.length < clearMax) return cleared;
    }
  }
}

function copiesOf({ orgId, deliveryId, copies }: MarkedAttempt): readonly MarkedCopy[] {
  return copies.map((copy, place) => ({ ...copy, orgId, deliveryId, behind: copies.length - 1 - place }));
}

function keyArrays(keys: readonly EndpointKey[]): Buffer[] {
  return [
    encodeArray(
      'text',
      keys.map(({ orgId }) => orgId),
    ),
    encodeArray(
      'text',
      keys.map(({ webhookId }) => webhookId),
    ),
  ];
}

function keyOf({ orgId, webhookId }: EndpointKey): string {
  return `${orgId} ${webhookId}`;
}
