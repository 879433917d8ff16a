import { assert } from '../kernel/assert.ts';
import type { Change, RequestContext, Submission, Target } from '../kernel/command.ts';
import type { ErrorCode } from '../kernel/errors.ts';
import type { EventRow } from '../kernel/event.ts';
import { formatId, type Id, noApplication } from '../kernel/ids.ts';
import { dayOf } from '../kernel/list.ts';
import { type Provider, receive } from '../kernel/provider.ts';
import type { AuditRow } from '../resources/audit/table.ts';
import type { ProviderEventRow } from '../resources/history/provider-event-table.ts';
import type { HistoryRow } from '../resources/history/table.ts';
import type { BalanceRow, LedgerEntryRow } from '../resources/ledger/table.ts';
import type { SettlementLineRow } from '../resources/settlements/table.ts';

/** Rows that every decision adds besides its record. In one place for all resources, so that none forgets them. */
export function historyRow(context: RequestContext, change: Change, eventId: Id<'event'> | null): HistoryRow {
  const { resource, action, from, row } = change;
  return {
    orgId: row.orgId,
    resourceId: row.id,
    version: row.version,
    resource,
    action,
    fromStatus: from,
    toStatus: row.status,
    eventId,
    actorKind: context.actor.kind,
    actorId: context.actor.id,
    requestId: context.requestId,
    at: row.updatedAt,
  };
}

export function eventRow(
  context: RequestContext,
  change: Change,
  id: Id<'event'>,
  appId: Id<'application'>,
  data: string,
): EventRow {
  const { resource, event, row } = change;
  return {
    orgId: row.orgId,
    id,
    appId,
    type: event,
    resource,
    resourceId: row.id,
    sequence: row.version,
    requestId: context.requestId,
    data,
    createdAt: row.updatedAt,
  };
}

/** One row per command: the record, and whether the command was accepted or the error code of its refusal. */
export function auditRow(
  { context, kind, wallNow }: Submission,
  target: Pick<Target, 'resource' | 'id'> | null,
  code: ErrorCode | null,
): AuditRow {
  return {
    orgId: context.orgId,
    id: formatId('audit', context.suffix),
    at: wallNow,
    actorKind: context.actor.kind,
    actorId: context.actor.id,
    appId: context.appId,
    action: kind.name,
    resource: target?.resource ?? null,
    resourceId: target?.id ?? null,
    requestId: context.requestId,
    ip: context.ip,
    outcome: code === null ? 'accepted' : 'refused',
    code,
  };
}

/** The ledger entries of one change. Amounts become numbers here, because they are stored as JSON. */
export function ledgerEntryRows(
  context: RequestContext,
  { resource, row, entries }: Change,
  nextSuffix: () => string,
): readonly LedgerEntryRow[] {
  return entries.map(({ reason, postings }) => ({
    orgId: row.orgId,
    id: formatId('ledger_entry', nextSuffix()),
    ...recordIds(resource, row.id),
    recordVersion: row.version,
    reason,
    postings: postings.map(({ account, currency, amount }) => ({
      account,
      currency,
      amount: Number(amount),
    })),
    requestId: context.requestId,
    createdAt: row.updatedAt,
  }));
}

/** The amounts that a batch adds to the balances: one row per account and currency, sorted to prevent deadlocks. */
export function balanceRows(changes: readonly Change[]): readonly BalanceRow[] {
  const sums = new Map<string, Omit<BalanceRow, 'balance'> & { balance: bigint }>();
  for (const { row, entries } of changes) {
    for (const { postings } of entries) {
      for (const { account, currency, amount } of postings) {
        const key = `${row.orgId} ${account} ${currency}`;
        const sum = sums.get(key);
        if (sum) sum.balance += amount;
        else sums.set(key, { orgId: row.orgId, account, currency, balance: amount });
      }
    }
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

export function providerEventRows(
  context: RequestContext,
  { row, providerMove }: Change,
  providers: ReadonlyMap<string, Provider>,
  nextSuffix: () => string,
): readonly ProviderEventRow[] {
  if (providerMove === null) return [];
  const provider = providers.get(providerMove.provider);
  assert(provider, `${providerMove.provider} is not a registered provider`);
  const notices = provider.notices(providerMove);
  const outcomes = receive(provider, notices, providerMove);
  return notices.map(({ eventId, transactionId, type, payload }, i) => ({
    orgId: row.orgId,
    id: formatId('provider_event', nextSuffix()),
    ...recordIds(providerMove.record, providerMove.recordId),
    provider: provider.name,
    providerTransactionId: transactionId,
    providerEventId: eventId,
    type,
    payload: JSON.stringify(payload),
    outcome: outcomes[i] ?? 'ignored',
    action: providerMove.action,
    requestId: context.requestId,
    receivedAt: providerMove.at,
  }));
}

/** The settlement report lines of a change, each with the amounts of the ledger. */
export function settlementLineRows(
  context: RequestContext,
  { resource, row, settlement }: Change,
  providers: ReadonlyMap<string, Provider>,
  nextSuffix: () => string,
): readonly SettlementLineRow[] {
  if (settlement === null) return [];
  const { movement, lines } = settlement;
  const provider = providers.get(movement.provider);
  assert(provider, `${movement.provider} is not a registered provider`);
  return lines.map(({ subject, isOfRecord, ledger, reported, result }) => ({
    orgId: row.orgId,
    id: formatId('settlement_line', nextSuffix()),
    appId: row.appId ?? noApplication,
    settledOn: dayOf(row.updatedAt),
    provider: provider.name,
    providerTransactionId: provider.transactionId(subject),
    ...(isOfRecord ? recordIds(resource, movement.recordId) : { paymentId: null, transferId: null }),
    currency: movement.currency,
    ledgerGross: ledger?.gross ?? null,
    ledgerFee: ledger?.fee ?? null,
    gross: reported?.gross ?? null,
    fee: reported?.fee ?? null,
    result,
    requestId: context.requestId,
    createdAt: row.updatedAt,
  }));
}

/** Entries, provider events and report lines belong to a payment or to a transfer. */
function recordIds(resource: string, id: string): Pick<LedgerEntryRow, 'paymentId' | 'transferId'> {
  const isTransfer = resource === 'transfer';
  return {
    paymentId: isTransfer ? null : (id as Id<'payment'>),
    transferId: isTransfer ? (id as Id<'transfer'>) : null,
  };
}
