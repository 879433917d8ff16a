/** The rows of each payment, read from the database instead of the API. */
import pg from 'pg';
import { verify } from '../../../src/admin/verify.ts';
import type { Database } from '../../../src/db/database.ts';
import { openPglite } from '../../../src/db/pglite.ts';
import { statementLimit } from '../../../src/db/pool.ts';
import { openPostgres } from '../../../src/db/postgres.ts';
import type { Query } from '../../support/audit.ts';
import { storedResponses } from '../../support/stored-responses.ts';
import { expectSame } from './load.ts';

/** The differences that `sandbank verify` reports. */
export type Verify = () => Promise<readonly unknown[]>;

export async function queryPostgres<Result>(
  databaseUrl: string,
  work: (query: Query, verify: Verify) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return await work(
      async (sql) => (await client.query(sql)).rows,
      async () => {
        const database = openPostgres(databaseUrl, () => undefined, patient);
        return differencesIn(database).finally(() => database.close());
      },
    );
  } finally {
    await client.end();
  }
}

async function differencesIn(database: Database): Promise<readonly unknown[]> {
  return (await verify(database)).checks.flatMap(({ differences }) => differences);
}

const AUDIT_MS_MAX = 600_000;
const patient = statementLimit(600);

/** The embedded database has one process, so the server must have stopped. */
export async function queryEmbedded<Result>(
  dataDirectory: string,
  work: (query: Query, verify: Verify) => Promise<Result>,
): Promise<Result> {
  const database = await openPglite({
    dataDirectory,
    limits: patient,
    onCrash: (error) => {
      throw error;
    },
  });
  try {
    // An auditor reads whole tables, which the server never does. There is one session, so the settings apply to every query.
    await database.script(`set statement_timeout = 0; set enable_seqscan = on; set enable_hashjoin = on;
      set enable_mergejoin = on`);
    return await work(
      (text) => database.query({ name: '', text, msMax: AUDIT_MS_MAX }, []),
      () => differencesIn(database),
    );
  } finally {
    await database.close();
  }
}

const rowsPerPayment = {
  history: `select resource_id as id from state_history where resource = 'payment'`,
  events: `select resource_id as id from events where resource = 'payment' and type = 'payment.created'`,
  audit: `select resource_id as id from audit where resource = 'payment' and outcome = 'accepted'`,
  answers: `select body::json ->> 'id' as id from ${storedResponses} where status = 201`,
};

/** Each of these payments, and no other, has one history row, one event, one audit row and one stored response. */
export async function expectCompleteRows(query: Query, ids: readonly string[]): Promise<void> {
  const found = async (sql: string): Promise<string[]> => (await query(sql)).map(({ id }) => String(id));
  expectSame(await found('select id from payments'), ids);
  for (const sql of Object.values(rowsPerPayment)) expectSame(await found(sql), ids);
}
