import type { Reader } from '../kernel/route.ts';
import type { StatementObserver } from './ports.ts';

/**
 * Reads as requests see them. Look-ups by key travel in groups, so one statement may answer many requests: each is told how long it
 * waited for its own row.
 */
export function tracedReader(reader: Reader, observe: StatementObserver): Reader {
  return {
    rows: (statement, values) =>
      watched(observe, statement.name === '' ? 'unnamed' : statement.name, reader.rows(statement, values)),
    byKey: (table, orgId, id) => watched(observe, `${table.name}_by_key`, reader.byKey(table, orgId, id)),
  };
}

function watched<Result>(
  observe: StatementObserver,
  name: string,
  answer: PromiseLike<Result>,
): Promise<Result> {
  const ended = observe(name);
  return Promise.resolve(answer).then(
    (result) => {
      ended();
      return result;
    },
    (error: unknown) => {
      ended(error);
      throw error;
    },
  );
}
