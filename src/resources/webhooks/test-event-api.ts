import { Type } from 'typebox';
import type { EventType } from '../../kernel/event.ts';
import { idFrom } from '../../kernel/ids.ts';
import type { Route } from '../../kernel/route.ts';
import { strict } from '../../kernel/schema.ts';
import { writeRoute } from '../../kernel/write-route.ts';
import { DeliveryDetail } from './delivery-views.ts';
import { beginTest } from './test-event-commands.ts';

export function webhookTestRoutes(catalogue: readonly EventType[]): readonly Route[] {
  const TestBody = strict({
    type: Type.Optional(
      Type.Enum(
        catalogue.map(({ type }) => type),
        { description: 'Sends the example event of this type. Default: `webhook.tested`.' },
      ),
    ),
  });
  const examples = new Map(catalogue.map(({ type, example }) => [type, example]));
  return [
    writeRoute({
      operationId: 'testWebhook',
      method: 'POST',
      path: 'developer_api_webhooks/{id}/test',
      scope: 'webhooks:write',
      tag: 'Webhooks',
      summary: "Send one real event to the endpoint and return the receiver's response",
      body: TestBody,
      bodyName: 'WebhookTest',
      isBodyOptional: true,
      response: DeliveryDetail,
      responseName: 'DeliveryDetail',
      target: 'webhook',
      command: beginTest,
      input: ({ params, body }) => {
        // The data of `webhook.tested` is the endpoint itself, not an example.
        const { type = 'webhook.tested' } = body;
        const data = type === 'webhook.tested' ? undefined : examples.get(type);
        return { id: idFrom('webhook', params.id), event: data ? { type, data } : null };
      },
      prepare: ({ requested, request }, { runs }) => runs.testWebhook(requested, request),
    }),
  ];
}
