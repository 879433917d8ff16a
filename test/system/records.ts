/** What the database itself says: the rows that belong to each payment, read past the API. */
import pg from 'pg';
import { openPglite } from '../../src/db/pglite.ts';
import { expectSame } from './load.ts';

export type Query = (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;

export async function queryPostgres<Result>(
  databaseUrl: string,
  work: (query: Query) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return await work(async (sql) => (await client.query(sql)).rows);
  } finally {
    await client.end();
  }
}

const AUDIT_MS_MAX = 120_000;

/** The embedded database has one process, so the server must have stopped. */
export async function queryEmbedded<Result>(
  dataDirectory: string,
  work: (query: Query) => Promise<Result>,
): Promise<Result> {
  const database = await openPglite({
    dataDirectory,
    onCrash: (error) => {
      throw error;
    },
  });
  try {
    // An auditor looks at whole tables, which the server never does; there is one session, so this holds for all of it.
    await database.script(`set statement_timeout = 0; set enable_seqscan = on; set enable_hashjoin = on;
      set enable_mergejoin = on`);
    return await work((text) => database.query({ name: '', text, msMax: AUDIT_MS_MAX }, []));
  } finally {
    await database.close();
  }
}

const belongings = {
  history: `select resource_id as id from state_history where resource = 'payment'`,
  events: `select resource_id as id from events where resource = 'payment' and type = 'payment.created'`,
  audit: `select resource_id as id from audit where resource = 'payment' and outcome = 'accepted'`,
  answers: `select body::json ->> 'id' as id from idempotency where status = 201`,
};

/** Each of these payments, and no other, has one history row, one event, one audit row and one kept answer. */
export async function expectWhole(query: Query, ids: readonly string[]): Promise<void> {
  const found = async (sql: string): Promise<string[]> => (await query(sql)).map(({ id }) => String(id));
  expectSame(await found('select id from payments'), ids);
  for (const sql of Object.values(belongings)) expectSame(await found(sql), ids);
}
