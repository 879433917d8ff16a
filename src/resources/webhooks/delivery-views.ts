import { Type } from 'typebox';
import type { Presented } from '../../kernel/envelope.ts';
import { type EventRow, eventPayload } from '../../kernel/event.ts';
import { limits } from '../../kernel/limits.ts';
import { instantToText, shownInstant } from '../../kernel/list.ts';
import { component, id, idQuery, listQuery, nullable, resource, Time, text } from '../../kernel/schema.ts';
import { type AttemptRow, type DeliveryRow, deliveryStates } from './delivery-table.ts';

/** The response schemas of deliveries: in lists without attempts, and a single one with its attempts. */
export const DeliverySchema = resource('delivery', deliveryStates, {
  id: id('delivery'),
  webhookId: id('webhook'),
  eventId: id('event'),
  eventType: Type.String(),
  trigger: Type.Enum(['event', 'replay', 'test']),
  replayId: nullable(id('replay')),
  attemptCount: Type.Integer({ minimum: 0 }),
  nextAttemptAt: nullable(Time),
  held: Type.Boolean({ description: 'Whether the delivery waits because its endpoint is disabled.' }),
  lastResponseStatus: nullable(Type.Integer()),
  lastError: nullable(Type.String()),
  faultPlanId: nullable(id('fault_plan')),
  createdAt: Time,
  updatedAt: Time,
});

export const DeliveryListQuery = listQuery(deliveryStates, {
  webhookId: idQuery('webhook'),
  eventId: idQuery('event'),
  eventType: Type.Optional(
    Type.String({
      ...text(limits.nameLengthMax),
      description: 'Only deliveries of events of this type.',
    }),
  ),
});

const Headers = nullable(Type.Record(Type.String(), Type.String(), component('HttpHeaders')));

const AttemptSchema = Type.Object({
  number: Type.Integer({ minimum: 1 }),
  at: Time,
  sentAt: Type.String({ format: 'date-time', description: 'Wall time, as in `webhook-timestamp`.' }),
  status: Type.Enum([...deliveryStates], { description: 'The delivery status after this attempt.' }),
  requestHeaders: Headers,
  responseStatus: nullable(Type.Integer()),
  responseHeaders: Headers,
  responseBody: nullable(Type.String({ description: 'The first 16 KiB.' })),
  durationMs: Type.Integer({ minimum: 0 }),
  error: nullable(Type.String()),
  faultPlanId: nullable(id('fault_plan', { description: 'The fault plan that hit this attempt.' })),
  bodiesCleared: Type.Boolean({ description: 'Headers and bodies were cleared because of their age.' }),
});

export const DeliveryDetail = Type.Object({
  ...DeliverySchema.properties,
  url: Type.String(),
  requestBody: Type.String({ description: 'The exact text that is signed and sent.' }),
  attempts: Type.Array(AttemptSchema),
});

/** A delivery, and whether its endpoint is disabled. */
export interface ShownDelivery extends DeliveryRow {
  readonly isHeld: boolean;
}

export function presentDelivery(row: ShownDelivery): Presented {
  const isPending = row.status === 'pending';
  return {
    object: 'delivery',
    sandbox: true,
    status: row.status,
    id: row.id,
    webhookId: row.webhookId,
    eventId: row.eventId,
    eventType: row.eventType,
    trigger: row.trigger,
    replayId: row.replayId,
    attemptCount: row.attempts,
    nextAttemptAt: isPending && !row.isHeld ? instantToText(Math.max(row.dueAt, row.createdAt)) : null,
    held: isPending && row.isHeld,
    lastResponseStatus: row.lastResponseStatus,
    lastError: row.lastError,
    faultPlanId: row.faultPlanId,
    createdAt: instantToText(row.createdAt),
    updatedAt: instantToText(row.updatedAt),
  };
}

export function presentDeliveryDetail(
  row: ShownDelivery & { readonly url: string },
  event: EventRow,
  attempts: readonly AttemptRow[],
): Presented {
  return {
    ...presentDelivery(row),
    url: row.url,
    requestBody: eventPayload(event),
    attempts: attempts.map(presentAttempt),
  };
}

function presentAttempt(row: AttemptRow) {
  return {
    number: row.number,
    at: instantToText(row.at),
    sentAt: shownInstant(row.sentAt),
    status: row.status,
    requestHeaders: row.requestHeaders,
    responseStatus: row.responseStatus,
    responseHeaders: row.responseHeaders,
    responseBody: row.responseBody,
    durationMs: row.durationMs,
    error: row.error,
    faultPlanId: row.faultPlanId,
    bodiesCleared: row.bodiesCleared,
  };
}
