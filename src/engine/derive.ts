import type { Change, CommandContext } from '../kernel/command.ts';
import type { ErrorCode } from '../kernel/errors.ts';
import { formatId } from '../kernel/ids.ts';
import type { AnyRow } from '../kernel/table.ts';
import type { Submission } from './submission.ts';
import type { AuditRow, EventRow, HistoryRow } from './tables.ts';

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
