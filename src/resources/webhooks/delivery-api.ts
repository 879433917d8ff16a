import { Type } from 'typebox';
import { reachesApplication } from '../../kernel/command.ts';
import { refuse } from '../../kernel/errors.ts';
import { isId } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { pageOf, pageQueryOf } from '../../kernel/list.ts';
import { type Route, withinReach } from '../../kernel/route.ts';
import { idQuery, list, listQuery, text } from '../../kernel/schema.ts';
import { findDelivery, withHeldFlag } from './delivery-store.ts';
import { deliveriesTable, deliveryStates } from './delivery-table.ts';
import { DeliveryDetail, DeliverySchema, presentDelivery, presentDeliveryDetail } from './delivery-views.ts';

const meta = { tag: 'Webhooks', method: 'GET', scope: 'webhooks:read' } as const;

export const deliveryRoutes: readonly Route[] = [
  {
    ...meta,
    operationId: 'listWebhookDeliveries',
    path: 'developer_api_webhook_deliveries',
    summary: 'List deliveries to the webhook endpoints of the application, newest first',
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
      const filters = ['appId', 'status', 'webhookId', 'eventId', 'eventType'] as const;
      const own = withinReach(principal, query);
      const request = pageQueryOf(deliveriesTable, 'delivery', filters, orgId, own);
      if (request === 'invalid_cursor') return refuse('invalid_cursor', { param: 'cursor' });
      return reader.page(request).then(async (rows) => {
        const { rows: found, hasMore, nextCursor } = pageOf(rows, request.limit - 1);
        const deliveries = await withHeldFlag(reader, orgId, found);
        return { data: deliveries.map(presentDelivery), hasMore, nextCursor };
      });
    },
  },
  {
    ...meta,
    operationId: 'retrieveWebhookDelivery',
    path: 'developer_api_webhook_deliveries/{id}',
    summary: 'Retrieve a delivery with its attempts, each with request and response',
    response: DeliveryDetail,
    responseName: 'DeliveryDetail',
    read: async ({ reader, principal, params }) => {
      const deliveryId = params.id ?? '';
      if (!isId('delivery', deliveryId)) return refuse('resource_not_found');
      const found = await findDelivery(reader, principal.orgId, deliveryId);
      if (!found || !reachesApplication(principal, found.delivery.appId)) return refuse('resource_not_found');
      return presentDeliveryDetail(found.delivery, found.event, found.attempts);
    },
  },
];
