import { expect } from 'vitest';
import { selectList, type Table } from '../../src/kernel/table.ts';
import {
  type EventRow,
  eventsTable,
  type HistoryRow,
  historyTable,
  type LedgerEntryRow,
  ledgerEntriesTable,
  type ProviderEventRow,
  providerEventsTable,
} from '../../src/kernel/trail.ts';
import type { Server } from '../../src/server.ts';
import type { Answer, ApiClient, Body } from '../support/api-client.ts';
import type { Facts, Posted, Told } from './payment-model.ts';
import type { Situation } from './situations.ts';

export const payments = 'developer_api_payments';
export const refunds = 'developer_api_refunds';
export const disputes = 'developer_api_disputes';

/** All that the moves of one payment, its refunds and its disputes left behind, oldest first. */
export interface Trail {
  readonly history: readonly HistoryRow[];
  readonly events: readonly EventRow[];
  readonly entries: readonly LedgerEntryRow[];
  readonly providerEvents: readonly ProviderEventRow[];
  /** The rows of refunds and disputes as they are now. */
  readonly parts: readonly Part[];
}

interface Part {
  readonly id: string;
  readonly paymentId: string;
  readonly row: unknown;
}

/** The trails of all payments of an organization by their id, in six queries however many there are. */
export async function trailsOf(server: Server, orgId: string): Promise<ReadonlyMap<string, Trail>> {
  const query = <Row>(text: string) => server.database.query<Row>({ name: '', text }, [orgId]);
  const rows = <Row>(table: Table<Row>, order: string) =>
    query<Row>(
      `select ${selectList(table, 't')} from ${table.name} t where t.org_id = $1 order by t.org_id, ${order}`,
    );
  const [parts, history, events, entries, providerEvents] = await Promise.all([
    query<Part>(
      `select id, payment_id as "paymentId", to_jsonb(r) as row from refunds r where org_id = $1
        union all select id, payment_id, to_jsonb(d) from disputes d where org_id = $1 order by 1`,
    ),
    rows<HistoryRow>(historyTable, 't.resource_id, t.version'),
    rows<EventRow>(eventsTable, 't.id'),
    rows<LedgerEntryRow>(ledgerEntriesTable, 't.id'),
    rows<ProviderEventRow>(providerEventsTable, 't.id'),
  ]);
  const owners = new Map(parts.map(({ id, paymentId }) => [id, paymentId]));
  const ownerOf = (id: string) => owners.get(id) ?? id;
  const found = {
    history: grouped(history, ({ resourceId }) => ownerOf(resourceId)),
    events: grouped(events, ({ resourceId }) => ownerOf(resourceId)),
    entries: grouped(entries, ({ paymentId, transferId }) => paymentId ?? transferId ?? ''),
    providerEvents: grouped(providerEvents, ({ paymentId, transferId }) => paymentId ?? transferId ?? ''),
    parts: grouped(parts, ({ paymentId }) => paymentId),
  };
  return new Map(
    [...found.history.keys()].map((id) => [
      id,
      {
        history: found.history.get(id) ?? [],
        events: found.events.get(id) ?? [],
        entries: found.entries.get(id) ?? [],
        providerEvents: found.providerEvents.get(id) ?? [],
        parts: found.parts.get(id) ?? [],
      },
    ]),
  );
}

function grouped<Row>(rows: readonly Row[], keyOf: (row: Row) => string): ReadonlyMap<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group) group.push(row);
    else groups.set(keyOf(row), [row]);
  }
  return groups;
}

const atOnceMax = 300;

/** Like `Promise.all` over a map, with a bound on how many run at once: a chain a record, so that batches are shared. */
export async function together<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const lane = async () => {
    while (next < items.length) {
      const i = next;
      next += 1;
      results[i] = await run(items[i] as T);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnceMax, items.length) }, lane));
  return results;
}

export interface Reached {
  readonly paymentId: string;
  readonly refundId: string;
  readonly disputeId: string;
}

/** Brings a new payment into a situation, step by step through the API. */
export async function reach(
  client: ApiClient,
  { create, steps }: Pick<Situation, 'create' | 'steps'>,
): Promise<Reached> {
  const made = await client.post(payments, create);
  expectDone(made);
  let reached: Reached = { paymentId: made.body.id, refundId: '', disputeId: '' };
  for (const step of steps) {
    const path = `${payments}/${reached.paymentId}`;
    if ('advance' in step) {
      const { body } = expectDone(await client.post(`${path}/advance`, step.advance));
      reached = { ...reached, disputeId: String(body.disputeId ?? '') };
    } else if ('refund' in step) {
      const { body } = expectDone(await client.post(`${path}/refund`, step.refund));
      reached = { ...reached, refundId: body.id };
    } else {
      const target =
        'ofRefund' in step ? `${refunds}/${reached.refundId}` : `${disputes}/${reached.disputeId}`;
      const action = 'ofRefund' in step ? step.ofRefund : step.ofDispute;
      expectDone(await client.post(`${target}/advance`, { action }));
    }
  }
  return reached;
}

function expectDone(answer: Answer): Answer {
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer;
}

/** What is new between two looks; what was there before must still be there, unchanged. */
export function added<Row>(before: readonly Row[], after: readonly Row[], idOf: (row: Row) => string): Row[] {
  const known = new Set(before.map(idOf));
  expect(after.filter((row) => known.has(idOf(row)))).toEqual(before);
  return after.filter((row) => !known.has(idOf(row)));
}

/** History and events of one request, as the model tells them. */
export function toldBetween(before: Trail, after: Trail): Told[] {
  const moves = added(before.history, after.history, ({ resourceId, version }) => `${resourceId} ${version}`);
  const events = added(before.events, after.events, ({ id }) => id);
  expect(moves).toHaveLength(events.length);
  return events.map((event) => {
    const move = moves.find(({ eventId }) => eventId === event.id);
    expect(move).toMatchObject({
      resource: event.resource,
      resourceId: event.resourceId,
      version: event.sequence,
      requestId: event.requestId,
      actorKind: 'api_key',
      at: event.createdAt,
    });
    return {
      resource: event.resource as Told['resource'],
      action: move?.action ?? '',
      from: move?.fromStatus ?? null,
      to: move?.toStatus ?? '',
      event: event.type,
    };
  });
}

export function postedBetween(before: Trail, after: Trail): Posted[] {
  return added(before.entries, after.entries, ({ id }) => id).map(({ reason, postings }) => {
    const accounts = postings.map(({ account }) => account);
    expect(new Set(accounts).size).toBe(accounts.length);
    expect(new Set(postings.map(({ currency }) => currency))).toEqual(new Set(['EUR']));
    expect(postings.reduce((sum, { amount }) => sum + amount, 0)).toBe(0);
    return { reason, postings: Object.fromEntries(postings.map(({ account, amount }) => [account, amount])) };
  });
}

/** What a payment shows, in the words of the model. */
export function shownFacts(body: Body): Omit<Facts, 'held' | 'refunding' | 'scenario'> {
  const { failure, attempts } = body as unknown as {
    failure: { code: string } | null;
    attempts: { failure: unknown }[];
  };
  return {
    status: body.status,
    captureMethod: body.captureMethod as Facts['captureMethod'],
    amount: Number(body.amount),
    capturable: Number(body.amountCapturable),
    captured: Number(body.amountCaptured),
    refunded: Number(body.amountRefunded),
    disputed: Number(body.amountDisputed),
    fee: Number(body.feeAmount),
    isSettled: body.settledAt !== undefined,
    failureCode: failure?.code ?? null,
    failedAttempts: attempts.filter((attempt) => attempt.failure !== null).length,
  };
}

export function expectFacts(body: Body, facts: Facts): void {
  const { held: _held, refunding, scenario: _scenario, ...shown } = facts;
  expect(shownFacts(body)).toEqual(shown);
  const refundable = facts.captured - facts.refunded - refunding - facts.disputed;
  expect(body.amountRefundable).toBe(refundable);
}

/** A body without what differs between two reads of the same record. */
export function lasting({ requestId: _requestId, ...body }: Body): Readonly<Record<string, unknown>> {
  return body;
}
