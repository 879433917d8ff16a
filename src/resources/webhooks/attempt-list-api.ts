import { Type } from 'typebox';
import { refuse } from '../../kernel/errors.ts';
import { instantToText, pageOf } from '../../kernel/list.ts';
import type { ConsoleRoute } from '../../kernel/route.ts';
import { component, list, nullable, Time } from '../../kernel/schema.ts';
import { findNewestAttempts, findRecordsOfEvents, type ListedAttempt } from './attempt-list-store.ts';
import { deliveryPageOf, withHeldFlag } from './delivery-store.ts';
import { deliveryStates } from './delivery-table.ts';
import { DeliveryListQuery, DeliverySchema, presentDelivery } from './delivery-views.ts';

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

/** The deliveries of an organization with the results of their attempts, in one request: for pages that follow them live. */
export const attemptListRoutes: readonly ConsoleRoute[] = [
  {
    operationId: 'listDeliveriesWithAttempts',
    method: 'GET',
    path: 'deliveries',
    role: 'viewer',
    level: 'application',
    summary: 'List deliveries with the results of their attempts, newest first',
    query: DeliveryListQuery,
    response: list(DeliveryWithAttempts),
    responseName: 'DeliveryWithAttemptsList',
    read: async ({ reader, principal, query }) => {
      const { orgId } = principal;
      const page = deliveryPageOf(principal, query);
      if (page === 'invalid_cursor') return refuse('invalid_cursor', { param: 'cursor' });
      const { rows, hasMore, nextCursor } = pageOf(await reader.page(page), page.limit - 1);
      const eventIds = rows.map(({ eventId }) => eventId);
      const [deliveries, attempts, records] = await Promise.all([
        withHeldFlag(reader, orgId, rows),
        findNewestAttempts(reader, orgId, rows),
        findRecordsOfEvents(reader, orgId, eventIds),
      ]);
      const data = deliveries.map((delivery) => ({
        ...presentDelivery(delivery),
        recordId: records.get(delivery.eventId) ?? delivery.eventId,
        attempts: (attempts.get(delivery.id) ?? []).map(presentOutcome),
      }));
      return { data, hasMore, nextCursor };
    },
  },
];

function presentOutcome(attempt: ListedAttempt) {
  const { number, at, status, responseStatus, receipt, durationMs, error } = attempt;
  return {
    ...{ number, status, responseStatus, durationMs, error },
    at: instantToText(at),
    signatureVerified: verifiedBy(receipt),
  };
}

/** Reads the response of an inbox: a receipt, or the refusal of an invalid signature. */
function verifiedBy(receipt: string | null): boolean | null {
  if (receipt === null) return null;
  try {
    const { object, signatureVerified, error } = JSON.parse(receipt) as Readonly<Record<string, unknown>>;
    if (object === 'inbox_receipt') return signatureVerified === true;
    return (error as { code?: unknown } | undefined)?.code === 'webhook_signature_invalid' ? false : null;
  } catch {
    return null;
  }
}
