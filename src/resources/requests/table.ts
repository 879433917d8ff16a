import type { Actor } from '../../kernel/command.ts';
import type { Principal } from '../../kernel/route.ts';
import { type ColumnType, defineTable, type Instant, type Table } from '../../kernel/table.ts';
import { type BucketName, bucketNames } from './histogram.ts';

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
export interface KeptRequest extends CountedRequest {
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
  keep(request: KeptRequest): void;
}
