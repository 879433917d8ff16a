/**
 * Multiplies the payments of a database: copies every row that belongs to the sample payments in SQL. Creating and advancing a
 * million payments over HTTP would take ten minutes.
 *
 * An id starts with its creation time, in ten characters. A copy has its copy number there instead, in all ids of its rows and
 * inside events. So a copied payment has its own history, events and entries, and is older than the sample.
 */
import pg from 'pg';
import { type Column, readTables } from './sample.ts';

/** In any order, because the tables have no foreign keys. Balances are multiplied; all other tables are unchanged. */
const COPIED = [
  'payments',
  'refunds',
  'state_history',
  'events',
  'ledger_entries',
  'provider_events',
  'settlement_lines',
  'timers',
  'deliveries',
  'delivery_attempts',
  'audit',
  'idempotency',
];
/** Ids of rows that belong to a payment. Ids of organizations, applications, keys, webhooks and customers do not change. */
const ID = '^(pay|rfd|evt|lge|pev|stl|dlv|aud|req)_';

/** Adds `copies` copies of the sample, each a minute older than the previous one. */
export async function multiply(
  databaseUrl: string,
  copies: number,
  log: (line: string) => void,
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    // Disables the append-only triggers, and waits for the disk only at the end.
    await client.query(
      `set session_replication_role = replica; set synchronous_commit = off; set work_mem = '256MB'`,
    );
    for (const table of (await readTables(client)).filter(({ name }) => COPIED.includes(name))) {
      const columns = table.columns.filter(({ automatic }) => !automatic);
      const names = columns.map(({ name }) => client.escapeIdentifier(name)).join(', ');
      const isOfRecords = columns.some(({ name }) => name === 'resource_id');
      const only = isOfRecords ? `where resource_id ~ '^(pay|rfd)_'` : '';
      await client.query(`create temp table model as select * from ${table.name} ${only}`);
      const { rowCount } = await client.query(
        `insert into ${table.name} (${names}) select ${columns.map(copied).join(', ')}
         from generate_series($1::integer, 1, -1) as copy(n), model m`,
        [copies],
      );
      await client.query('drop table model');
      log(`${(rowCount ?? 0).toLocaleString('en-US')} rows of ${table.name}`);
    }
    // The copies are older than the sealed rows, so the server must seal all rows again, as after a restore.
    await client.query('delete from audit_seals');
    await client.query('update ledger_balances set balance = balance * ($1::bigint + 1)', [copies]);
    await client.query('vacuum (analyze, freeze)');
    await client.query('checkpoint');
  } finally {
    await client.end();
  }
}

function copied({ name, type }: Column): string {
  const column = `m."${name}"`;
  if (name === 'key') return `md5(${column} || n)`;
  if (name === 'provider_event_id' || name === 'provider_transaction_id') return `${column} || '-' || n`;
  if (type === 'timestamp with time zone') return `${column} - n * interval '1 minute'`;
  // The record inside an event gets its new id as well. Stored responses do not, because no request replays them.
  if (name === 'data') return `replace(${column}::text, m.resource_id, ${renamed('m.resource_id')})::${type}`;
  if (name !== 'id' && !name.endsWith('_id')) return column;
  return `case when ${column} ~ '${ID}' then ${renamed(column)} else ${column} end`;
}

/** Numbers descend: the copy with the highest number is the oldest, and its ids sort first. */
function renamed(id: string): string {
  return `left(${id}, 4) || '00' || lpad((100000000 - n)::text, 8, '0') || substr(${id}, 15)`;
}
