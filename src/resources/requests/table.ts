import type { Actor } from '../../kernel/command.ts';
import type { Id } from '../../kernel/ids.ts';
import type { Principal } from '../../kernel/route.ts';
import { type ColumnType, defineTable, type Instant, type Table } from '../../kernel/table.ts';

/**
 * A histogram of request durations: each bucket counts requests that took at most its bound and longer than the previous bound.
 * Counts of several minutes and nodes can be added; percentiles cannot.
 */
const bounds = [
  ['us500', 500],
  ['ms1', 1_000],
  ['ms2', 2_000],
  ['ms5', 5_000],
  ['ms10', 10_000],
  ['ms20', 20_000],
  ['ms50', 50_000],
  ['ms100', 100_000],
  ['ms200', 200_000],
  ['ms500', 500_000],
  ['s1', 1_000_000],
  ['s5', 5_000_000],
  ['beyond', Number.POSITIVE_INFINITY],
] as const;

export type BucketName = (typeof bounds)[number][0];

export const bucketNames: readonly BucketName[] = bounds.map(([name]) => name);

const upperUs: readonly number[] = bounds.map(([, us]) => us);
const microsecondsPerMillisecond = 1_000;

/** The index of the bucket for a duration. */
export function bucketOf(durationUs: number): number {
  let index = 0;
  while (durationUs > (upperUs[index] ?? Number.POSITIVE_INFINITY)) index += 1;
  return index;
}

/**
 * The duration in milliseconds that `percent` of the requests did not exceed; null without requests. Assumes an even distribution
 * inside a bucket. Reports a duration beyond the last bound as that bound, because the histogram does not contain more.
 */
export function percentileMs(counts: readonly number[], percent: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const wanted = (total * percent) / 100;
  let below = 0;
  for (let index = 0; index < bounds.length; index += 1) {
    const count = counts[index] ?? 0;
    if (count > 0 && below + count >= wanted) return withinMs(index, (wanted - below) / count);
    below += count;
  }
  return withinMs(bounds.length - 1, 1);
}

function withinMs(index: number, share: number): number {
  const low = index === 0 ? 0 : (upperUs[index - 1] ?? 0);
  const high = upperUs[index] ?? Number.POSITIVE_INFINITY;
  const us = Number.isFinite(high) ? low + (high - low) * Math.max(0, share) : low;
  return Math.round(us) / microsecondsPerMillisecond;
}

/** An answered request in the form that is stored: redacted and cut. */
export interface RequestRow {
  readonly orgId: Id<'organization'>;
  readonly id: Id<'request'>;
  /** Empty for a request to the whole organization. */
  readonly appId: Id<'application'>;
  /** When the request was received. Wall time. */
  readonly at: Instant;
  readonly method: string;
  readonly path: string;
  readonly query: string | null;
  readonly route: string;
  /** 0 if a fault plan cut the connection and no response was sent. */
  readonly httpStatus: number;
  readonly durationUs: number;
  readonly errorCode: string | null;
  readonly actorKind: Actor['kind'];
  readonly actorId: string;
  readonly ip: string | null;
  readonly idempotencyKey: string | null;
  readonly isReplay: boolean;
  readonly requestBody: string | null;
  readonly responseBody: string | null;
  /** The fault plan that hit it. */
  readonly faultPlanId: Id<'fault_plan'> | null;
}

export const requestsTable = defineTable<RequestRow>('requests', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  appId: 'text',
  at: 'timestamptz',
  method: 'text',
  path: 'text',
  query: 'text',
  route: 'text',
  httpStatus: 'integer',
  durationUs: 'integer',
  errorCode: 'text',
  actorKind: 'text',
  actorId: 'text',
  ip: 'text',
  idempotencyKey: 'text',
  isReplay: 'boolean',
  requestBody: 'text',
  responseBody: 'text',
  faultPlanId: 'text',
});

/** The table with its `position` column: the database numbers rows in insertion order. */
export const numberedRequestsTable: Table<RequestRow & { readonly position: bigint }> = {
  ...requestsTable,
  columns: [...requestsTable.columns, { property: 'position', column: 'position', type: 'bigint' }],
};

/** Request counts and durations of one application in one minute, including requests that are not stored. */
export interface MinuteRow extends Readonly<Record<BucketName, number>> {
  readonly orgId: Id<'organization'>;
  readonly appId: Id<'application'>;
  readonly minute: Instant;
  readonly requests: number;
  readonly clientErrors: number;
  readonly serverErrors: number;
  readonly notKept: number;
}

export const requestMinutesTable = defineTable<MinuteRow>('request_minutes', ['org_id', 'app_id', 'minute'], {
  orgId: 'text',
  appId: 'text',
  minute: 'timestamptz',
  requests: 'integer',
  clientErrors: 'integer',
  serverErrors: 'integer',
  notKept: 'integer',
  ...(Object.fromEntries(bucketNames.map((name) => [name, 'integer'])) as Record<BucketName, ColumnType>),
});

/** The last use of an API key: its last authenticated request. */
export interface KeyUseRow {
  readonly orgId: Id<'organization'>;
  readonly id: Id<'api_key'>;
  readonly lastUsedAt: Instant;
  readonly lastUsedIp: string | null;
}

export const keyUsesTable = defineTable<KeyUseRow>('api_key_uses', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  lastUsedAt: 'timestamptz',
  lastUsedIp: 'text',
});

/** The input of the request counters, for every answered request. */
export interface CountedRequest {
  readonly principal: Principal;
  readonly status: number;
  readonly errorCode: string | null;
  readonly elapsedMs: number;
  readonly ip: string;
}

/** A request and its response before redaction, which happens later and outside the request path. */
export interface StoredRequest extends CountedRequest {
  readonly id: Id<'request'>;
  readonly method: string;
  readonly url: string;
  readonly route: string;
  readonly idempotencyKey: string;
  readonly isReplay: boolean;
  readonly requestBody: string | null;
  readonly responseBody: string | null;
  readonly faultPlanId: Id<'fault_plan'> | null;
}

/** Receives answered requests from the HTTP server. Never blocks and never fails. */
export interface RequestSink {
  /** Counts a request and returns whether there is room to store it. */
  count(request: CountedRequest): boolean;
  store(request: StoredRequest): void;
}
