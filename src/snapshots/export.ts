import { createHash } from 'node:crypto';
import type { Connection, Database } from '../db/database.ts';
import { assert } from '../kernel/assert.ts';
import { isId } from '../kernel/ids.ts';
import type { Instant } from '../kernel/table.ts';
import { readSchema, readShapes, type TableShape } from './columns.ts';
import { endLine, headerLine, rowLine, snapshotFormat, snapshotTables, snapshotVersion } from './format.ts';

export interface ExportSettings {
  readonly now: Instant;
  readonly hasSecrets: boolean;
  /** Converts a webhook row for the snapshot: with its secrets in plain text, or without secrets. */
  readonly exportWebhook: (row: string) => string;
  /** Signs the SHA-256 of the snapshot. */
  readonly sign: (sha256: string) => string;
}

const rowsInFetchMax = 200;

/** Columns with values that make no sense elsewhere: delivery leases, the number of owners, the expiry. */
export const replacedColumns: Readonly<Record<string, string>> = {
  'deliveries.lease_until': 'null::timestamptz',
  'organizations.owners': '0',
  'organizations.expires_at': 'null::timestamptz',
};
export const rowFilters: Readonly<Record<string, string>> = {
  state_history: ` and t.resource not in ('member', 'invitation')`,
};

/**
 * Runs `work` in a repeatable-read transaction, so that it sees one consistent state. On PostgreSQL concurrent writes are not
 * blocked. PGlite has a single connection, so everything else waits there: `work` must not wait for clients.
 */
export function inReadSnapshot<Result>(
  database: Database,
  work: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  return database.transaction(async (connection) => {
    await connection.script('set transaction isolation level repeatable read, read only');
    return work(connection);
  });
}

/** The ids of all organizations, oldest first. */
export async function allOrganizations(connection: Connection): Promise<readonly string[]> {
  const rows = await connection.query<{ id: string }>(
    { name: '', text: 'select o.id from organizations o order by o.created_at, o.id' },
    [],
  );
  return rows.map(({ id }) => id);
}

/** A snapshot of one organization, in chunks of several lines; empty when the organization does not exist. */
export async function* exportOrganization(
  connection: Connection,
  orgId: string,
  settings: ExportSettings,
): AsyncGenerator<string> {
  assert(isId('organization', orgId), 'only an organization can be exported');
  const [organization] = await connection.query<{ id: string; name: string }>(
    { name: '', text: 'select o.id, o.name from organizations o where o.org_id = $1 and o.id = $1' },
    [orgId],
  );
  if (!organization) return;
  const schema = await readSchema(connection);
  const shapes = await readShapes(connection);
  const { hasSecrets, exportWebhook } = settings;
  const exportedAt = new Date(settings.now).toISOString();
  const hash = createHash('sha256');
  const hashed = (text: string) => {
    hash.update(text);
    return text;
  };
  const counts: Record<string, number> = {};
  yield hashed(
    headerLine({
      ...{ format: snapshotFormat, version: snapshotVersion, schema },
      ...{ exportedAt, organization, hasSecrets },
    }),
  );
  for (const { name } of snapshotTables) {
    const shape = shapes.get(name);
    assert(shape && shape.columns.length > 0, `the snapshot table ${name} does not exist in the database`);
    const show = name === 'webhooks' ? exportWebhook : (row: string) => row;
    await connection.script(`declare rows no scroll cursor for ${selectText(name, shape, orgId)}`);
    for (;;) {
      const rows = await connection.query<{ row: string }>(
        { name: '', text: `fetch ${rowsInFetchMax} from rows` },
        [],
      );
      if (rows.length > 0) {
        counts[name] = (counts[name] ?? 0) + rows.length;
        yield hashed(rows.map(({ row }) => rowLine(name, show(row))).join(''));
      }
      if (rows.length < rowsInFetchMax) break;
    }
    await connection.script('close rows');
  }
  const sha256 = hash.digest('hex');
  yield endLine({ counts, sha256, signature: settings.sign(sha256) });
}

export function selectText(table: string, { columns, key }: TableShape, orgId: string): string {
  const list = columns.map(({ name }) => {
    const expression = replacedColumns[`${table}.${name}`];
    return expression === undefined ? `t.${name}` : `${expression} as ${name}`;
  });
  return (
    `select row_to_json(r)::text as row from (select ${list.join(', ')} from ${table} t ` +
    `where t.org_id = '${orgId}'${rowFilters[table] ?? ''} order by ${key.map((name) => `t.${name}`).join(', ')}) r`
  );
}
