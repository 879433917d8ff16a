import type { Actor } from '../../kernel/command.ts';
import type { Principal } from '../../kernel/route.ts';
import { type ColumnType, defineTable, type Instant, type Table } from '../../kernel/table.ts';

/**
 * How long requests took, as counts: each bucket holds what took at most its bound and longer than the bound before. Counts
 * of many minutes and many nodes can be added, which percentiles cannot.
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

/** The place of a duration among the buckets. */
export function bucketOf(durationUs: number): number {
  let place = 0;
  while (durationUs > (upperUs[place] ?? Number.POSITIVE_INFINITY)) place += 1;
  return place;
}

/**
 * The duration in milliseconds that so many of a hundred requests did not exceed; null when there were none. Inside a bucket
 * they are taken to be spread evenly. What is beyond the last bound is told as that bound: longer is not known.
 */
export function percentileMs(counts: readonly number[], percent: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const wanted = (total * percent) / 100;
  let below = 0;
  for (let place = 0; place < bounds.length; place += 1) {
    const count = counts[place] ?? 0;
    if (count > 0 && below + count >= wanted) return withinMs(place, (wanted - below) / count);
    below += count;
  }
  return withinMs(bounds.length - 1, 1);
}

function withinMs(place: number, share: number): number {
  const low = place === 0 ? 0 : (upperUs[place - 1] ?? 0);
  const high = upperUs[place] ?? Number.POSITIVE_INFINITY;
  const us = Number.isFinite(high) ? low + (high - low) * Math.max(0, share) : low;
  return Math.round(us) / microsecondsPerMillisecond;
}

/** A request that was answered, as it is kept: redacted and cut. */
export interface RequestRow {
  readonly orgId: string;
  readonly id: string;
  /** Empty where the whole organization is concerned. */
  readonly appId: string;
  /** When it came, by the wall clock. */
  readonly at: Instant;
  readonly method: string;
  readonly path: string;
  readonly query: string | null;
  readonly route: string;
  /** 0 when a fault plan cut the connection: no answer ever left. */
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
  readonly faultPlanId: string | null;
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

/** The table as it is: the database numbers its rows as they are written. */
export const numberedRequestsTable: Table<RequestRow & { readonly position: bigint }> = {
  ...requestsTable,
  columns: [...requestsTable.columns, { property: 'position', column: 'position', type: 'bigint' }],
};

/** The requests of one application in one minute, kept or not, and how long they took. */
export interface MinuteRow extends Readonly<Record<BucketName, number>> {
  readonly orgId: string;
  readonly appId: string;
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

/** The last use of a key: the last request that it was good for. */
export interface KeyUseRow {
  readonly orgId: string;
  readonly id: string;
  readonly lastUsedAt: Instant;
  readonly lastUsedIp: string | null;
}

export const keyUsesTable = defineTable<KeyUseRow>('api_key_uses', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  lastUsedAt: 'timestamptz',
  lastUsedIp: 'text',
});

/** What every answered request is counted by. */
export interface CountedRequest {
  readonly principal: Principal;
  readonly status: number;
  readonly errorCode: string | null;
  readonly elapsedMs: number;
  readonly ip: string;
}

/** What is kept of a request, as it came and as it was answered: secrets are taken out later, away from the answers. */
export interface StoredRequest extends CountedRequest {
  readonly id: string;
  readonly method: string;
  readonly url: string;
  readonly route: string;
  readonly idempotencyKey: string;
  readonly isReplay: boolean;
  readonly sent: string | null;
  readonly answered: string | null;
  readonly faultPlanId: string | null;
}

/** Where the HTTP side leaves what it has answered. It never waits and never fails. */
export interface RequestSink {
  /** Counts a request and says whether there is room to keep it. */
  count(request: CountedRequest): boolean;
  keep(request: StoredRequest): void;
}
