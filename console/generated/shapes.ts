// Generated from docs/openapi.json and the console routes by `npm run golden`. Do not edit.

import type {
  Capabilities,
  ClockAdvanced,
  Coverage,
  DeliveryDetail,
  DeliveryStatus,
  Examination,
  ExaminationStatus,
  FaultPlan,
  LedgerEntry,
  LoggedRequest,
  Scope,
  StateMachines,
} from '../../sdk/generated/shapes.ts';

export type * from '../../sdk/generated/shapes.ts';

export type Role = 'viewer' | 'developer' | 'admin' | 'owner';

export type RetryProfile = 'standard' | 'fast' | 'none';

export type InvitationStatus = 'pending' | 'accepted' | 'revoked';

export type ApiKeyStatus = 'active' | 'revoked';

export type SessionStatus = 'ok' | 'two_factor_required';

export interface Organization {
  object: 'organization';
  sandbox: true;
  requestId?: string;
  status: 'active';
  id: string;
  name: string;
  /** Members without a second factor have no access. */
  requiresTwoFactor: boolean;
  /** RFC 3339, UTC, with milliseconds. */
  createdAt: string;
  /** RFC 3339, UTC, with milliseconds. */
  updatedAt: string;
}

export interface OrganizationDeleted {
  object: 'organization';
  sandbox: true;
  requestId?: string;
  status: 'deleted';
  id: string;
  name: string;
  /** The number of deleted rows of each kind. */
  deleted: Record<string, number>;
}

export interface MemberList {
  object: 'list';
  sandbox: true;
  requestId: string;
  status: 'ok';
  data: Member[];
  hasMore: boolean;
  nextCursor: string | null;
}

export interface Member {
  object: 'member';
  sandbox: true;
  requestId?: string;
  status: 'active';
  id: string;
  personId: string;
  role: Role;
  /** RFC 3339, UTC, with milliseconds. */
  createdAt: string;
  name: string;
  email: string;
  /** Whether the person signs in with a second factor. */
  twoFactor: boolean;
}

export interface Membership {
  object: 'member';
  sandbox: true;
  requestId?: string;
  status: 'active' | 'removed';
  id: string;
  personId: string;
  role: Role;
  /** RFC 3339, UTC, with milliseconds. */
  createdAt: string;
  /** RFC 3339, UTC, with milliseconds. */
  updatedAt: string;
}

export interface ResetLink {
  object: 'reset_link';
  sandbox: true;
  requestId?: string;
  status: 'ok';
  id: string;
  /** RFC 3339, UTC, with milliseconds. */
  expiresAt: string;
  /** The link. Only the response to the creation has it. */
  url?: string;
}

export interface InvitationList {
  object: 'list';
  sandbox: true;
  requestId: string;
  status: 'ok';
  data: Invitation[];
  hasMore: boolean;
  nextCursor: string | null;
}

export interface Invitation {
  object: 'invitation';
  sandbox: true;
  requestId?: string;
  status: InvitationStatus;
  id: string;
  email: string | null;
  role: Role;
  /** RFC 3339, UTC, with milliseconds. */
  expiresAt: string;
  /** RFC 3339, UTC, with milliseconds. */
  createdAt: string;
  /** RFC 3339, UTC, with milliseconds. */
  updatedAt: string;
}

export interface InvitationWithLink {
  object: 'invitation';
  sandbox: true;
  requestId?: string;
  status: InvitationStatus;
  id: string;
  email: string | null;
  role: Role;
  /** RFC 3339, UTC, with milliseconds. */
  expiresAt: string;
  /** RFC 3339, UTC, with milliseconds. */
  createdAt: string;
  /** RFC 3339, UTC, with milliseconds. */
  updatedAt: string;
  /** The link. Only the response to the creation has it. */
  url?: string;
}

export interface ApplicationList {
  object: 'list';
  sandbox: true;
  requestId: string;
  status: 'ok';
  data: Application[];
  hasMore: boolean;
  nextCursor: string | null;
}

export interface Application {
  object: 'application';
  sandbox: true;
  requestId?: string;
  status: 'active' | 'archived';
  id: string;
  name: string;
  fee: {
    basisPoints: number;
    fixedAmount: number;
  };
  provider: 'meridian' | 'tidewater' | null;
  fx: {
    marginBasisPoints: number;
    rates: Record<string, string>;
  };
  webhookDefaults: {
    eventTypes: string[];
    retryProfile: RetryProfile;
    maxConcurrency: number;
  };
  /** RFC 3339, UTC, with milliseconds. */
  createdAt: string;
  /** RFC 3339, UTC, with milliseconds. */
  updatedAt: string;
}

export interface ApiKeyList {
  object: 'list';
  sandbox: true;
  requestId: string;
  status: 'ok';
  data: ListedApiKey[];
  hasMore: boolean;
  nextCursor: string | null;
}

export interface ListedApiKey {
  object: 'api_key';
  sandbox: true;
  requestId?: string;
  status: 'active' | 'revoked' | 'expired';
  id: string;
  applicationId: string;
  name: string;
  lastFour: string;
  scopes: Scope[];
  /** Empty if the key works from every network. */
  allowedCidrs: string[];
  expiresAt: string | null;
  /** Whether the key may reset the organization. */
  mayReset: boolean;
  replaces: string | null;
  replacedBy: string | null;
  /** RFC 3339, UTC, with milliseconds. */
  createdAt: string;
  /** RFC 3339, UTC, with milliseconds. */
  updatedAt: string;
  lastUsedAt: string | null;
  lastUsedIp: string | null;
}

export interface ApiKeyWithSecret {
  object: 'api_key';
  sandbox: true;
  requestId?: string;
  status: ApiKeyStatus;
  id: string;
  applicationId: string;
  name: string;
  lastFour: string;
  scopes: Scope[];
  /** Empty if the key works from every network. */
  allowedCidrs: string[];
  expiresAt: string | null;
  /** Whether the key may reset the organization. */
  mayReset: boolean;
  replaces: string | null;
  replacedBy: string | null;
  /** RFC 3339, UTC, with milliseconds. */
  createdAt: string;
  /** RFC 3339, UTC, with milliseconds. */
  updatedAt: string;
  /** The key. Only the response to its creation has it. */
  key?: string;
}

export interface ApiKey {
  object: 'api_key';
  sandbox: true;
  requestId?: string;
  status: ApiKeyStatus;
  id: string;
  applicationId: string;
  name: string;
  lastFour: string;
  scopes: Scope[];
  /** Empty if the key works from every network. */
  allowedCidrs: string[];
  expiresAt: string | null;
  /** Whether the key may reset the organization. */
  mayReset: boolean;
  replaces: string | null;
  replacedBy: string | null;
  /** RFC 3339, UTC, with milliseconds. */
  createdAt: string;
  /** RFC 3339, UTC, with milliseconds. */
  updatedAt: string;
}

export interface RequestErrors {
  object: 'request_errors';
  sandbox: true;
  requestId?: string;
  status: 'ok';
  hours: number;
  groups: RequestErrorGroup[];
}

export interface RequestErrorGroup {
  code: string;
  httpStatus: number;
  route: string;
  count: number;
  /** RFC 3339, UTC, with milliseconds. */
  lastAt: string;
  lastRequestId: string;
}

export interface AuditValues {
  object: 'audit_values';
  sandbox: true;
  requestId?: string;
  status: 'ok';
  /** The actors of the newest entries. */
  actors: {
    kind: 'api_key' | 'person' | 'system';
    id: string;
    name: string | null;
  }[];
  /** The actions of the newest entries. */
  actions: string[];
}

export interface Overview {
  object: 'overview';
  sandbox: true;
  requestId?: string;
  status: 'ok';
  /** The requested range, or the default. */
  range: '1h' | '24h' | '7d' | '30d';
  /** The requested time, or the default. */
  time: 'sandbox' | 'real';
  /** RFC 3339, UTC, with milliseconds. */
  from: string;
  /** RFC 3339, UTC, with milliseconds. */
  to: string;
  bucketSeconds: number;
  /** Whether the organization has no payment, transfer or customer. */
  isEmpty: boolean;
  payments: {
    byStatus: {
      status: string;
      count: number;
    }[];
    byBucket: {
      /** RFC 3339, UTC, with milliseconds. */
      at: string;
      status: string;
      count: number;
    }[];
    volume: {
      /** RFC 3339, UTC, with milliseconds. */
      at: string;
      currency: string;
      count: number;
      /** Signed minor units. A sum beyond 2^53 is a string, because a JSON number cannot represent it exactly. */
      amount: number | string;
    }[];
    currencies: string[];
    /** Payments dated after the range: the clock was set back, or another application is ahead. */
    ahead: number;
    /** Whether there are more records than are counted. */
    isCapped: boolean;
  };
  webhooks: {
    byBucket: {
      /** RFC 3339, UTC, with milliseconds. */
      at: string;
      /** Attempts that succeeded, in the bucket of their delivery. Every retry counts. */
      succeeded: number;
      /** Attempts that failed, in the bucket of their delivery. Every retry counts. */
      failed: number;
    }[];
    /** Attempts that succeeded, in the bucket of their delivery. Every retry counts. */
    succeeded: number;
    /** Attempts that failed, in the bucket of their delivery. Every retry counts. */
    failed: number;
    /** Pending deliveries. */
    pending: number;
    /** Whether there are more records than are counted. */
    isCapped: boolean;
  };
  requests: {
    /** Requests are always counted in real time. */
    from: string;
    /** RFC 3339, UTC, with milliseconds. */
    to: string;
    byBucket: {
      /** RFC 3339, UTC, with milliseconds. */
      at: string;
      count: number;
      clientErrors: number;
      serverErrors: number;
      p50Ms: number | null;
      p95Ms: number | null;
    }[];
    count: number;
    errorRate: number;
    p50Ms: number | null;
    p95Ms: number | null;
    /** Requests that were counted but not logged. */
    notKept: number;
  };
}

export interface Attention {
  object: 'attention';
  sandbox: true;
  requestId?: string;
  status: 'ok';
  /** Endpoints that the server disabled, and endpoints that fail. */
  webhooks: {
    id: string;
    applicationId: string;
    url: string;
    status: 'enabled' | 'disabled';
    disabledReason: 'requested' | 'gone' | 'failing' | null;
    /** Since when it fails, or when it was disabled. */
    since: string;
  }[];
  hasMoreWebhooks: boolean;
  /** Disputes that need a response, the earliest deadline first. */
  disputes: {
    id: string;
    amount: number;
    currency: string;
    /** RFC 3339, UTC, with milliseconds. */
    respondBy: string;
  }[];
  /** Of the newest 1000. */
  disputeCount: number;
  /** Of the newest 1000. */
  mismatchCount: number;
}

export interface Timeline {
  object: 'timeline';
  sandbox: true;
  requestId?: string;
  status: 'ok';
  /** The payment, transfer, refund or dispute. */
  id: string;
  nextAction: string | null;
  /** Newest first. */
  items: TimelineItem[];
  /** Whether older items are omitted. */
  hasMore: boolean;
}

export interface TimelineItem {
  kind: 'request' | 'move' | 'provider_event' | 'ledger_entry' | 'event' | 'delivery';
  /** RFC 3339, UTC, with milliseconds. */
  at: string;
  requestId: string;
  version: number | null;
  id: string;
  title: string;
  /** The fields of the item; they depend on `kind`. */
  data: Record<string, unknown>;
}

export interface Schedule {
  object: 'schedule';
  sandbox: true;
  requestId?: string;
  status: 'ok';
  /** RFC 3339, UTC, with milliseconds. */
  now: string;
  /** The next 100, in the order of their due times. */
  items: ScheduledItem[];
  /** How many are scheduled in total. */
  count: number;
  /** Whether there are more: counting stops at a maximum. */
  isMore: boolean;
}

export interface ScheduledItem {
  /** RFC 3339, UTC, with milliseconds. */
  at: string;
  kind: 'payment' | 'dispute' | 'transfer' | 'delivery';
  id: string;
  /** The transition that runs, or `attempt` for a delivery. */
  action: string;
  /** The amount of the record, or the event type of the delivery. */
  label: string;
}

export interface SearchResults {
  object: 'search';
  sandbox: true;
  requestId?: string;
  status: 'ok';
  hits: SearchHit[];
}

export interface SearchHit {
  kind:
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
  id: string;
  title: string;
  subtitle: string | null;
  status: string;
}

export interface StatusCounts {
  object: 'counts';
  sandbox: true;
  requestId?: string;
  status: 'ok';
  resource: 'payment' | 'refund' | 'dispute' | 'transfer' | 'customer';
  counts: {
    status: string;
    count: number;
    /** Whether there are more: counting stops at a maximum. */
    isMore: boolean;
  }[];
}

export interface CustomerNames {
  object: 'customer_names';
  sandbox: true;
  requestId?: string;
  status: 'ok';
  names: {
    id: string;
    name: string;
  }[];
}

export interface NextActions {
  object: 'next_actions';
  sandbox: true;
  requestId?: string;
  status: 'ok';
  /** Payments that do not exist are omitted. */
  payments: {
    id: string;
    nextAction: string | null;
  }[];
}

export interface TransferPreview {
  object: 'transfer_preview';
  sandbox: true;
  requestId?: string;
  status: 'ok';
  sourceAmount: number;
  feeAmount: number;
  totalAmount: number;
  targetAmount: number;
}

export interface WebhookStatistics {
  object: 'webhook_statistics';
  sandbox: true;
  requestId?: string;
  status: 'ok';
  webhookId: string;
  range: '1h' | '24h' | '7d' | '30d';
  /** RFC 3339, UTC, with milliseconds. */
  from: string;
  /** RFC 3339, UTC, with milliseconds. */
  to: string;
  bucketSeconds: number;
  buckets: WebhookStatisticsBucket[];
  /** Whether there were more attempts than are counted. */
  isCapped: boolean;
}

export interface WebhookStatisticsBucket {
  /** RFC 3339, UTC, with milliseconds. */
  at: string;
  succeeded: number;
  failed: number;
  byClass: {
    '2xx': number;
    '3xx': number;
    '4xx': number;
    '5xx': number;
    noResponse: number;
  };
  p50Ms: number | null;
  p95Ms: number | null;
}

export interface DeliveryWithAttemptsList {
  object: 'list';
  sandbox: true;
  requestId: string;
  status: 'ok';
  data: DeliveryWithAttempts[];
  hasMore: boolean;
  nextCursor: string | null;
}

export interface DeliveryWithAttempts {
  object: 'delivery';
  sandbox: true;
  requestId?: string;
  status: DeliveryStatus;
  id: string;
  webhookId: string;
  eventId: string;
  eventType: string;
  trigger: 'event' | 'replay' | 'test';
  replayId: string | null;
  attemptCount: number;
  nextAttemptAt: string | null;
  /** Whether the delivery waits because its endpoint is disabled. */
  held: boolean;
  lastResponseStatus: number | null;
  lastError: string | null;
  faultPlanId: string | null;
  /** RFC 3339, UTC, with milliseconds. */
  createdAt: string;
  /** RFC 3339, UTC, with milliseconds. */
  updatedAt: string;
  /** The record that the event is about. */
  recordId: string;
  /** The newest ones, newest first. */
  attempts: AttemptOutcome[];
}

export interface AttemptOutcome {
  number: number;
  /** RFC 3339, UTC, with milliseconds. */
  at: string;
  status: DeliveryStatus;
  responseStatus: number | null;
  durationMs: number;
  error: string | null;
  signatureVerified: boolean | null;
}

export interface ExaminationHistory {
  object: 'examination_history';
  sandbox: true;
  requestId?: string;
  status: 'ok';
  webhookId: string;
  /** Newest first. */
  examinations: ExaminationSummary[];
  report: Examination | null;
}

export interface ExaminationSummary {
  id: string;
  /** RFC 3339, UTC, with milliseconds. */
  at: string;
  status: ExaminationStatus;
  /** A: no findings. B: minor findings only. C: one or two major cases failed. D: three or more major cases failed. F: a critical case failed. */
  grade: 'A' | 'B' | 'C' | 'D' | 'F';
  score: number;
  /** Whether every requested case ran. */
  complete: boolean;
}

export interface Fork {
  object: 'import';
  sandbox: true;
  requestId?: string;
  status: 'ok';
  organization: {
    id: string;
    name: string;
  };
  applications: {
    id: string;
    name: string;
  }[];
  apiKeys: {
    id: string;
    name: string;
    /** The new key. Only the response to the fork has it. */
    key?: string;
  }[];
  webhooks: {
    id: string;
    url: string;
    /** The new secret. Only the response to the fork has it. */
    secret?: string;
  }[];
  /** The number of copied rows of each kind. */
  counts: Record<string, number>;
}

export interface Session {
  object: 'session';
  sandbox: true;
  requestId?: string;
  status: SessionStatus;
  person: {
    id: string;
    email: string;
    name: string;
    /** Whether the person signs in with a second factor. */
    twoFactor: boolean;
  } | null;
  organizations: {
    id: string;
    name: string;
    role: Role;
    /** Members without a second factor have no access. */
    requiresTwoFactor: boolean;
  }[];
  registration: 'closed' | 'open';
  publicUrl: string;
  apiVersion: string;
  /** For account forms. Without a session there are no capabilities to read the limits from. */
  limits: {
    nameLengthMax: number;
    passwordLengthMin: number;
    passwordLengthMax: number;
  };
  /** The browser sent the cookie of a session that is not valid any more. */
  hasEnded?: boolean;
  /** The organization that the person joined with this request. */
  joined?: string;
}

export interface DeviceSession {
  object: 'device_session';
  sandbox: true;
  requestId?: string;
  status: 'active';
  id: string;
  /** RFC 3339, UTC, with milliseconds. */
  createdAt: string;
  /** RFC 3339, UTC, with milliseconds. */
  lastSeenAt: string;
  /** RFC 3339, UTC, with milliseconds. */
  expiresAt: string;
  ip: string | null;
  userAgent: string | null;
  isCurrent: boolean;
}

export interface DeviceSessionList {
  object: 'list';
  sandbox: true;
  requestId: string;
  status: 'ok';
  data: DeviceSession[];
  hasMore: boolean;
  nextCursor: string | null;
}

export interface TwoFactor {
  object: 'two_factor';
  sandbox: true;
  requestId?: string;
  status: 'pending';
  /** For the QR code of an authenticator app. */
  uri: string;
  secret: string;
  backupCodes: string[];
}

export interface BackupCodes {
  object: 'backup_codes';
  sandbox: true;
  requestId?: string;
  status: 'ok';
  backupCodes: string[];
}

export interface AccountEvent {
  object: 'account_event';
  sandbox: true;
  requestId?: string;
  status: 'ok';
  id: string;
  /** RFC 3339, UTC, with milliseconds. */
  at: string;
  action: string;
  ip: string | null;
  userAgent: string | null;
}

export interface AccountEventList {
  object: 'list';
  sandbox: true;
  requestId: string;
  status: 'ok';
  data: AccountEvent[];
  hasMore: boolean;
  nextCursor: string | null;
}

export interface Passkey {
  object: 'passkey';
  sandbox: true;
  requestId?: string;
  status: 'active';
  id: string;
  name: string;
  /** RFC 3339, UTC, with milliseconds. */
  createdAt: string;
}

export interface PasskeyList {
  object: 'list';
  sandbox: true;
  requestId: string;
  status: 'ok';
  data: Passkey[];
  hasMore: boolean;
  nextCursor: string | null;
}

export interface PasskeyOptions {
  object: 'passkey_options';
  sandbox: true;
  requestId?: string;
  status: 'ok';
  /** The options of the WebAuthn API, as JSON. */
  options: unknown;
}

export interface WebhookSecret {
  object: 'webhook_secret';
  sandbox: true;
  requestId?: string;
  status: 'ok';
  webhookId: string;
  secret: string;
}

export interface InvitationOffer {
  object: 'invitation';
  sandbox: true;
  requestId?: string;
  status: 'pending';
  organizationName: string;
  role: Role;
  email: string | null;
  /** RFC 3339, UTC, with milliseconds. */
  expiresAt: string;
}

/** The limits that the capabilities have. */
export type LimitName =
  | 'bodyBytesMax'
  | 'jsonDepthMax'
  | 'amountMin'
  | 'amountMax'
  | 'listLimitMin'
  | 'listLimitMax'
  | 'listLimitDefault'
  | 'metadataKeysMax'
  | 'metadataKeyLengthMax'
  | 'metadataValueLengthMax'
  | 'idempotencyKeyLengthMax'
  | 'idempotencyKeptHours'
  | 'secretReplayMinutes'
  | 'cursorLengthMax'
  | 'searchLengthMax'
  | 'rowsSearchedMax'
  | 'descriptionLengthMax'
  | 'referenceLengthMax'
  | 'nameLengthMax'
  | 'emailLengthMax'
  | 'phoneLengthMax'
  | 'scenarioListMax'
  | 'reasonLengthMax'
  | 'reasonCodeLengthMax'
  | 'paymentAttemptsMax'
  | 'authorizationDays'
  | 'disputeResponseDays'
  | 'beneficiaryAccountLengthMax'
  | 'quoteMinutes'
  | 'fundingHours'
  | 'feeBasisPointsMax'
  | 'fxMarginMax'
  | 'fxRatesMax'
  | 'csvLinesMax'
  | 'clockAdvanceMsMax'
  | 'clockAdvanceStepsMax'
  | 'clockAheadDaysMax'
  | 'webhookUrlLengthMax'
  | 'webhookEventTypesMax'
  | 'webhooksPerApplicationMax'
  | 'webhooksPerHostMax'
  | 'webhookConcurrencyMax'
  | 'webhookConcurrencyDefault'
  | 'webhookHostConcurrencyPerOrganizationMax'
  | 'webhookHostConcurrencyMax'
  | 'webhookSecretBytesMin'
  | 'webhookSecretBytesMax'
  | 'webhookOverlapSecondsDefault'
  | 'webhookOverlapSecondsMax'
  | 'webhookTimeoutMs'
  | 'webhookResponseBytesMax'
  | 'webhookHeadersMax'
  | 'webhookFailingDays'
  | 'webhookPendingCountMax'
  | 'webhookHeaderNameLengthMax'
  | 'webhookHeaderValueLengthMax'
  | 'inboxDelayMsMax'
  | 'inboxBodyBytesMax'
  | 'examinationMsMax'
  | 'examinationAtOnceMax'
  | 'organizationsPerPersonMax'
  | 'applicationsMax'
  | 'apiKeysPerApplicationMax'
  | 'apiKeyNetworksMax'
  | 'apiKeyOverlapSecondsDefault'
  | 'apiKeyOverlapSecondsMax'
  | 'membersMax'
  | 'invitationsPendingMax'
  | 'invitationDays'
  | 'passwordLengthMin'
  | 'passwordLengthMax'
  | 'replayStepMax'
  | 'replayEventsInStepMax'
  | 'requestErrorHoursMax'
  | 'faultPlansActiveMax'
  | 'faultCountMax'
  | 'faultShareMax'
  | 'faultSeedMax'
  | 'faultDelayMsMax'
  | 'faultRetryAfterSecondsMax'
  | 'faultCopiesMax'
  | 'faultDelaySecondsMax'
  | 'faultHoldMsMax'
  | 'evidenceKeysMax'
  | 'evidenceValueLengthMax';

export type Actor = LoggedRequest['actor'];

export type Attempt = DeliveryDetail['attempts'][number];

export type CoverageItem = Coverage['sections'][number]['items'][number];

export type CoverageKind = Coverage['sections'][number]['kind'];

export type CoverageSection = Coverage['sections'][number];

export type Currency = Capabilities['currencies'][number];

export type Effect = ClockAdvanced['happened'][number];

export type ExaminedCase = Examination['cases'][number];

export type Fault = FaultPlan['fault'];

export type Person = NonNullable<Session['person']>;

export type Posting = LedgerEntry['postings'][number];

export type Severity = ExaminedCase['severity'];

export type StateMachine = StateMachines['machines'][number];
