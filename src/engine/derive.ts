import { assert } from '../kernel/assert.ts';
import type { Change, CommandRequest } from '../kernel/command.ts';
import type { ErrorCode } from '../kernel/errors.ts';
import type { EventRow } from '../kernel/event.ts';
import { formatId } from '../kernel/ids.ts';
import { dayOf } from '../kernel/list.ts';
import { type Provider, receive } from '../kernel/provider.ts';
import type { AuditRow } from '../resources/audit/table.ts';
import type { ProviderEventRow } from '../resources/history/provider-event-table.ts';
import type { HistoryRow } from '../resources/history/table.ts';
import type { BalanceRow, LedgerEntryRow } from '../resources/ledger/table.ts';
import type { SettlementLineRow } from '../resources/settlements/table.ts';
import type { Submission, Target } from './submission.ts';

/** What each decision leaves behind besides its own rows. One place for all resources, so that none forgets. */
export function historyRow(context: CommandRequest, change: Change, eventId: string | null): HistoryRow {
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
  context: CommandRequest,
  change: Change,
  id: string,
  appId: string,
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

/** One row per command: the record it concerned, and whether it was accepted or the code it was refused with. */
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

/** The entries of one change. Amounts leave bigint here, because they are kept as JSON. */
export function ledgerEntryRows(
  context: CommandRequest,
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

/** What a batch adds to each balance: one row an account, sorted, so that two batches wait in one direction only. */
export function balanceRows(changes: readonly Change[]): readonly BalanceRow[] {
  const sums = new Map<string, BalanceRow>();
  for (const { row, entries } of changes) {
    for (const { account, currency, amount } of entries.flatMap(({ postings }) => postings)) {
      const key = `${row.orgId} ${account} ${currency}`;
      const balance = (sums.get(key)?.balance ?? 0n) + amount;
      sums.set(key, { orgId: row.orgId, account, currency, balance });
    }
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

export function providerEventRows(
  context: CommandRequest,
  { row, providerMove }: Change,
  providers: ReadonlyMap<string, Provider>,
  nextSuffix: () => string,
): readonly ProviderEventRow[] {
  if (providerMove === null) return [];
  const provider = providers.get(providerMove.provider);
  assert(provider, `${providerMove.provider} is not in the list of providers`);
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

/** The lines of the report that came with a move, each beside what the ledger says. */
export function settlementLineRows(
  context: CommandRequest,
  { resource, row, settlement }: Change,
  providers: ReadonlyMap<string, Provider>,
  nextSuffix: () => string,
): readonly SettlementLineRow[] {
  if (settlement === null) return [];
  const { movement, lines } = settlement;
  const provider = providers.get(movement.provider);
  assert(provider, `${movement.provider} is not in the list of providers`);
  return lines.map(({ subject, isOfRecord, ledger, reported, result }) => ({
    orgId: row.orgId,
    id: formatId('settlement_line', nextSuffix()),
    appId: row.appId ?? '',
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
  return { paymentId: isTransfer ? null : id, transferId: isTransfer ? id : null };
}
