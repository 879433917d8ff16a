import type { Command } from 'commander';
import type { DeliveryDetail, ListWebhookDeliveriesQuery } from '../../sdk/client.ts';
import { declare, group } from '../declare.ts';
import { fieldValues } from '../generated/values.ts';
import { fields, table } from '../layout.ts';
import { type PageOptions, pageOptions, showPage, withoutUndefined } from '../paging.ts';
import { choice } from '../reading.ts';
import { replayedText } from './events.ts';

interface ListOptions extends PageOptions {
  readonly status?: string;
  readonly webhook?: string;
  readonly event?: string;
  readonly type?: string;
}

export function addDeliveries(program: Command): void {
  const deliveries = group(program, 'deliveries', 'Inspect and retry webhook deliveries');
  declare<ListOptions>(deliveries, 'list', {
    summary: 'List webhook deliveries, newest first',
    options: [
      [
        '--status <state>',
        'pending, succeeded or failed',
        choice(...fieldValues.listWebhookDeliveries.status),
      ],
      ['--webhook <id>', 'only to this endpoint'],
      ['--event <id>', 'only of this event'],
      ['--type <type>', 'only of this event type', choice(...fieldValues.listWebhookEvents.type)],
      ...pageOptions,
    ],
    examples: [['deliveries list --status failed'], ['deliveries list --event evt_... --json']],
    run: async (session, { status, webhook, event, type, limit, cursor }) => {
      const filter = { status, webhookId: webhook, eventId: event, eventType: type, limit, cursor };
      const query = withoutUndefined(filter) as ListWebhookDeliveriesQuery;
      const pages = (await session.sandbank()).deliveries.list(query);
      const head = [
        'DELIVERY',
        'STATUS',
        'EVENT TYPE',
        'ENDPOINT',
        'ATTEMPTS',
        'LAST RESPONSE',
        'NEXT ATTEMPT',
      ];
      await showPage(session.out, pages, head, (one) => [
        one.id,
        one.status,
        one.eventType,
        one.webhookId,
        String(one.attemptCount),
        String(one.lastResponseStatus ?? one.lastError ?? '-'),
        nextAttempt(one) ?? '-',
      ]);
      return undefined;
    },
  });
  declare(deliveries, 'get <id>', {
    summary: 'Show a delivery with every attempt; --json adds the headers and bodies',
    examples: [['deliveries get dlv_...'], ["deliveries get dlv_... --json | jq '.attempts[].responseBody'"]],
    run: async (session, _options, id = '') => {
      const delivery = await (await session.sandbank()).deliveries.retrieve(id);
      session.out.show(delivery, () => deliveryText(delivery));
      return undefined;
    },
  });
  declare(deliveries, 'retry <id>', {
    summary: 'Send the event of a delivery to its endpoint again, as a new delivery',
    examples: [['deliveries retry dlv_...']],
    run: async (session, _options, id = '') => {
      const sandbank = await session.sandbank();
      const { eventId, webhookId } = await sandbank.deliveries.retrieve(id);
      const replay = await sandbank.events.replay(eventId, { webhookId });
      session.out.show(replay, () => replayedText(replay));
      return undefined;
    },
  });
}

type Scheduled = Pick<DeliveryDetail, 'held' | 'nextAttemptAt'>;

function nextAttempt({ held, nextAttemptAt }: Scheduled): string | undefined {
  return held ? 'when the endpoint is enabled' : (nextAttemptAt ?? undefined);
}

function deliveryText(delivery: DeliveryDetail): string {
  const { id, status, eventId, eventType, webhookId, url, trigger, attempts } = delivery;
  const facts = fields([
    ['delivery', id],
    ['status', status],
    ['event', `${eventId} (${eventType})`],
    ['endpoint', `${webhookId} (${url})`],
    ['trigger', trigger],
    ['next attempt', nextAttempt(delivery)],
  ]);
  if (attempts.length === 0) return facts;
  const rows = attempts.map((one) => [
    String(one.number),
    one.at,
    String(one.responseStatus ?? one.error ?? '-'),
    `${one.durationMs} ms`,
  ]);
  return `${facts}\n\n${table(['ATTEMPT', 'AT', 'RESPONSE', 'DURATION'], rows)}`;
}
