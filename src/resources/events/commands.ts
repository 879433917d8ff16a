import type { CommandKind } from '../../kernel/command.ts';
import { refuse } from '../../kernel/errors.ts';
import { type EventRow, presentEvent, requestedEvent } from '../../kernel/event.ts';
import { formatId } from '../../kernel/ids.ts';

export interface CreateEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** An event by hand. It goes to whoever wants its type, as if something had happened. */
export const createEvent: CommandKind<CreateEvent> = {
  name: 'webhook_events.create',
  success: 'created',
  reads: () => [],
  decide: (asked, context) => {
    const event = requestedEvent(context, formatId('event', context.suffix), asked);
    return {
      ok: true,
      changes: [],
      events: [event],
      answer: { resource: 'event', row: event, shown: presentEvent(event) },
    };
  },
};

export interface ReplayEvent {
  /** Undefined when there is none. */
  readonly event: EventRow | undefined;
  /** The endpoints that it goes to; undefined when the one that was named is not there. */
  readonly targets: readonly Target[] | undefined;
}

export interface Target {
  readonly webhookId: string;
  /** The application of the endpoint, whose clock its retries go by. */
  readonly appId: string;
  /** The suffix of the delivery's id. */
  readonly suffix: string;
}

/** The same event again, under the same id. Its deliveries are new ones, with attempts of their own. */
export const replayEvent: CommandKind<ReplayEvent> = {
  name: 'webhook_events.replay',
  success: 'ok',
  replaysEvents: true,
  reads: () => [],
  decide: ({ event, targets }, { orgId, now }) => {
    if (!event) return refuse('resource_not_found');
    if (!targets) return refuse('webhook_not_found', { param: '/webhookId' });
    // From here it must succeed.
    const deliveries = targets.map(({ webhookId, appId, suffix }) => ({
      orgId,
      id: formatId('delivery', suffix),
      appId,
      webhookId,
      eventId: event.id,
      eventType: event.type,
      trigger: 'replay' as const,
      createdAt: now,
    }));
    return {
      ok: true,
      changes: [],
      deliveries,
      answer: {
        resource: 'event',
        row: event,
        shown: {
          object: 'replay',
          sandbox: true,
          status: 'completed',
          eventId: event.id,
          matched: deliveries.length,
          replayed: deliveries.length,
          deliveryIds: deliveries.map(({ id }) => id),
        },
      },
    };
  },
};
