/**
 * A database of many payments out of one of few: every row that belongs to a sample of real payments is copied, by the
 * database itself, as often as is needed. Creating a million payments over HTTP and moving them would take ten minutes.
 *
 * An id begins with the moment of its making, in ten characters. A copy has the number of the copy there instead, in all ids of
 * its rows alike, also inside of events: so a copied payment has its own history, events and entries, and is older than the sample.
 */
import pg from 'pg';
import { type Column, readTables } from './sample.ts';

/** In the order of nothing: no table refers to another. Balances are multiplied, and all other tables stay as they are. */
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
/** What belongs to a payment; organizations, applications, keys, webhooks and customers keep their ids. */
const ID = '^(pay|rfd|evt|lge|pev|stl|dlv|aud|req)_';

/** `copies` more of all that is there, each a minute older than the one before. */
export async function multiply(
  databaseUrl: string,
  copies: number,
  say: (line: string) => void,
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    // Rows that were written once are not refused here; and the disk is waited for at the end, not in between.
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
      say(`${(rowCount ?? 0).toLocaleString('en-US')} rows of ${table.name}`);
    }
    // The copies are older than what was sealed: the server seals all of them anew, as it would after a restore.
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
  // The record inside of an event has its new id as well. Kept answers do not: nobody asks for them.
  if (name === 'data') return `replace(${column}::text, m.resource_id, ${renamed('m.resource_id')})::${type}`;
  if (name !== 'id' && !name.endsWith('_id')) return column;
  return `case when ${column} ~ '${ID}' then ${renamed(column)} else ${column} end`;
}

/** Counted from the end: the copy with the highest number is the oldest, and its ids come first. */
function renamed(id: string): string {
  return `left(${id}, 4) || '00' || lpad((100000000 - n)::text, 8, '0') || substr(${id}, 15)`;
}
