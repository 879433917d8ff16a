import { Type } from 'typebox';
import { refuse } from '../../kernel/errors.ts';
import { type Id, isId } from '../../kernel/ids.ts';
import { instantToText } from '../../kernel/list.ts';
import type { ConsoleRoute } from '../../kernel/route.ts';
import { component, id, nullable, resource, Time } from '../../kernel/schema.ts';
import type { Instant, Reader } from '../../kernel/table.ts';
import { nextDisputeAction } from '../disputes/machine.ts';
import { disputesTable } from '../disputes/table.ts';
import { presentEntry } from '../ledger/views.ts';
import { nextStep as nextPaymentStep } from '../payments/scenario.ts';
import { paymentsTable } from '../payments/table.ts';
import { nextRefundAction } from '../refunds/advance.ts';
import { refundsTable } from '../refunds/table.ts';
import { nextStep as nextTransferStep } from '../transfers/scenario.ts';
import { transfersTable } from '../transfers/table.ts';
import { findTimeline, type Subject, type TimelineRows } from './timeline-store.ts';

/** In causal order, which is also the order of items with the same instant. */
const kinds = ['request', 'move', 'provider_event', 'ledger_entry', 'event', 'delivery'] as const;

interface Item {
  readonly kind: (typeof kinds)[number];
  readonly at: Instant;
  readonly requestId: Id<'request'>;
  readonly version: number | null;
  readonly id: string;
  readonly title: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const TimelineSchema = resource('timeline', ['ok'], {
  id: Type.String({ description: 'The payment, transfer, refund or dispute.' }),
  nextAction: nullable(Type.String({ description: 'What an advance without an action does now.' })),
  items: Type.Array(
    Type.Object(
      {
        kind: Type.Enum([...kinds]),
        at: Time,
        requestId: id('request'),
        version: nullable(Type.Integer()),
        id: Type.String(),
        title: Type.String(),
        data: Type.Record(Type.String(), Type.Unknown(), {
          description: 'The fields of the item; they depend on `kind`.',
        }),
      },
      component('TimelineItem'),
    ),
    { description: 'Newest first.' },
  ),
  hasMore: Type.Boolean({ description: 'Whether older items are omitted.' }),
});

const itemsMax = 200;

interface Found {
  readonly subject: Subject;
  /** What an advance without an action does now. */
  readonly nextAction: string | undefined;
}

async function findSubject(
  reader: Reader,
  orgId: Id<'organization'>,
  id: string,
): Promise<Found | undefined> {
  if (isId('payment', id)) {
    const payment = await reader.byKey(paymentsTable, orgId, id);
    return (
      payment && {
        subject: { orgId, kind: 'payment', id, recordId: id },
        nextAction: nextPaymentStep(payment)?.action,
      }
    );
  }
  if (isId('transfer', id)) {
    const transfer = await reader.byKey(transfersTable, orgId, id);
    return (
      transfer && {
        subject: { orgId, kind: 'transfer', id, recordId: id },
        nextAction: nextTransferStep(transfer)?.action,
      }
    );
  }
  if (isId('refund', id)) {
    const refund = await reader.byKey(refundsTable, orgId, id);
    const payment = refund && (await reader.byKey(paymentsTable, orgId, refund.paymentId));
    return (
      payment && {
        subject: { orgId, kind: 'refund', id, recordId: refund.paymentId },
        nextAction: nextRefundAction(refund, payment),
      }
    );
  }
  const dispute = isId('dispute', id) ? await reader.byKey(disputesTable, orgId, id) : undefined;
  return (
    dispute && {
      subject: { orgId, kind: 'dispute', id, recordId: dispute.paymentId },
      nextAction: nextDisputeAction(dispute),
    }
  );
}

function itemsOf(rows: TimelineRows): readonly Item[] {
  // A provider event has no version: the request and the action identify its move.
  const versions = new Map(rows.moves.map((row) => [`${row.requestId} ${row.action}`, row.version]));
  // A request has a wall-clock time; in the timeline it gets the application-clock time of its first move.
  const firstMoves = new Map(rows.moves.map((row) => [row.requestId, row]));
  return [
    ...rows.moves.map(moveItem),
    ...rows.events.map(eventItem),
    ...rows.deliveries.map(deliveryItem),
    ...rows.entries.map(entryItem),
    ...rows.providerEvents.map((row) =>
      providerEventItem(row, versions.get(`${row.requestId} ${row.action}`) ?? null),
    ),
    ...rows.requests.map((row) => requestItem(row, firstMoves.get(row.id))),
  ];
}

type RowOf<Kind extends keyof TimelineRows> = TimelineRows[Kind][number];

function moveItem(row: RowOf<'moves'>): Item {
  return {
    kind: 'move',
    at: row.at,
    requestId: row.requestId,
    version: row.version,
    id: `${row.resourceId}.${row.version}`,
    title: row.fromStatus === null ? row.toStatus : `${row.fromStatus} → ${row.toStatus}`,
    data: {
      action: row.action,
      from: row.fromStatus,
      to: row.toStatus,
      actor: { kind: row.actorKind, id: row.actorId, name: row.actorName },
      eventId: row.eventId,
    },
  };
}

function eventItem(row: RowOf<'events'>): Item {
  return {
    kind: 'event',
    at: row.createdAt,
    requestId: row.requestId,
    version: row.sequence,
    id: row.id,
    title: row.type,
    data: { type: row.type, applicationId: row.appId, sequence: row.sequence },
  };
}

function deliveryItem(row: RowOf<'deliveries'>): Item {
  return {
    kind: 'delivery',
    at: row.createdAt,
    requestId: row.requestId,
    version: row.sequence,
    id: row.id,
    title: `${row.eventType} to ${row.url ?? row.webhookId}`,
    data: {
      webhookId: row.webhookId,
      url: row.url,
      eventId: row.eventId,
      eventType: row.eventType,
      trigger: row.trigger,
      status: row.status,
      attempts: row.attempts,
      lastResponseStatus: row.lastResponseStatus,
      lastError: row.lastError,
      updatedAt: instantToText(row.updatedAt),
    },
  };
}

function entryItem(row: RowOf<'entries'>): Item {
  return {
    kind: 'ledger_entry',
    at: row.createdAt,
    requestId: row.requestId,
    version: row.recordVersion,
    id: row.id,
    title: row.reason,
    data: { reason: row.reason, postings: presentEntry(row).postings },
  };
}

function providerEventItem(row: RowOf<'providerEvents'>, version: number | null): Item {
  return {
    kind: 'provider_event',
    at: row.receivedAt,
    requestId: row.requestId,
    version,
    id: row.id,
    title: row.type,
    data: {
      provider: row.provider,
      providerTransactionId: row.providerTransactionId,
      providerEventId: row.providerEventId,
      type: row.type,
      outcome: row.outcome,
      action: row.action,
      payload: JSON.parse(row.payload) as unknown,
    },
  };
}

function requestItem(row: RowOf<'requests'>, firstMove: RowOf<'moves'> | undefined): Item {
  const { id, at, method, path, httpStatus, durationMs, errorCode } = row;
  return {
    kind: 'request',
    at: firstMove?.at ?? at,
    requestId: id,
    version: firstMove?.version ?? null,
    id,
    title: `${method} ${path}`,
    data: { method, path, httpStatus, durationMs, errorCode, receivedAt: instantToText(at) },
  };
}

/** Newest first; for the same instant by descending version, then reverse causal order, then descending id. */
function byAge(a: Item, b: Item): number {
  const [versionA, versionB] = [a.version ?? 0, b.version ?? 0];
  if (a.at !== b.at) return b.at - a.at;
  if (versionA !== versionB) return versionB - versionA;
  if (a.kind !== b.kind) return kinds.indexOf(b.kind) - kinds.indexOf(a.kind);
  return a.id < b.id ? 1 : -1;
}

export const timelineRoutes: readonly ConsoleRoute[] = [
  {
    operationId: 'getTimeline',
    method: 'GET',
    path: 'timeline/{id}',
    role: 'viewer',
    level: 'application',
    summary: 'List the history of a payment, transfer, refund or dispute, newest first',
    response: TimelineSchema,
    responseName: 'Timeline',
    read: async ({ reader, principal, params }) => {
      const found = await findSubject(reader, principal.orgId, params.id ?? '');
      if (!found) return refuse('resource_not_found');
      const { subject, nextAction = null } = found;
      const items = [...itemsOf(await findTimeline(reader, subject, itemsMax + 1))].sort(byAge);
      return {
        object: 'timeline',
        sandbox: true,
        status: 'ok',
        id: subject.id,
        nextAction,
        items: items.slice(0, itemsMax).map((item) => ({ ...item, at: instantToText(item.at) })),
        hasMore: items.length > itemsMax,
      };
    },
  },
];
