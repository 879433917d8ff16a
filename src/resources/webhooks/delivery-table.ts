import type { RequestedDelivery } from '../../kernel/command.ts';
import { type EventRow, matchesEventFilterSql } from '../../kernel/event.ts';
import type { Id } from '../../kernel/ids.ts';
import { defineTable, type Instant } from '../../kernel/table.ts';

export const deliveryStates = ['pending', 'succeeded', 'failed'] as const;

/**
 * The delivery of one event to one endpoint. It is created in the same transaction as the change that emits the event, and is
 * pending until the receiver responds with 2xx or the retry profile is exhausted. A replay is a separate delivery.
 */
export interface DeliveryRow {
  readonly orgId: Id<'organization'>;
  readonly id: Id<'delivery'>;
  readonly appId: Id<'application'>;
  readonly webhookId: Id<'webhook'>;
  readonly eventId: Id<'event'>;
  readonly eventType: string;
  readonly trigger: 'event' | 'replay' | 'test';
  readonly replayId: Id<'replay'> | null;
  readonly status: (typeof deliveryStates)[number];
  /** All attempts in the history. */
  readonly attempts: number;
  /** The attempts that count for the retry profile. An attempt that Sandbank aborted does not count. */
  readonly tries: number;
  /** By the application clock. */
  readonly dueAt: Instant;
  /** The end of the sending process's lease. Wall time. */
  readonly leaseUntil: Instant | null;
  /** The fencing token of the last claim. A process with an older token has lost the claim and must not write a result. */
  readonly token: number;
  readonly lastResponseStatus: number | null;
  readonly lastError: string | null;
  /** The fault plan that hit it. */
  readonly faultPlanId: Id<'fault_plan'> | null;
  /** Until when a `reorder` fault holds the delivery so that another one overtakes it. Wall time. */
  readonly heldUntil: Instant | null;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

export const deliveriesTable = defineTable<DeliveryRow>('deliveries', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  appId: 'text',
  webhookId: 'text',
  eventId: 'text',
  eventType: 'text',
  trigger: 'text',
  replayId: 'text',
  status: 'text',
  attempts: 'integer',
  tries: 'integer',
  dueAt: 'timestamptz',
  leaseUntil: 'timestamptz',
  token: 'integer',
  lastResponseStatus: 'integer',
  lastError: 'text',
  faultPlanId: 'text',
  heldUntil: 'timestamptz',
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
});

/** A first attempt is due at any clock time, even if the clock is set back later. */
export const dueImmediately: Instant = 0;

/** The row of a delivery that a command requests. */
export function newDelivery(requested: RequestedDelivery): DeliveryRow {
  return {
    replayId: null,
    status: 'pending',
    attempts: 0,
    tries: 0,
    dueAt: dueImmediately,
    leaseUntil: null,
    token: 0,
    lastResponseStatus: null,
    lastError: null,
    faultPlanId: null,
    heldUntil: null,
    updatedAt: requested.createdAt,
    ...requested,
  };
}

/** One request to a receiver and its result. */
export interface AttemptRow {
  readonly orgId: Id<'organization'>;
  readonly deliveryId: Id<'delivery'>;
  readonly number: number;
  readonly at: Instant;
  /** Wall time. */
  readonly sentAt: Instant;
  readonly requestHeaders: Readonly<Record<string, string>> | null;
  readonly responseStatus: number | null;
  readonly responseHeaders: Readonly<Record<string, string>> | null;
  readonly responseBody: string | null;
  readonly durationMs: number;
  readonly error: string | null;
  /** The delivery status after this attempt. */
  readonly status: DeliveryRow['status'];
  /** The clock advance that triggered it. */
  readonly requestId: Id<'request'> | null;
  /** The fault plan that hit it. */
  readonly faultPlanId: Id<'fault_plan'> | null;
  readonly bodiesCleared: boolean;
}

export const attemptsTable = defineTable<AttemptRow>(
  'delivery_attempts',
  ['org_id', 'delivery_id', 'number'],
  {
    orgId: 'text',
    deliveryId: 'text',
    number: 'integer',
    at: 'timestamptz',
    sentAt: 'timestamptz',
    requestHeaders: 'jsonb',
    responseStatus: 'integer',
    responseHeaders: 'jsonb',
    responseBody: 'text',
    durationMs: 'integer',
    error: 'text',
    status: 'text',
    requestId: 'text',
    faultPlanId: 'text',
    bodiesCleared: 'boolean',
  },
);

/** The fields of an event that are needed to find its subscribed endpoints. */
export type AnnouncedEvent = Pick<EventRow, 'orgId' | 'id' | 'appId' | 'type' | 'resourceId' | 'createdAt'>;

export const announcedTable = defineTable<AnnouncedEvent>('events', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  appId: 'text',
  type: 'text',
  resourceId: 'text',
  createdAt: 'timestamptz',
});

/** The endpoints `w` that can receive events, in SQL. The index `webhooks_not_deleted` has exactly these. */
export const isNotDeleted = `w.status <> 'deleted'`;

/** Whether the endpoint `w` subscribes to the event `e`, in SQL. An endpoint does not receive events about itself. */
export const wantsEvent = `${matchesEventFilterSql('w.event_types', 'e.type')} and w.id <> e.resource_id`;
