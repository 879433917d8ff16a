import type { Connection, Database } from './database.ts';

/**
 * Each connection must be one session of PostgreSQL for as long as it is open. A pooler in transaction or statement mode gives every
 * transaction or statement any of its sessions: prepared statements would be missing, locks would belong to somebody else, and settings
 * of one client would reach another.
 */
export class SessionsShared extends Error {
  override readonly name = 'SessionsShared';

  constructor() {
    super(
      'DATABASE_URL leads to a pooler in transaction or statement mode, where prepared statements, locks and settings do not stay with a connection. ' +
        'Use its session mode, or connect to PostgreSQL directly.',
    );
  }
}

/** With `server_round_robin` and two idle sessions, pgbouncer gives the first connection the same session twice. */
const repetitions = 2;

/** Throws `SessionsShared` if another connection can get the session of the first. Changes nothing. */
export async function requireOwnSessions(database: Database): Promise<void> {
  if (database.kind === 'pglite') return;
  await database.session(async (first) => {
    const own = await sessionOf(first);
    // Before the transaction, which a pooler in statement mode answers by closing the connection.
    await database.session(async (second) => {
      if ((await sessionOf(second)) === own) throw new SessionsShared();
    });
    await database.transaction(async (second) => {
      if ((await sessionOf(second)) === own) throw new SessionsShared();
      if ((await sessionOf(first)) !== own) throw new SessionsShared();
    });
    for (let i = 0; i < repetitions; i += 1) if ((await sessionOf(first)) !== own) throw new SessionsShared();
  });
}

async function sessionOf(connection: Connection): Promise<number | undefined> {
  const [row] = await connection.query<{ pid: number }>(
    { name: '', text: 'select pg_backend_pid() as pid' },
    [],
  );
  return row?.pid;
}
