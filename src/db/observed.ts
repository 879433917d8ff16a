import type { Statement } from '../kernel/table.ts';
import type { StatementObserver } from '../telemetry/ports.ts';
import type { Connection, Database } from './database.ts';

/** The same database, whose statements somebody watches. They are told by name, never by their values. */
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
      watched(observe, 'transaction', () =>
        database.transaction((connection) => work(observedConnection(connection, observe))),
      ),
    session: (work) =>
      watched(observe, 'session', () =>
        database.session((connection) => work(observedConnection(connection, observe))),
      ),
    execute: (text, values) => watched(observe, 'execute', () => database.execute(text, values)),
    close: () => database.close(),
  };
}

function observedConnection(connection: Connection, observe: StatementObserver): Connection {
  return {
    query: <Row>(statement: Statement, values: readonly unknown[]) =>
      watched(observe, nameOf(statement), () => connection.query<Row>(statement, values)),
    finish: <Row>(statement: Statement, values: readonly unknown[]) =>
      watched(observe, nameOf(statement), () => connection.finish<Row>(statement, values)),
    script: (sql, msMax) => watched(observe, 'script', () => connection.script(sql, msMax)),
  };
}

/** The statements of batches are numbered by each process as it meets them: to others the number says nothing. */
function nameOf({ name }: Statement): string {
  if (name === '') return 'unnamed';
  return name.startsWith('write_') ? 'write_batch' : name;
}

async function watched<Result>(
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
