import { Type } from 'typebox';
import type { DeliveryRow } from '../../kernel/delivery.ts';
import { deliveriesTable, deliveryStates } from '../../kernel/delivery.ts';
import {
  DeliveryDetail,
  DeliverySchema,
  presentDelivery,
  presentDeliveryDetail,
} from '../../kernel/delivery-shown.ts';
import { refuse } from '../../kernel/errors.ts';
import { isId } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { type ListQuery, listRequest, pageOf } from '../../kernel/list.ts';
import type { Route } from '../../kernel/route.ts';
import { idQuery, list, listQuery, text } from '../../kernel/schema.ts';
import { findDelivery, withHeld } from './store.ts';

const words = { tag: 'Webhooks', method: 'GET', scope: 'webhooks:read' } as const;

export const deliveryRoutes: readonly Route[] = [
  {
    ...words,
    operationId: 'listWebhookDeliveries',
    path: 'developer_api_webhook_deliveries',
    summary: 'List deliveries, newest first',
    query: listQuery(deliveryStates, {
      webhookId: idQuery('webhook'),
      eventId: idQuery('event'),
      eventType: Type.Optional(
        Type.String({
          ...text(limits.nameLengthMax),
          description: 'Only deliveries of events of this type.',
        }),
      ),
    }),
    response: list(DeliverySchema),
    responseName: 'DeliveryList',
    read: ({ reader, principal, query }) => {
      const { orgId } = principal;
      const filters = ['status', 'webhookId', 'eventId', 'eventType'] as const;
      const request = listRequest(deliveriesTable, 'delivery', filters, orgId, query as ListQuery);
      if (request === 'invalid_cursor') return refuse('invalid_cursor', { param: 'cursor' });
      return reader.rows<DeliveryRow>(request.statement, request.values).then(async (rows) => {
        const { rows: found, hasMore, nextCursor } = pageOf(rows, request.limit);
        const shown = await withHeld(reader, orgId, found);
        return { data: shown.map(presentDelivery), hasMore, nextCursor };
      });
    },
  },
  {
    ...words,
    operationId: 'retrieveWebhookDelivery',
    path: 'developer_api_webhook_deliveries/{id}',
    summary: 'Retrieve a delivery with every attempt, what was sent and what was answered',
    response: DeliveryDetail,
    responseName: 'DeliveryDetail',
    read: async ({ reader, principal, params }) => {
      const deliveryId = params.id ?? '';
      if (!isId('delivery', deliveryId)) return refuse('resource_not_found');
      const found = await findDelivery(reader, principal.orgId, deliveryId);
      if (!found) return refuse('resource_not_found');
      return presentDeliveryDetail(found.delivery, found.event, found.attempts);
    },
  },
];
