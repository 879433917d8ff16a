import { encodeArray } from '../db/array.ts';
import type { Database } from '../db/database.ts';
import { sortedOrganizations } from '../engine/clearing.ts';
import type { Instant } from '../kernel/table.ts';
import type { StoredSecret } from '../resources/webhooks/table.ts';
import { type DueEndpoint, dueEndpoints, endDeleted, rescheduleStranded } from './poll-statements.ts';
import { retryAheadMsMax } from './retry.ts';
import {
  type ClaimedDelivery,
  type ClaimedRow,
  claim,
  clearBodies,
  copiedColumns,
  type EndpointKey,
  endLeases,
  type MarkedAttempt,
  type MarkedCopy,
  mark,
  markedColumns,
  markWithCopies,
  type ReleasedClaim,
  releaseDeliveries,
  releaseEndpoints,
} from './statements.ts';

export type { ClaimedDelivery, CopiedAttempt, EndpointKey, MarkedAttempt } from './statements.ts';

export interface ClaimOptions {
  readonly wallNow: Instant;
  readonly leaseUntil: Instant;
  /** Bytes of event data that the claim may return. The first delivery is claimed whatever its size. */
  readonly bytesMax: number;
}

export interface Claimed {
  readonly claims: readonly ClaimedDelivery[];
  /** More deliveries are due for these endpoints than `bytesMax` allowed. */
  readonly hasMore: boolean;
}

const clearMax = 1_000;
const endedMax = 1_000;
const endpointsMax = 2_000;

/** The deliveries table as a queue. Its writes are not part of a command, so they do not go through the engine. */
export class DeliveryQueue {
  readonly #database: Database;
  /** Identifies this process among all sending processes. */
  readonly #sender: string;

  constructor(database: Database, sender: string) {
    this.#database = database;
    this.#sender = sender;
  }

  async claim(
    endpoints: readonly (EndpointKey & { readonly room: number })[],
    { wallNow, leaseUntil, bytesMax }: ClaimOptions,
  ): Promise<Claimed> {
    // Sorted: two nodes that claim the same endpoints lock them in the same order.
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
    // Deliveries of the same event share one string, and those of the same endpoint its secrets.
    const dataByEvent = new Map<string, string>();
    const secretsByText = new Map<string, readonly StoredSecret[]>();
    for (const { orgId, eventId, data, secrets } of rows) {
      if (data !== null) dataByEvent.set(`${orgId} ${eventId}`, data);
      if (!secretsByText.has(secrets)) secretsByText.set(secrets, JSON.parse(secrets));
    }
    const claims = rows.map((row) => {
      const data = dataByEvent.get(`${row.orgId} ${row.eventId}`);
      if (data === undefined) throw new Error(`the claim of ${row.id} has no event data`);
      const secrets = secretsByText.get(row.secrets) ?? [];
      return Object.assign(row, { data, secrets, isReordered: false });
    });
    return { claims, hasMore: rows[0]?.hasMore ?? false };
  }

  /** Records attempts, and releases the given endpoints to other processes. */
  async mark(attempts: readonly MarkedAttempt[], releasedWebhookIds: readonly string[]): Promise<void> {
    const copies = attempts.flatMap(copiesOf);
    const statement = copies.length === 0 ? mark : markWithCopies;
    const values = [
      ...markedColumns.map(([property, , type]) =>
        encodeArray(
          type,
          attempts.map((attempt) => attempt[property]),
        ),
      ),
      this.#sender,
      encodeArray('text', releasedWebhookIds),
      sortedOrganizations(attempts.map(({ orgId }) => orgId)),
      ...(copies.length === 0 ? [] : copiedColumns).map(([property, , type]) =>
        encodeArray(
          type,
          copies.map((copy) => copy[property]),
        ),
      ),
    ];
    const [result] = await this.#database.query<{ readonly marked: number }>(statement, values);
    // A row that changed while the statement ran was not found at its old place. What is marked is not marked again.
    if ((result?.marked ?? 0) < attempts.length) await this.#database.query(statement, values);
  }

  /** Ends leases of this process early. An unsent delivery returns to its previous state; a sent one may have arrived. */
  async endLeases(claims: readonly ReleasedClaim[]): Promise<void> {
    await this.#database.query(endLeases, [
      ...(['orgId', 'id'] as const).map((property) =>
        encodeArray(
          'text',
          claims.map((released) => released[property]),
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

  /** Releases all endpoints of this process to other processes. */
  async releaseOwnEndpoints(): Promise<void> {
    await this.#database.query(releaseEndpoints, [this.#sender]);
  }

  /** Endpoints that have something due, and the cursor of the next page; undefined after the last page. */
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
      await this.#database.query(rescheduleStranded, [orgId, webhookId, new Date(now).toISOString()]);
    for (const endpoint of rows.filter(({ isDeleted }) => isDeleted)) await this.#end(endpoint, wallNow);
    return {
      due: rows.filter(({ isDue, isStranded }) => isDue || isStranded),
      next: rows.find(({ isLast }) => isLast),
    };
  }

  /** Ends deliveries to a deleted endpoint. The next poll continues, if there are more than one statement ends. */
  async #end({ orgId, webhookId, now }: DueEndpoint, wallNow: Instant): Promise<void> {
    await this.#database.query(endDeleted, [
      ...[orgId, webhookId, new Date(now).toISOString(), new Date(wallNow).toISOString()],
      ...[endedMax, 'Not sent: the endpoint was deleted.'],
    ]);
  }

  /** For the only process on its database: at its start, no earlier lease has a live sender. */
  async releaseAll(): Promise<void> {
    await this.#database.query(releaseDeliveries, []);
    await this.#database.query(releaseEndpoints, [null]);
  }

  /** Clears headers and bodies of attempts sent before a wall-clock instant. The attempts themselves remain. */
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
  return copies.map((copy, i) => ({ ...copy, orgId, deliveryId, behind: copies.length - 1 - i }));
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
