import type { CommandKind, PreparedCommand } from '../../kernel/command.ts';
import { refuse } from '../../kernel/errors.ts';
import { type EventRow, presentEvent, requestedEvent } from '../../kernel/event.ts';
import { formatId, type Id } from '../../kernel/ids.ts';

export interface CreateEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Creates an event manually. Sandbank sends it to every endpoint that subscribes to its type, like any other event. */
export const createEvent: CommandKind<CreateEvent> = {
  name: 'webhook_events.create',
  success: 'created',
  reads: () => [],
  decide: (input, context) => {
    const event = requestedEvent(context, formatId('event', context.suffix), input);
    return {
      ok: true,
      changes: [],
      events: [event],
      answer: { resource: 'event', row: event, shown: presentEvent(event) },
    };
  },
};

export interface ReplayEvent {
  /** Undefined if it does not exist. */
  readonly event: EventRow | undefined;
  /** The receiving endpoints; undefined if the requested endpoint does not exist. */
  readonly targets: readonly Target[] | undefined;
}

export interface Target {
  readonly webhookId: Id<'webhook'>;
  /** The application of the endpoint. Retries use its clock. */
  readonly appId: Id<'application'>;
  /** The suffix of the delivery id. */
  readonly suffix: string;
}

/** Sends an event again with the same id. Its deliveries are new and have their own attempts. */
export const replayEvent: PreparedCommand<ReplayEvent> = {
  name: 'webhook_events.replay',
  success: 'ok',
  needsPrepare: true,
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
