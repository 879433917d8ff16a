import type { Connection } from '../db/database.ts';
import type { Instant } from '../kernel/table.ts';
import type { SnapshotColumn, TableShape } from './columns.ts';
import type { SnapshotRow } from './format.ts';

/** How the rows of a snapshot change on their way in. */
export interface Arrival {
  /** Ids that become others. */
  readonly ids: ReadonlyMap<string, string>;
  /** Rows of what was set up that are written otherwise than they stand, by their text. */
  readonly rewritten: ReadonlyMap<SnapshotRow, string>;
  /** Nothing is sent from it until somebody says so. */
  readonly silencedBy: { readonly requestId: string; readonly now: Instant } | null;
}

const isIdColumn = /^(id|.+_id|replaces|replaced_by)$/;

/** The value of a column, where an id that becomes another one is mapped by the JSON object in the parameter. */
export function mapped({ name, isText }: SnapshotColumn, alias: string, parameter: string): string {
  const value = `${alias}.${name}`;
  return isText && isIdColumn.test(name) ? `coalesce(${parameter}::jsonb ->> ${value}, ${value})` : value;
}

/** Rows of one table go in as they are written. */
export async function insertRows(
  connection: Connection,
  shapes: ReadonlyMap<string, TableShape>,
  rows: readonly SnapshotRow[],
  { ids, rewritten }: Pick<Arrival, 'ids' | 'rewritten'> = { ids: new Map(), rewritten: new Map() },
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

/** Disables every endpoint, with the row of the history that goes with it. No event tells of it: there is nobody to tell. */
export async function silence(
  connection: Connection,
  orgId: string,
  { requestId, now }: NonNullable<Arrival['silencedBy']>,
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
