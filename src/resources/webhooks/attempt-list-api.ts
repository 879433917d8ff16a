import { Type } from 'typebox';
import { refuse } from '../../kernel/errors.ts';
import { instantToText, pageOf, pageQueryOf } from '../../kernel/list.ts';
import { applicationSubresourceHandler, type ConsoleRoute } from '../../kernel/route.ts';
import { component, list, nullable, pageQuery, strict, Time } from '../../kernel/schema.ts';
import { findNewestAttempts, findRecordsOfEvents, type ListedAttempt } from './attempt-list-store.ts';
import { withHeldFlag } from './delivery-store.ts';
import { deliveriesTable, deliveryStates } from './delivery-table.ts';
import { DeliverySchema, presentDelivery } from './delivery-views.ts';
import { webhooksTable } from './table.ts';

const AttemptOutcome = Type.Object(
  {
    number: Type.Integer({ minimum: 1 }),
    at: Time,
    status: Type.Enum([...deliveryStates]),
    responseStatus: nullable(Type.Integer()),
    durationMs: Type.Integer({ minimum: 0 }),
    error: nullable(Type.String()),
    signatureVerified: nullable(
      Type.Boolean({
        description: 'By the receipt of an inbox; null for other endpoints and without a response.',
      }),
    ),
  },
  component('AttemptOutcome'),
);

const DeliveryWithAttempts = Type.Object(
  {
    ...DeliverySchema.properties,
    recordId: Type.String({ description: 'The record that the event is about.' }),
    attempts: Type.Array(AttemptOutcome, { description: 'The newest ones, newest first.' }),
  },
  component('DeliveryWithAttempts'),
);

/** The deliveries to one endpoint with the results of their attempts, in one request: for pages that follow them live. */
export const attemptListRoutes: readonly ConsoleRoute[] = [
  {
    operationId: 'listDeliveriesOfWebhook',
    method: 'GET',
    path: 'webhooks/{id}/deliveries',
    role: 'viewer',
    level: 'application',
    summary: 'List the deliveries to an endpoint with the results of their attempts, newest first',
    query: strict(pageQuery),
    response: list(DeliveryWithAttempts),
    responseName: 'DeliveryWithAttemptsList',
    read: applicationSubresourceHandler('webhook', webhooksTable, async ({ reader, query }, webhook) => {
      const { orgId, id: webhookId } = webhook;
      const requested = { ...(query as object), webhookId };
      const page = pageQueryOf(deliveriesTable, 'delivery', ['webhookId'], orgId, requested);
      if (page === 'invalid_cursor') return refuse('invalid_cursor', { param: 'cursor' });
      const { rows, hasMore, nextCursor } = pageOf(await reader.page(page), page.limit - 1);
      const [deliveries, attempts, records] = await Promise.all([
        withHeldFlag(reader, orgId, rows),
        findNewestAttempts(
          reader,
          webhook,
          rows.map(({ id }) => id),
        ),
        findRecordsOfEvents(
          reader,
          orgId,
          rows.map(({ eventId }) => eventId),
        ),
      ]);
      const data = deliveries.map((delivery) => ({
        ...presentDelivery(delivery),
        recordId: records.get(delivery.eventId) ?? delivery.eventId,
        attempts: (attempts.get(delivery.id) ?? []).map(presentOutcome),
      }));
      return { data, hasMore, nextCursor };
    }),
  },
];

function presentOutcome(attempt: ListedAttempt) {
  const { number, at, status, responseStatus, responseBody, durationMs, error } = attempt;
  return {
    ...{ number, status, responseStatus, durationMs, error },
    at: instantToText(at),
    signatureVerified: verifiedBy(responseBody),
  };
}

/** Reads the response of an inbox: a receipt, or the refusal of an invalid signature. */
function verifiedBy(responseBody: string | null): boolean | null {
  if (responseBody === null) return null;
  try {
    const { object, signatureVerified, error } = JSON.parse(responseBody) as Readonly<
      Record<string, unknown>
    >;
    if (object === 'inbox_receipt') return signatureVerified === true;
    return (error as { code?: unknown } | undefined)?.code === 'webhook_signature_invalid' ? false : null;
  } catch {
    return null;
  }
}
