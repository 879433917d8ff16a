import { type Static, Type } from 'typebox';
import type { EventType } from '../../kernel/event.ts';
import type { Route } from '../../kernel/route.ts';
import { strict } from '../../kernel/schema.ts';
import { DeliveryDetail } from './delivery-views.ts';
import { beginTest } from './test-event-commands.ts';

export function webhookTestRoutes(catalogue: readonly EventType[]): readonly Route[] {
  const TestBody = strict({
    type: Type.Optional(
      Type.Enum(
        catalogue.map(({ type }) => type),
        { description: 'Sends the example of this type; without it `webhook.tested` is sent.' },
      ),
    ),
  });
  const examples = new Map(catalogue.map(({ type, example }) => [type, example]));
  return [
    {
      operationId: 'testWebhook',
      method: 'POST',
      path: 'developer_api_webhooks/{id}/test',
      scope: 'webhooks:write',
      tag: 'Webhooks',
      summary: 'Send one real event to the endpoint and answer with what the receiver said',
      body: TestBody,
      bodyName: 'WebhookTest',
      isBodyOptional: true,
      response: DeliveryDetail,
      responseName: 'DeliveryDetail',
      target: 'webhook',
      command: beginTest,
      input: ({ params, body }) => {
        const { type } = body as Static<typeof TestBody>;
        // What tells of the endpoint itself shows the real one.
        const data = type === undefined || type === 'webhook.tested' ? undefined : examples.get(type);
        return { id: params.id ?? '', event: data && { type, data } };
      },
    },
  ];
}
