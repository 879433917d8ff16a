/**
 * Response types. First the resources of the console API (session, organization, application), then the records of
 * the public API as in docs/openapi.json. Values that the server may extend (states, codes, event types)
 * are `string` unless the console branches on them.
 */
export * from './records.ts';

import type { Instant, RetryProfile, Sum } from './records.ts';

interface Envelope {
  readonly requestId?: string;
  readonly sandbox?: true;
}

export interface List<T> extends Envelope {
  readonly object: 'list';
  readonly data: readonly T[];
  readonly hasMore: boolean;
  readonly nextCursor: string | null;
}

export type Role = 'viewer' | 'developer' | 'admin' | 'owner';

export interface Person {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly twoFactor: boolean;
}

interface Membership {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
}

export interface Session extends Envelope {
  readonly object: 'session';
  readonly status: 'ok' | 'two_factor_required';
  readonly person: Person | null;
  readonly organizations: readonly Membership[];
  readonly registration: 'open' | 'closed';
  readonly publicUrl: string;
  readonly apiVersion: string;
}

export interface DeviceSession {
  readonly object: 'device_session';
  readonly id: string;
  readonly createdAt: Instant;
  readonly lastSeenAt: Instant;
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly isCurrent: boolean;
  readonly expiresAt: Instant;
}

export interface TwoFactor extends Envelope {
  readonly object: 'two_factor';
  readonly status: 'pending';
  readonly uri: string;
  readonly secret: string;
  readonly backupCodes: readonly string[];
}

/** An invitation as the invited person sees it before accepting. */
export interface InvitationOffer extends Envelope {
  readonly object: 'invitation';
  readonly status: 'pending';
  readonly organizationName: string;
  readonly role: Role;
  readonly email: string | null;
  readonly expiresAt: Instant;
}

export interface Organization extends Envelope {
  readonly object: 'organization';
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly createdAt?: Instant;
}

export interface Application extends Envelope {
  readonly object: 'application';
  readonly id: string;
  readonly name: string;
  readonly status: 'active' | 'archived';
  readonly fee: { readonly basisPoints: number; readonly fixedAmount: number };
  readonly provider: null | 'meridian' | 'tidewater';
  readonly fx: { readonly marginBasisPoints: number; readonly rates: Readonly<Record<string, string>> };
  readonly webhookDefaults: {
    readonly eventTypes: readonly string[];
    readonly retryProfile: RetryProfile;
    readonly maxConcurrency: number;
  };
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

export interface Member {
  readonly object: 'member';
  readonly id: string;
  readonly personId: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly status: string;
  readonly createdAt: Instant;
}

/** An invitation as the organization's admins see it; `url` only in the response to its creation. */
export interface Invitation extends Envelope {
  readonly object: 'invitation';
  readonly id: string;
  readonly email: string | null;
  readonly role: Role;
  readonly status: string;
  readonly expiresAt: Instant;
  readonly createdAt: Instant;
  readonly url?: string;
}

export interface ResetLink extends Envelope {
  readonly object: 'reset_link';
  readonly url: string;
  readonly expiresAt: Instant;
}

export interface Actor {
  readonly kind: 'api_key' | 'person' | 'system';
  readonly id: string | null;
  readonly name: string | null;
}

export interface AuditEntry {
  readonly object: 'audit_entry';
  readonly id: string;
  readonly at: Instant;
  readonly actor: Actor;
  readonly applicationId: string | null;
  readonly action: string;
  readonly resource: string | null;
  readonly resourceId: string | null;
  readonly requestId: string | null;
  readonly ip: string | null;
  readonly outcome: 'accepted' | 'refused';
  readonly code: string | null;
}

export interface AuditVerification extends Envelope {
  readonly object: 'audit_verification';
  readonly status: 'intact' | 'broken';
  readonly seals: number;
  readonly sealedRows: number;
  readonly unsealedRows: number;
  readonly head: string | null;
  readonly problems: readonly { readonly seal: number; readonly words: string }[];
  readonly checkedAt: Instant;
}

export interface ApiKey extends Envelope {
  readonly object: 'api_key';
  readonly id: string;
  readonly applicationId: string;
  readonly name: string;
  readonly lastFour: string;
  readonly scopes: readonly string[];
  readonly allowedCidrs: readonly string[] | null;
  readonly expiresAt: Instant | null;
  /** Whether it may reset the organization. */
  readonly mayReset: boolean;
  readonly lastUsedAt: Instant | null;
  readonly lastUsedIp: string | null;
  readonly status: 'active' | 'expired' | 'revoked';
  readonly createdAt: Instant;
  /** Only in the response to its creation. */
  readonly key?: string;
  readonly replaces?: string;
}

export interface RequestRecord extends Envelope {
  readonly object: 'request';
  readonly id: string;
  readonly at: Instant;
  readonly method: string;
  readonly path: string;
  readonly route: string | null;
  readonly httpStatus: number;
  readonly durationMs: number;
  readonly errorCode: string | null;
  readonly actor: Actor;
  readonly ip: string | null;
  readonly idempotencyKey: string | null;
  readonly isReplay: boolean;
  /** The fault plan that was applied to it. */
  readonly faultPlanId: string | null;
  readonly requestBody?: string | null;
  readonly responseBody?: string | null;
}

export interface RequestErrors extends Envelope {
  readonly object: 'request_errors';
  readonly groups: readonly {
    readonly code: string;
    readonly httpStatus: number;
    readonly count: number;
    readonly lastAt: Instant;
    readonly lastRequestId: string;
    readonly route: string | null;
  }[];
}

export interface TimelineItem {
  readonly kind: 'move' | 'event' | 'provider_event' | 'ledger_entry' | 'delivery' | 'request';
  readonly at: Instant;
  readonly requestId: string | null;
  readonly version: number | null;
  readonly id: string;
  readonly title: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Timeline extends Envelope {
  readonly object: 'timeline';
  readonly id: string;
  /** Newest first. */
  readonly items: readonly TimelineItem[];
  /** Older items are omitted. */
  readonly hasMore?: boolean;
}

export interface SearchHit {
  readonly kind:
    | 'payment'
    | 'customer'
    | 'transfer'
    | 'refund'
    | 'dispute'
    | 'webhook'
    | 'event'
    | 'delivery'
    | 'api_key'
    | 'request';
  readonly id: string;
  readonly title: string;
  readonly subtitle: string | null;
  readonly status: string | null;
}

export interface SearchResponse extends Envelope {
  readonly object: 'search';
  readonly hits: readonly SearchHit[];
}

export interface Overview extends Envelope {
  readonly object: 'overview';
  readonly from: Instant;
  readonly to: Instant;
  readonly bucketSeconds: number;
  readonly payments: {
    readonly byStatus: readonly { readonly status: string; readonly count: number }[];
    readonly volume: readonly {
      readonly at: Instant;
      readonly currency: string;
      readonly count: number;
      readonly amount: Sum;
    }[];
    readonly currencies: readonly string[];
  };
  readonly webhooks: {
    readonly byBucket: readonly {
      readonly at: Instant;
      readonly succeeded: number;
      readonly failed: number;
    }[];
    readonly succeeded: number;
    readonly failed: number;
    readonly pending: number;
  };
  readonly requests: {
    readonly byBucket: readonly {
      readonly at: Instant;
      readonly count: number;
      readonly clientErrors: number;
      readonly serverErrors: number;
      readonly p50Ms: number | null;
      readonly p95Ms: number | null;
    }[];
    readonly count: number;
    readonly errorRate: number;
    readonly p50Ms: number | null;
    readonly p95Ms: number | null;
    readonly notKept: number;
  };
}

export type Fault =
  | { readonly type: 'latency'; readonly delayMs: number }
  | { readonly type: 'error'; readonly code: string; readonly retryAfterSeconds?: number }
  | { readonly type: 'reset_connection' | 'lose_answer' | 'reorder' | 'drop' }
  | { readonly type: 'duplicate'; readonly copies: number }
  | { readonly type: 'delay'; readonly seconds: number };

export interface FaultPlan {
  readonly id: string;
  readonly status: 'active' | 'exhausted' | 'canceled';
  readonly on: 'requests' | 'webhooks';
  readonly fault: Fault;
  readonly count: number | null;
  readonly share: number | null;
  readonly seed: number;
  readonly operations: readonly string[] | null;
  readonly methods: readonly string[] | null;
  readonly eventTypes: readonly string[] | null;
  readonly seen: number;
  readonly applied: number;
  readonly createdAt: string;
}

export type CoverageKind = 'state' | 'move' | 'event' | 'operation' | 'error';

interface Share {
  readonly met: number;
  readonly total: number;
}

export interface CoverageItem {
  readonly name: string;
  readonly count: number;
}

export interface CoverageSection extends Share {
  readonly kind: CoverageKind;
  readonly items: readonly CoverageItem[];
}

export interface Coverage extends Envelope {
  readonly object: 'coverage';
  readonly summary: Share;
  readonly sections: readonly CoverageSection[];
}

export interface Reset extends Envelope {
  readonly object: 'reset';
  readonly deleted: Readonly<Record<string, number>>;
}

/** The result of a fork; no other response contains its keys and secrets. */
export interface Fork extends Envelope {
  readonly object: 'import';
  readonly organization: { readonly id: string; readonly name: string };
  readonly apiKeys: readonly { readonly id: string; readonly name: string; readonly key?: string }[];
  readonly webhooks: readonly { readonly id: string; readonly url: string; readonly secret?: string }[];
}
