import { type Static, Type } from 'typebox';
import type { Resource } from '../../kernel/command.ts';
import { applicationListHandler, applicationSubresourceHandler, type Route } from '../../kernel/route.ts';
import { id, list, listQuery, nullable, resource, strict, Time } from '../../kernel/schema.ts';
import { createReplay, presentReplay, replayMachine } from './replay-machine.ts';
import { findProgress } from './replay-store.ts';
import { type ReplayRow, replayStates, replaysTable, selections } from './replay-table.ts';

const dryRunDefault = false;

const ReplayBody = strict({
  from: Type.String({ format: 'date-time', description: 'Events from this instant of the clock on.' }),
  to: Type.String({ format: 'date-time', description: 'And before this one.' }),
  select: Type.Enum([...selections], {
    description:
      '`failed`: nothing succeeded and nothing is under way; `missing`: never sent to the endpoint; `all`.',
  }),
  webhookId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'One endpoint; else all of the application.',
    }),
  ),
  dryRun: Type.Optional(Type.Boolean({ default: dryRunDefault, description: 'Counts, and sends nothing.' })),
});

const ReplaySchema = resource('replay', replayStates, {
  id: nullable(id('replay')),
  from: Time,
  to: Time,
  select: Type.Enum([...selections]),
  webhookId: nullable(id('webhook')),
  dryRun: Type.Boolean(),
  matched: Type.Integer({ minimum: 0, description: 'So far, while it is running.' }),
  replayed: Type.Integer({ minimum: 0 }),
  createdAt: Time,
  updatedAt: Time,
});

const ProgressSchema = Type.Object({
  ...ReplaySchema.properties,
  deliveries: Type.Object({
    pending: Type.Integer({ minimum: 0 }),
    succeeded: Type.Integer({ minimum: 0 }),
    failed: Type.Integer({ minimum: 0 }),
  }),
});

export const replayResource: Resource<ReplayRow> = {
  name: 'replay',
  table: replaysTable,
  machine: replayMachine,
  present: presentReplay,
  emitsEvents: false,
};

const [first, last] = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59.999Z')];

/** A time zone can lead out of the years that can be written with four digits. Nothing has happened out there. */
function within(instant: number): number {
  return Math.min(Math.max(instant, first), last);
}

const meta = { tag: 'Webhooks', response: ReplaySchema, responseName: 'Replay' } as const;
const reading = { ...meta, method: 'GET', scope: 'webhooks:read' } as const;

export const replayRoutes: readonly Route[] = [
  {
    ...meta,
    operationId: 'replayWebhookDeliveries',
    method: 'POST',
    path: 'developer_api_webhook_deliveries/replay',
    scope: 'webhooks:write',
    summary: 'Send the events of a window again: those that failed, those never sent, or all',
    body: ReplayBody,
    bodyName: 'ReplayCreate',
    target: null,
    command: createReplay,
    input: ({ body }) => {
      const { from, to, select, webhookId, dryRun } = body as Static<typeof ReplayBody>;
      return {
        window: {
          windowFrom: within(Date.parse(from)),
          windowTo: within(Date.parse(to)),
          selection: select,
          webhookId: webhookId ?? null,
        },
        isDryRun: dryRun ?? dryRunDefault,
      };
    },
  },
  {
    ...reading,
    operationId: 'listWebhookReplays',
    path: 'developer_api_webhook_replays',
    summary: 'List replays of windows of the application, newest first',
    query: listQuery(replayStates),
    response: list(ReplaySchema),
    responseName: 'ReplayList',
    read: applicationListHandler('replay', replaysTable, ['status'], presentReplay),
  },
  {
    ...reading,
    operationId: 'retrieveWebhookReplay',
    path: 'developer_api_webhook_replays/{id}',
    summary: 'Retrieve a replay and what has come of its deliveries so far',
    response: ProgressSchema,
    responseName: 'ReplayProgress',
    read: applicationSubresourceHandler('replay', replaysTable, async ({ reader }, row) => ({
      ...presentReplay(row),
      deliveries: await findProgress(reader, row.orgId, row.id),
    })),
  },
];
