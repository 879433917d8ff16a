import { type Static, Type } from 'typebox';
import type { Presented } from '../../kernel/envelope.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import type { Id } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { decodeVersion, encodeVersion, instantToText } from '../../kernel/list.ts';
import { recordedEventType } from '../../kernel/machine.ts';
import { type PresentedPage, type Route, subresourceHandler } from '../../kernel/route.ts';
import { component, id, list, nullable, pageQuery, resource, strict, Time } from '../../kernel/schema.ts';
import type { Reader, Table, Versioned } from '../../kernel/table.ts';
import type { LedgerEntryRow } from '../ledger/table.ts';
import { LedgerEntrySchema, presentEntry } from '../ledger/views.ts';
import { paymentMachine } from '../payments/machine.ts';
import { paymentStates, paymentsTable } from '../payments/table.ts';
import { transferMachine } from '../transfers/machine.ts';
import { transferStates, transfersTable } from '../transfers/table.ts';
import { findEntries, findMoves } from './store.ts';
import { type HistoryRow, type RecordKind, records } from './table.ts';

/** The largest possible version: every move comes before it. */
const versionMax = 2_147_483_647;

const HistoryQuery = strict(pageQuery);

const moveSchema = (states: readonly string[]) =>
  resource('state_change', states, {
    id: Type.String({ description: 'The record and its version after the move.' }),
    version: Type.Integer({ minimum: 1 }),
    action: Type.String(),
    from: nullable(Type.Enum([...states])),
    to: Type.Enum([...states]),
    actor: Type.Object({ kind: Type.String(), id: Type.String() }),
    event: nullable(Type.Object({ id: id('event'), type: Type.String() }, component('StateChangeEvent'))),
    ledgerEntries: Type.Array(LedgerEntrySchema),
    at: Time,
  });

type EventTypeOf = (row: HistoryRow) => string;

// The event is not read: it would be half of the work, a page of the table and three of its index for each move.
const eventTypesOf: Readonly<Record<RecordKind, EventTypeOf>> = {
  payment: (row) => recordedEventType(paymentMachine, row.action, row.fromStatus, row.toStatus),
  transfer: (row) => recordedEventType(transferMachine, row.action, row.fromStatus, row.toStatus),
};

function presentMove(
  row: HistoryRow,
  eventTypeOf: EventTypeOf,
  entries: readonly LedgerEntryRow[],
): Presented {
  return {
    object: 'state_change',
    sandbox: true,
    // The request that triggered the move; the list itself has the id of the reading request.
    requestId: row.requestId,
    status: row.toStatus,
    id: `${row.resourceId}.${row.version}`,
    version: row.version,
    action: row.action,
    from: row.fromStatus,
    to: row.toStatus,
    actor: { kind: row.actorKind, id: row.actorId },
    event: row.eventId === null ? null : { id: row.eventId, type: eventTypeOf(row) },
    ledgerEntries: entries.filter(({ recordVersion }) => recordVersion === row.version).map(presentEntry),
    at: instantToText(row.at),
  };
}

function readMoves(
  reader: Reader,
  orgId: Id<'organization'>,
  kind: RecordKind,
  recordId: string,
  query: Static<typeof HistoryQuery>,
): Refusal | PromiseLike<PresentedPage> {
  const { limit = limits.listLimitDefault, cursor } = query;
  const before = cursor === undefined ? versionMax : decodeVersion(cursor);
  if (before === undefined) return refuse('invalid_cursor', { param: 'cursor' });
  return findMoves(reader, orgId, recordId, before, limit + 1).then((moves) => {
    const page = moves.slice(0, limit);
    const hasMore = moves.length > limit;
    const last = page.at(-1);
    const nextCursor = hasMore && last ? encodeVersion(last.version) : null;
    if (!last) return { data: [], hasMore, nextCursor };
    const versions = page.map(({ version }) => version);
    return findEntries(reader, orgId, kind, recordId, versions).then((entries) => ({
      data: page.map((row) => presentMove(row, eventTypesOf[kind], entries)),
      hasMore,
      nextCursor,
    }));
  });
}

function historyRoute<Row extends Versioned>(
  recordKind: RecordKind,
  table: Table<Row>,
  states: readonly string[],
): Route {
  const { kind, path, scope, tag, title } = records[recordKind];
  return {
    operationId: `list${title}History`,
    method: 'GET',
    path: `${path}/{id}/history`,
    scope,
    tag,
    summary: `List the state changes of a ${kind}, newest first, with actor, event and ledger entries`,
    query: HistoryQuery,
    response: list(moveSchema(states)),
    responseName: `${title}History`,
    read: subresourceHandler(kind, table, ({ reader, principal, query }, { id: recordId }) =>
      readMoves(reader, principal.orgId, kind, recordId, query as Static<typeof HistoryQuery>),
    ),
  };
}

export const historyRoutes: readonly Route[] = [
  historyRoute('payment', paymentsTable, paymentStates),
  historyRoute('transfer', transfersTable, transferStates),
];
