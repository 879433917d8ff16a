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
  /** A row of an endpoint as it goes into the snapshot: its secrets in the clear, or none. */
  readonly showWebhook: (row: string) => string;
}

const rowsInFetchMax = 200;

/** What is not part of an organization elsewhere: who sends at the moment, how many people own it, and when it expires. */
export const replaced: Readonly<Record<string, string>> = {
  'deliveries.lease_until': 'null::timestamptz',
  'organizations.owners': '0',
  'organizations.expires_at': 'null::timestamptz',
};
export const narrowed: Readonly<Record<string, string>> = {
  state_history: ` and t.resource not in ('member', 'invitation')`,
};

/**
 * Runs `work` on the database as it is at one moment. Whoever writes meanwhile is not held up on PostgreSQL; PGlite has one
 * connection, so there all others wait: `work` must wait for nobody outside.
 */
export function atOneMoment<Result>(
  database: Database,
  work: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  return database.transaction(async (connection) => {
    await connection.script('set transaction isolation level repeatable read, read only');
    return work(connection);
  });
}

/** The organizations there are, oldest first. */
export async function allOrganizations(connection: Connection): Promise<readonly string[]> {
  const rows = await connection.query<{ id: string }>(
    { name: '', text: 'select o.id from organizations o order by o.created_at, o.id' },
    [],
  );
  return rows.map(({ id }) => id);
}

/** A snapshot of one organization, in pieces of some lines; nothing at all when it is not there. */
export async function* exportOrganization(
  connection: Connection,
  orgId: string,
  settings: ExportSettings,
): AsyncGenerator<string> {
  assert(isId('organization', orgId), 'what is exported is an organization');
  const [organization] = await connection.query<{ id: string; name: string }>(
    { name: '', text: 'select o.id, o.name from organizations o where o.org_id = $1 and o.id = $1' },
    [orgId],
  );
  if (!organization) return;
  const schema = await readSchema(connection);
  const shapes = await readShapes(connection);
  const { hasSecrets, showWebhook } = settings;
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
    assert(shape && shape.columns.length > 0, `${name} is a table of a snapshot and not of the database`);
    const show = name === 'webhooks' ? showWebhook : (row: string) => row;
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
  yield endLine({ counts, sha256: hash.digest('hex') });
}

export function selectText(table: string, { columns, key }: TableShape, orgId: string): string {
  const list = columns.map(({ name }) => {
    const expression = replaced[`${table}.${name}`];
    return expression === undefined ? `t.${name}` : `${expression} as ${name}`;
  });
  return (
    `select row_to_json(r)::text as row from (select ${list.join(', ')} from ${table} t ` +
    `where t.org_id = '${orgId}'${narrowed[table] ?? ''} order by ${key.map((name) => `t.${name}`).join(', ')}) r`
  );
}
