import type { Statement } from '../kernel/table.ts';
import type { StatementObserver } from '../telemetry/ports.ts';
import type { Connection, Database } from './database.ts';

/** Wraps a database and reports its statements to an observer: their names, never their values. */
export function observed(database: Database, observe: StatementObserver): Database {
  const { query, finish, script } = observedConnection(database, observe);
  return {
    kind: database.kind,
    batchesInFlightMax: database.batchesInFlightMax,
    get connections() {
      return database.connections;
    },
    query,
    finish,
    script,
    transaction: (work) =>
      observedCall(observe, 'transaction', () =>
        database.transaction((connection) => work(observedConnection(connection, observe))),
      ),
    session: (work) =>
      observedCall(observe, 'session', () =>
        database.session((connection) => work(observedConnection(connection, observe))),
      ),
    execute: (text, values) => observedCall(observe, 'execute', () => database.execute(text, values)),
    close: () => database.close(),
  };
}

function observedConnection(connection: Connection, observe: StatementObserver): Connection {
  return {
    query: <Row>(statement: Statement, values: readonly unknown[]) =>
      observedCall(observe, nameOf(statement), () => connection.query<Row>(statement, values)),
    finish: <Row>(statement: Statement, values: readonly unknown[]) =>
      observedCall(observe, nameOf(statement), () => connection.finish<Row>(statement, values)),
    script: (sql, msMax) => observedCall(observe, 'script', () => connection.script(sql, msMax)),
  };
}

/** Each process numbers its batch statements itself, so the numbers mean nothing elsewhere. */
function nameOf({ name }: Statement): string {
  if (name === '') return 'unnamed';
  return name.startsWith('write_') ? 'write_batch' : name;
}

async function observedCall<Result>(
  observe: StatementObserver,
  name: string,
  run: () => Promise<Result>,
): Promise<Result> {
  const ended = observe(name);
  try {
    const result = await run();
    ended();
    return result;
  } catch (error) {
    ended(error);
    throw error;
  }
}
