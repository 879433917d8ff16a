import { type Static, Type } from 'typebox';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import { type EventType, matchesEventFilter, presentEvent } from '../../kernel/event.ts';
import { idFrom, isId } from '../../kernel/ids.ts';
import { type EventFilter, listHandler, type Route } from '../../kernel/route.ts';
import { id, list, resource, strict, Time, trailQuery } from '../../kernel/schema.ts';
import { writeRoute } from '../../kernel/write-route.ts';
import { createEvent, replayEvent } from './commands.ts';
import { prepareReplayEvent } from './prepare.ts';
import { findEvent } from './store.ts';
import { eventsTable } from './table.ts';

export const EventSchema = resource('event', ['ok'], {
  id: id('event'),
  type: Type.String(),
  apiVersion: Type.String(),
  timestamp: Time,
  sequence: Type.Integer({
    minimum: 1,
    description: 'Increases with every event of a record.',
  }),
  applicationId: id('application'),
  resource: Type.String(),
  resourceId: Type.String(),
  originRequestId: Type.String({ description: 'The request that caused the event.' }),
  data: Type.Record(Type.String(), Type.Unknown(), { description: 'The record at the time of the event.' }),
  createdAt: Time,
});

const ReplaySchema = resource('replay', ['completed'], {
  eventId: id('event'),
  matched: Type.Integer({ minimum: 0 }),
  replayed: Type.Integer({ minimum: 0 }),
  deliveryIds: Type.Array(id('delivery')),
});

const ReplayBody = strict({
  webhookId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description:
        'Only to this endpoint, regardless of its filter. If absent, to all endpoints that subscribe to the type.',
    }),
  ),
});

const filtersLengthMax = 4_000;

const meta = { tag: 'Webhooks', response: EventSchema, responseName: 'Event' } as const;

/** Lists in a query are separated by commas, because no filter contains one. */
const StreamQuery = strict({
  eventTypes: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: filtersLengthMax,
      description: 'Event filters as in an endpoint, separated by commas: `payment.*,transfer.completed`.',
    }),
  ),
});

function filterOf(known: ReadonlySet<string>, query: unknown): EventFilter | Refusal {
  const { eventTypes = '*' } = query as Static<typeof StreamQuery>;
  const filters = [...new Set(eventTypes.split(','))];
  const unknown = filters.find((one) => !known.has(one));
  if (unknown !== undefined)
    return refuse('invalid_request', {
      message: `eventTypes contains ${JSON.stringify(unknown)}. Use event types, all events of a resource such as \`payment.*\`, or \`*\`.`,
      param: 'eventTypes',
    });
  return (type) => matchesEventFilter(filters, type);
}

export function eventRoutes(catalogue: readonly EventType[], filters: readonly string[]): readonly Route[] {
  const known = new Set(filters);
  const types = catalogue.map(({ type }) => type);
  const examples = new Map(catalogue.map(({ type, example }) => [type, example]));
  const CreateBody = strict({
    type: Type.Enum(types),
    data: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Sent unchanged. If absent, the example of the type is sent.',
      }),
    ),
  });
  return [
    writeRoute({
      ...meta,
      operationId: 'createWebhookEvent',
      method: 'POST',
      path: 'developer_api_webhook_events',
      scope: 'webhooks:write',
      summary:
        'Create an event manually with custom data; it is sent to all endpoints that subscribe to its type',
      body: CreateBody,
      bodyName: 'EventCreate',
      target: null,
      command: createEvent,
      input: ({ body }) => {
        const { type, data } = body;
        return { type, data: data ?? examples.get(type) ?? {} };
      },
    }),
    {
      ...meta,
      operationId: 'listWebhookEvents',
      method: 'GET',
      path: 'developer_api_webhook_events',
      scope: 'webhooks:read',
      summary: 'List the events of the organization, newest first',
      query: trailQuery({
        type: Type.Optional(Type.Enum(types, { description: 'Only events of this type.' })),
        resource: Type.Optional(
          Type.Enum([...new Set(catalogue.map((one) => one.resource))], {
            description: 'Only events of this resource.',
          }),
        ),
        resourceId: Type.Optional(
          Type.String({ minLength: 1, maxLength: 100, description: 'Only events of this record.' }),
        ),
      }),
      response: list(EventSchema),
      responseName: 'EventList',
      read: listHandler('event', eventsTable, ['type', 'resource', 'resourceId'], presentEvent),
    },
    {
      ...meta,
      operationId: 'streamWebhookEvents',
      method: 'GET',
      path: 'developer_api_webhook_events/stream',
      scope: 'webhooks:read',
      summary: 'Stream the events of the application as server-sent events',
      query: StreamQuery,
      streams: (query) => filterOf(known, query),
    },
    {
      ...meta,
      operationId: 'retrieveWebhookEvent',
      method: 'GET',
      path: 'developer_api_webhook_events/{id}',
      scope: 'webhooks:read',
      summary: 'Retrieve an event',
      read: async ({ reader, principal, params }) => {
        const eventId = params.id ?? '';
        const event = isId('event', eventId) ? await findEvent(reader, principal.orgId, eventId) : undefined;
        return event ? presentEvent(event) : refuse('resource_not_found');
      },
    },
    writeRoute({
      ...meta,
      operationId: 'replayWebhookEvent',
      method: 'POST',
      path: 'developer_api_webhook_events/{id}/replay',
      scope: 'webhooks:write',
      summary: 'Replay an event of the application with the same id',
      response: ReplaySchema,
      responseName: 'EventReplay',
      body: ReplayBody,
      bodyName: 'EventReplayRequest',
      isBodyOptional: true,
      target: 'event',
      command: replayEvent,
      input: ({ params, body }) => ({
        id: idFrom('event', params.id),
        webhookId: body.webhookId === undefined ? undefined : idFrom('webhook', body.webhookId),
      }),
      prepare: prepareReplayEvent,
    }),
  ];
}
