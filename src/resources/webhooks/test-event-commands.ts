import { accepted, type CommandKind, type PreparedCommand } from '../../kernel/command.ts';
import type { Presented } from '../../kernel/envelope.ts';
import { type EventRow, requestedEvent } from '../../kernel/event.ts';
import { formatId, type Id } from '../../kernel/ids.ts';
import type { Instant } from '../../kernel/table.ts';
import { minuteMs } from '../../kernel/time.ts';
import { type DeliveryRow, newDelivery } from './delivery-table.ts';
import { findFor, presentWebhook } from './machine.ts';
import type { WebhookRow } from './table.ts';

export interface BeginTest {
  readonly id: Id<'webhook'>;
  /** The event to send; null for `webhook.tested`, whose data is the endpoint itself. */
  readonly event: { readonly type: string; readonly data: Readonly<Record<string, unknown>> } | null;
  /** The end of the sender's lease. Wall time. */
  readonly leaseUntil: Instant;
}

/** The rows that the sender needs. */
export interface BegunTest {
  readonly webhook: WebhookRow;
  readonly event: EventRow;
  readonly delivery: DeliveryRow;
}

/** Longer than the receiver timeout and the sender's lease. */
const deadAfterMs = minuteMs;

/**
 * The first command of a test: stores the event and its delivery before anything is sent, so that a receiver never sees an
 * unknown event. The process that sends the delivery claims it on creation.
 */
export const beginTest: PreparedCommand<BeginTest, BegunTest> = {
  name: 'webhooks.test',
  success: 'ok',
  needsPrepare: true,
  retakenAfterMs: deadAfterMs,
  addressesEvents: true,
  reads: ({ id }) => [{ resource: 'webhook', id, lock: 'share' }],
  decide: ({ id, event, leaseUntil }, context, rows) => {
    const found = findFor('test', id, context, rows);
    if (!found.ok) return found;
    const { row: webhook } = found;
    const requested = event ?? {
      type: 'webhook.tested',
      data: presentWebhook(webhook),
    };
    const testEvent = requestedEvent(
      { ...context, appId: webhook.appId },
      formatId('event', context.suffix),
      requested,
    );
    const delivery = newDelivery({
      orgId: context.orgId,
      id: formatId('delivery', context.suffix),
      appId: webhook.appId,
      webhookId: webhook.id,
      eventId: testEvent.id,
      eventType: testEvent.type,
      trigger: 'test',
      createdAt: context.now,
      leaseUntil,
      token: 1,
    });
    return {
      ...accepted([], 'webhook', webhook),
      events: [testEvent],
      deliveries: [delivery],
      isInterim: true,
      result: { webhook, event: testEvent, delivery },
    };
  },
};

export interface ConcludeTest {
  readonly deliveryId: Id<'delivery'>;
  /** The current delivery with its attempt. */
  readonly shown: Presented;
}

export const concludeTest: CommandKind<ConcludeTest> = {
  name: 'webhooks.conclude_test',
  success: 'ok',
  concludes: true,
  reads: () => [],
  decide: ({ deliveryId, shown }, { orgId }) => ({
    ok: true,
    changes: [],
    answer: { resource: 'delivery', row: { orgId, id: deliveryId }, shown },
  }),
};
