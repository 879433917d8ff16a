import { Type } from 'typebox';
import type { Resource } from '../../kernel/command.ts';
import { idFrom } from '../../kernel/ids.ts';
import { applicationListHandler, applicationSubresourceHandler, type Route } from '../../kernel/route.ts';
import { id, list, listQuery, nullable, resource, strict, Time } from '../../kernel/schema.ts';
import { writeRoute } from '../../kernel/write-route.ts';
import { createReplay, presentReplay, replayMachine } from './replay-machine.ts';
import { prepareCreateReplay } from './replay-prepare.ts';
import { findProgress } from './replay-store.ts';
import { type ReplayRow, replayStates, replaysTable, selections } from './replay-table.ts';

const dryRunDefault = false;

const ReplayBody = strict({
  from: Type.String({
    format: 'date-time',
    description: 'The first instant of the window, by the application clock.',
  }),
  to: Type.String({ format: 'date-time', description: 'The end of the window, exclusive.' }),
  select: Type.Enum([...selections], {
    description:
      '`failed`: no delivery succeeded and none is pending; `missing`: never sent to the endpoint; `all`: every event.',
  }),
  webhookId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'Only this endpoint. Default: all endpoints of the application.',
    }),
  ),
  dryRun: Type.Optional(
    Type.Boolean({ default: dryRunDefault, description: 'Only counts, without sending.' }),
  ),
});

const ReplaySchema = resource('replay', replayStates, {
  id: nullable(id('replay')),
  from: Time,
  to: Time,
  select: Type.Enum([...selections]),
  webhookId: nullable(id('webhook')),
  dryRun: Type.Boolean(),
  matched: Type.Integer({
    minimum: 0,
    description: 'The number of matches so far while the replay is running.',
  }),
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

/** Clamps to years with four digits: a time zone offset can exceed them, and no event is outside of them. */
function clamp(instant: number): number {
  return Math.min(Math.max(instant, first), last);
}

const meta = { tag: 'Webhooks', response: ReplaySchema, responseName: 'Replay' } as const;
const readMeta = { ...meta, method: 'GET', scope: 'webhooks:read' } as const;

export const replayRoutes: readonly Route[] = [
  writeRoute({
    ...meta,
    operationId: 'replayWebhookDeliveries',
    method: 'POST',
    path: 'developer_api_webhook_deliveries/replay',
    scope: 'webhooks:write',
    summary: 'Replay the events of a time window: failed ones, ones that were never sent, or all',
    body: ReplayBody,
    bodyName: 'ReplayCreate',
    target: null,
    command: createReplay,
    input: ({ body }) => {
      const { from, to, select, webhookId, dryRun } = body;
      return {
        window: {
          windowFrom: clamp(Date.parse(from)),
          windowTo: clamp(Date.parse(to)),
          selection: select,
          webhookId: webhookId === undefined ? null : idFrom('webhook', webhookId),
        },
        isDryRun: dryRun ?? dryRunDefault,
      };
    },
    prepare: prepareCreateReplay,
  }),
  {
    ...readMeta,
    operationId: 'listWebhookReplays',
    path: 'developer_api_webhook_replays',
    summary: 'List the replays of the application, newest first',
    query: listQuery(replayStates),
    response: list(ReplaySchema),
    responseName: 'ReplayList',
    read: applicationListHandler('replay', replaysTable, ['status'], presentReplay),
  },
  {
    ...readMeta,
    operationId: 'retrieveWebhookReplay',
    path: 'developer_api_webhook_replays/{id}',
    summary: 'Retrieve a replay and the progress of its deliveries',
    response: ProgressSchema,
    responseName: 'ReplayProgress',
    read: applicationSubresourceHandler('replay', replaysTable, async ({ reader }, row) => ({
      ...presentReplay(row),
      deliveries: await findProgress(reader, row.orgId, row.id),
    })),
  },
];
