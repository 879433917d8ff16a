import type { RequestedDelivery } from '../../kernel/command.ts';
import type { EventRow } from '../../kernel/event.ts';
import { defineTable, type Instant } from '../../kernel/table.ts';

export const deliveryStates = ['pending', 'succeeded', 'failed'] as const;

/**
 * One event on its way to one endpoint. It is made with the change that it tells of, and is pending until the receiver has
 * answered with a 2xx or the attempts of its retry profile are used up. A replay is a delivery of its own.
 */
export interface DeliveryRow {
  readonly orgId: string;
  readonly id: string;
  readonly appId: string;
  readonly webhookId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly trigger: 'event' | 'replay' | 'test';
  readonly replayId: string | null;
  readonly status: (typeof deliveryStates)[number];
  /** All that are in the history. */
  readonly attempts: number;
  /** Those that count for the retry profile: one that was cut short by us does not. */
  readonly tries: number;
  /** By the clock of the application. */
  readonly dueAt: Instant;
  /** Wall time until which the process that sends it is believed to live. */
  readonly leaseUntil: Instant | null;
  /** The number of its last claim. Whoever has another one has lost it, and may not write what came of it. */
  readonly token: number;
  readonly lastResponseStatus: number | null;
  readonly lastError: string | null;
  /** The fault plan that hit it. */
  readonly faultPlanId: string | null;
  /** Wall time until which it waits to be overtaken by another one, as a fault plan has it. */
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

/** A first attempt is due whatever the clock says, also when it is put back afterwards. */
export const atOnce: Instant = 0;

/** The row of a delivery that a command requests. */
export function newDelivery(requested: RequestedDelivery): DeliveryRow {
  return {
    replayId: null,
    status: 'pending',
    attempts: 0,
    tries: 0,
    dueAt: atOnce,
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

/** One request to a receiver and what came of it. */
export interface AttemptRow {
  readonly orgId: string;
  readonly deliveryId: string;
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
  /** Where the delivery stood after it. */
  readonly status: DeliveryRow['status'];
  /** The advance of the clock that it was part of. */
  readonly requestId: string | null;
  /** The fault plan that hit it. */
  readonly faultPlanId: string | null;
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

/** What is needed of an event to find the endpoints that want it. */
export type AnnouncedEvent = Pick<EventRow, 'orgId' | 'id' | 'appId' | 'type' | 'resourceId' | 'createdAt'>;

export const announcedTable = defineTable<AnnouncedEvent>('events', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  appId: 'text',
  type: 'text',
  resourceId: 'text',
  createdAt: 'timestamptz',
});

/** The same in SQL: whether the endpoint `w` wants the event `e`. An endpoint is not told of itself. */
export const wantsEvent =
  "w.event_types ?| array['*', e.type, split_part(e.type, '.', 1) || '.*'] and w.id <> e.resource_id";
