import { reachesApplication } from '../../kernel/command.ts';
import { refuse } from '../../kernel/errors.ts';
import { isId } from '../../kernel/ids.ts';
import { pageOf } from '../../kernel/list.ts';
import type { Route } from '../../kernel/route.ts';
import { list } from '../../kernel/schema.ts';
import { deliveryPageOf, findDelivery, withHeldFlag } from './delivery-store.ts';
import {
  DeliveryDetail,
  DeliveryListQuery,
  DeliverySchema,
  presentDelivery,
  presentDeliveryDetail,
} from './delivery-views.ts';

const meta = { tag: 'Webhooks', method: 'GET', scope: 'webhooks:read' } as const;

export const deliveryRoutes: readonly Route[] = [
  {
    ...meta,
    operationId: 'listWebhookDeliveries',
    path: 'developer_api_webhook_deliveries',
    summary: 'List deliveries to the webhook endpoints of the application, newest first',
    query: DeliveryListQuery,
    response: list(DeliverySchema),
    responseName: 'DeliveryList',
    read: ({ reader, principal, query }) => {
      const { orgId } = principal;
      const request = deliveryPageOf(principal, query);
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
