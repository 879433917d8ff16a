import { assert } from '../kernel/assert.ts';
import type { Change, CommandContext } from '../kernel/command.ts';
import type { ErrorCode } from '../kernel/errors.ts';
import { formatId } from '../kernel/ids.ts';
import { type Provider, receive } from '../kernel/provider.ts';
import type { AnyRow } from '../kernel/table.ts';
import type {
  AuditRow,
  BalanceRow,
  EventRow,
  HistoryRow,
  LedgerEntryRow,
  ProviderEventRow,
} from '../kernel/trail.ts';
import { newSuffix } from './ids.ts';
import type { Submission } from './submission.ts';

/** What each decision leaves behind besides its own rows. One place for all resources, so that none forgets. */
export function historyRow(context: CommandContext, change: Change, eventId: string | null): HistoryRow {
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
    at: context.now,
  };
}

export function eventRow(
  context: CommandContext,
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
    createdAt: context.now,
  };
}

/** One row a command: what came of it, or the code it was refused with. */
export function auditRow(
  { context, kind, wallNow }: Submission,
  outcome: { readonly resource: string; readonly row: AnyRow } | ErrorCode,
): AuditRow {
  const target = typeof outcome === 'string' ? undefined : outcome;
  return {
    orgId: context.orgId,
    id: formatId('audit', context.suffix),
    at: wallNow,
    actorKind: context.actor.kind,
    actorId: context.actor.id,
    appId: context.appId,
    action: kind.name,
    resource: target?.resource ?? null,
    resourceId: target?.row.id ?? null,
    requestId: context.requestId,
    ip: context.ip,
    outcome: target ? 'accepted' : 'refused',
    code: typeof outcome === 'string' ? outcome : null,
  };
}

/** The entries of one change. Amounts leave bigint here, because they are kept as JSON. */
export function ledgerEntryRows(
  context: CommandContext,
  { row, entries }: Change,
): readonly LedgerEntryRow[] {
  return entries.map(({ reason, postings }) => ({
    orgId: row.orgId,
    id: formatId('ledger_entry', newSuffix()),
    paymentId: row.id,
    recordVersion: row.version,
    reason,
    postings: postings.map(({ account, currency, amount }) => ({
      account,
      currency,
      amount: Number(amount),
    })),
    requestId: context.requestId,
    createdAt: context.now,
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
  context: CommandContext,
  { row, told }: Change,
  providers: ReadonlyMap<string, Provider>,
): readonly ProviderEventRow[] {
  if (told === null) return [];
  const provider = providers.get(told.provider);
  assert(provider, `${told.provider} is not in the list of providers`);
  const notices = provider.notices(told);
  const outcomes = receive(provider, notices, told);
  return notices.map(({ eventId, transactionId, type, payload }, i) => ({
    orgId: row.orgId,
    id: formatId('provider_event', newSuffix()),
    paymentId: told.paymentId,
    provider: provider.name,
    providerTransactionId: transactionId,
    providerEventId: eventId,
    type,
    payload: JSON.stringify(payload),
    outcome: outcomes[i] ?? 'ignored',
    action: told.action,
    requestId: context.requestId,
    receivedAt: told.at,
  }));
}
