import { firstIdAt, type Id } from '../../kernel/ids.ts';
import { type Instant, type Reader, type Statement, selectList } from '../../kernel/table.ts';
import { minuteMs } from '../../kernel/time.ts';
import { type AuditRow, auditTable } from './table.ts';

export interface AuditEntry extends AuditRow {
  /** The name of the key or person; null for a deleted key or person, and for the server itself. */
  readonly actorName: string | null;
}

/** Writes, and reads that the caller had no permission for. */
export const auditKinds = ['change', 'read'] as const;
export type AuditKind = (typeof auditKinds)[number];

/** A write has the name of its command, `payments.create`; a read has that of its operation, `listPayments`. */
const kindOf = (action: string) => `case when strpos(${action}, '.') > 0 then 'change' else 'read' end`;

export interface AuditFilter {
  readonly actorId?: string;
  readonly action?: string;
  readonly resource?: string;
  readonly resourceId?: string;
  readonly requestId?: Id<'request'>;
  readonly applicationId?: Id<'application'>;
  readonly outcome?: string;
  readonly kind?: AuditKind;
  /** Wall-clock instants, as text. */
  readonly after?: string;
  readonly before?: string;
}

export interface AuditPage {
  readonly rows: readonly AuditEntry[];
  /** The last row that the page scanned, when more rows follow. */
  readonly next: string | null;
}

/** The rows that one page scans: a filter with few matches continues with the cursor and never scans a whole trail at once. */
export const rowsScannedMax = 100_000;

// An id is generated shortly before the time of its row is read, and node clocks may differ.
const marginMs = minuteMs;
const end = 'aud_~';

const personName =
  "left join lateral (select p.name from persons p where p.id = a.actor_id offset 0) p on a.actor_kind = 'person'";

const conditions: readonly (readonly [keyof AuditFilter, string])[] = [
  ['actorId', 'a.actor_id = $6'],
  ['action', 'a.action = $7'],
  ['resource', 'a.resource = $8'],
  ['resourceId', 'a.resource_id = $9'],
  ['requestId', 'a.request_id = $10'],
  ['applicationId', 'a.app_id = $11'],
  ['outcome', 'a.outcome = $12'],
  ['after', 'a.at > $13'],
  ['before', 'a.at < $14'],
  ['kind', `${kindOf('a.action')} = $15`],
];

/**
 * Newest first. An index by actor or action would slow down every write, and few callers filter: rows are read in primary key
 * order until the page is full or the bound is reached. One statement for all filters, so that a connection prepares only one.
 */
const pageStatement: Statement = {
  name: 'audit_page',
  text: `select ${selectList(auditTable, 'a')}, coalesce(k.name, p.name) as "actorName"
      from (select a.* from (
          select a.* from audit a where a.org_id = $1 and a.id < $2 and a.id >= $3
          order by a.org_id desc, a.id desc limit $5) a
        where ${conditions.map(([, condition]) => orAbsent(condition)).join(' and ')} order by a.id desc limit $4) a
      left join lateral (select k.name from api_keys k where k.org_id = a.org_id and k.id = a.actor_id offset 0) k
        on a.actor_kind = 'api_key'
      ${personName}
      order by a.id desc`,
};

function orAbsent(condition: string): string {
  const parameter = /\$\d+$/.exec(condition)?.[0] ?? '';
  const type = condition.startsWith('a.at ') ? 'timestamptz' : 'text';
  return `(${parameter}::${type} is null or ${condition})`;
}

const lastScanned: Statement = {
  name: 'audit_page_end',
  text: `select a.id from audit a where a.org_id = $1 and a.id < $2 and a.id >= $3
    order by a.org_id desc, a.id desc offset $4 limit 1`,
};

export async function findAudit(
  reader: Pick<Reader, 'rows'>,
  orgId: Id<'organization'>,
  filter: AuditFilter,
  cursor: string | undefined,
  limit: number,
): Promise<AuditPage> {
  const filterValues = conditions.map(([name]) => filter[name] ?? null);
  const from = filter.after === undefined ? '' : firstIdNear(filter.after, -marginMs);
  const until = filter.before === undefined ? end : firstIdNear(filter.before, marginMs);
  const upTo = cursor !== undefined && cursor < until ? cursor : until;
  const values = [orgId, upTo, from, limit + 1, rowsScannedMax, ...filterValues];
  const rows = await reader.rows<AuditEntry>(pageStatement, values);
  if (rows.length > limit) {
    const shown = rows.slice(0, limit);
    return { rows: shown, next: shown.at(-1)?.id ?? null };
  }
  if (filterValues.every((value) => value === null)) return { rows, next: null };
  const [last] = await reader.rows<{ id: string }>(lastScanned, [orgId, upTo, from, rowsScannedMax - 1]);
  return { rows, next: last?.id ?? null };
}

function firstIdNear(time: string, marginAddedMs: Instant): string {
  return firstIdAt('audit', Date.parse(time) + marginAddedMs);
}

// About 10 ms: a page reads them once for its pickers.
const valuesScannedMax = 10_000;
const valuesMax = 100;

export type AuditActor = Pick<AuditEntry, 'actorKind' | 'actorId' | 'actorName'>;

const newestEntries = `(select a.* from audit a where a.org_id = $1 and a.id < '${end}'
      order by a.org_id desc, a.id desc limit ${valuesScannedMax}) a
    where ($2::text is null or ${kindOf('a.action')} = $2)`;

const recentActors: Statement = {
  name: 'audit_recent_actors',
  text: `select a.actor_kind as "actorKind", a.actor_id as "actorId", coalesce(k.name, p.name) as "actorName"
    from (select a.actor_kind, a.actor_id, max(a.id) as last from ${newestEntries}
      group by 1, 2 order by last desc limit ${valuesMax}) a
    left join lateral (select k.name from api_keys k where k.org_id = $1 and k.id = a.actor_id offset 0) k
      on a.actor_kind = 'api_key'
    ${personName}
    order by a.actor_kind, coalesce(k.name, p.name, a.actor_id)`,
};

const recentActions: Statement = {
  name: 'audit_recent_actions',
  text: `select a.action from ${newestEntries} group by 1 order by 1 limit ${valuesMax}`,
};

/** The actors and actions of the newest entries. */
export async function findRecentValues(
  reader: Pick<Reader, 'rows'>,
  orgId: Id<'organization'>,
  kind: AuditKind | undefined,
): Promise<{ readonly actors: readonly AuditActor[]; readonly actions: readonly string[] }> {
  const values = [orgId, kind ?? null];
  const [actors, actions] = await Promise.all([
    reader.rows<AuditActor>(recentActors, values),
    reader.rows<Pick<AuditRow, 'action'>>(recentActions, values),
  ]);
  return { actors, actions: actions.map(({ action }) => action) };
}
