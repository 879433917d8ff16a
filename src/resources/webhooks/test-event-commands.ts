import { type Accepted, accepted, type CommandKind } from '../../kernel/command.ts';
import type { Presented } from '../../kernel/envelope.ts';
import { requestedEvent } from '../../kernel/event.ts';
import { formatId } from '../../kernel/ids.ts';
import type { Instant } from '../../kernel/table.ts';
import { newDelivery } from './delivery-table.ts';
import { findFor, presentWebhook } from './machine.ts';

export interface BeginTest {
  readonly id: string;
  /** The event to send; null for the one that shows the endpoint itself. */
  readonly event: { readonly type: string; readonly data: Readonly<Record<string, unknown>> } | null;
  /** Wall time until which the sender of the test is believed to live. */
  readonly leaseUntil: Instant;
}

/** Longer than a receiver is waited for, and than the lease of the sender. */
const deadAfterMs = 60_000;

/**
 * The first command of a test: the event and its delivery are there before anything is sent, so that what a receiver sees is
 * never unknown here. The delivery is born claimed by the process that sends it.
 */
export const beginTest: CommandKind<BeginTest> = {
  name: 'webhooks.test',
  success: 'ok',
  retakenAfterMs: deadAfterMs,
  addressesEvents: true,
  reads: ({ id }) => [{ resource: 'webhook', id, lock: 'share' }],
  decide: ({ id, event, leaseUntil }, context, rows) => {
    const found = findFor('test', id, context, rows);
    if (!found.ok) return found;
    const { row: webhook } = found;
    const asked = event ?? {
      type: 'webhook.tested',
      data: presentWebhook(webhook),
    };
    const made = requestedEvent(
      { ...context, appId: webhook.appId },
      formatId('event', context.suffix),
      asked,
    );
    const delivery = newDelivery({
      orgId: context.orgId,
      id: formatId('delivery', context.suffix),
      appId: webhook.appId,
      webhookId: webhook.id,
      eventId: made.id,
      eventType: made.type,
      trigger: 'test',
      createdAt: context.now,
      leaseUntil,
      token: 1,
    });
    const answer: Accepted = accepted([], 'webhook', webhook);
    return {
      ...answer,
      events: [made],
      deliveries: [delivery],
      isInterim: true,
      fields: { test: { webhook, event: made, delivery } },
    };
  },
};

export interface ConcludeTest {
  readonly deliveryId: string;
  /** The delivery with its attempt, as it is now. */
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
