import { Type } from 'typebox';
import type { Presented } from '../../kernel/envelope.ts';
import { instantToText } from '../../kernel/list.ts';
import { listHandler, type Route, subresourceHandler } from '../../kernel/route.ts';
import { id, list, resource, Time, trailQuery } from '../../kernel/schema.ts';
import type { Table, Versioned } from '../../kernel/table.ts';
import { paymentsTable } from '../payments/table.ts';
import { transfersTable } from '../transfers/table.ts';
import { type ProviderEventRow, providerEventsTable } from './provider-event-table.ts';
import { type RecordKind, records } from './table.ts';

const outcomes = ['applied', 'ignored', 'duplicate'] as const;

const ProviderEventSchema = resource('provider_event', outcomes, {
  id: id('provider_event'),
  paymentId: Type.Optional(id('payment')),
  transferId: Type.Optional(id('transfer')),
  provider: Type.String(),
  providerTransactionId: Type.String(),
  providerEventId: Type.String(),
  type: Type.String({ description: 'The event type as the provider names it.' }),
  outcome: Type.Enum([...outcomes], {
    description:
      'Applied; ignored because the record had already changed; or a duplicate of an earlier event.',
  }),
  action: Type.String({ description: 'The move that the event belongs to.' }),
  payload: Type.Unknown({ description: 'As the provider sent it.' }),
  receivedAt: Time,
});

function presentProviderEvent(row: ProviderEventRow): Presented {
  return {
    object: 'provider_event',
    sandbox: true,
    status: row.outcome,
    id: row.id,
    ...(row.paymentId === null ? { transferId: row.transferId } : { paymentId: row.paymentId }),
    provider: row.provider,
    providerTransactionId: row.providerTransactionId,
    providerEventId: row.providerEventId,
    type: row.type,
    outcome: row.outcome,
    action: row.action,
    payload: typeof row.payload === 'string' ? JSON.parse(row.payload) : row.payload,
    receivedAt: instantToText(row.receivedAt),
  };
}

const readEvents = listHandler(
  'provider_event',
  providerEventsTable,
  ['paymentId', 'transferId', 'outcome'],
  presentProviderEvent,
);

function eventsRoute<Row extends Versioned>(kind: RecordKind, table: Table<Row>): Route {
  const { idName, path, scope, tag, title } = records[kind];
  return {
    operationId: `list${title}ProviderEvents`,
    method: 'GET',
    path: `${path}/{id}/provider_events`,
    scope,
    tag,
    summary: `List the raw provider events of a ${kind} with their outcome, newest first`,
    query: trailQuery({
      outcome: Type.Optional(Type.Enum([...outcomes], { description: 'Only events with this outcome.' })),
    }),
    response: list(ProviderEventSchema),
    responseName: 'ProviderEventList',
    read: subresourceHandler(kind, table, ({ reader, principal, query }, { id: recordId }) =>
      readEvents({ reader, principal, query: { ...(query as object), [idName]: recordId } }),
    ),
  };
}

export const providerEventRoutes: readonly Route[] = [
  eventsRoute('payment', paymentsTable),
  eventsRoute('transfer', transfersTable),
];
