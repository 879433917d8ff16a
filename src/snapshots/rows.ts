import type { Connection } from '../db/database.ts';
import type { Instant } from '../kernel/table.ts';
import type { SnapshotColumn, TableShape } from './columns.ts';
import type { SnapshotRow } from './format.ts';

/** How the rows of a snapshot change during the import. */
export interface ImportPlan {
  /** Old ids and their new ids. */
  readonly ids: ReadonlyMap<string, string>;
  /** Configuration rows with a new content, as JSON text. */
  readonly rewritten: ReadonlyMap<SnapshotRow, string>;
  /** Set when all webhooks are to be disabled, so that the copy sends nothing until someone enables them. */
  readonly disabledBy: { readonly requestId: string; readonly now: Instant } | null;
}

const isIdColumn = /^(id|.+_id|replaces|replaced_by)$/;

/** The SQL for a column value; ids are mapped through the JSON object in the parameter. */
export function mapped({ name, isText }: SnapshotColumn, alias: string, parameter: string): string {
  const value = `${alias}.${name}`;
  return isText && isIdColumn.test(name) ? `coalesce(${parameter}::jsonb ->> ${value}, ${value})` : value;
}

/** Inserts rows of one table from their JSON text. */
export async function insertRows(
  connection: Connection,
  shapes: ReadonlyMap<string, TableShape>,
  rows: readonly SnapshotRow[],
  { ids, rewritten }: Pick<ImportPlan, 'ids' | 'rewritten'> = { ids: new Map(), rewritten: new Map() },
): Promise<void> {
  const [first] = rows;
  if (!first) return;
  const { name } = first.table;
  const columns = (shapes.get(name)?.columns ?? []).filter((column) => column.name in first.fields);
  const isMapped = ids.size > 0;
  const values = columns.map((column) => (isMapped ? mapped(column, 'r', '$2') : `r.${column.name}`));
  const text =
    `insert into ${name} (${columns.map((column) => column.name).join(', ')}) select ${values.join(', ')} ` +
    `from json_populate_recordset(null::${name}, $1::json) r`;
  const json = `[${rows.map((row) => rewritten.get(row) ?? row.text).join(',')}]`;
  await connection.query({ name: '', text }, [
    json,
    ...(isMapped ? [JSON.stringify(Object.fromEntries(ids))] : []),
  ]);
}

/** Disables every webhook and writes its history row. It emits no event, because nobody would receive it. */
export async function disableWebhooks(
  connection: Connection,
  orgId: string,
  { requestId, now }: NonNullable<ImportPlan['disabledBy']>,
): Promise<void> {
  await connection.query(
    {
      name: '',
      text: `with changed as (
          update webhooks w set status = 'disabled', disabled_reason = 'requested', version = w.version + 1, since = $2,
            updated_at = $2
          where w.org_id = $1 and w.status = 'enabled' returning w.org_id, w.id, w.version)
        insert into state_history (org_id, resource_id, version, resource, action, from_status, to_status, actor_kind,
          actor_id, request_id, at)
        select c.org_id, c.id, c.version, 'webhook', 'disable', 'enabled', 'disabled', 'system', 'operator', $3, $2
        from changed c`,
    },
    [orgId, new Date(now).toISOString(), requestId],
  );
}
