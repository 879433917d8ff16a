import type { Reader } from '../kernel/table.ts';
import type { StatementObserver } from './ports.ts';

/**
 * Traces the reads of requests. Lookups by key and pages are batched, so one statement may answer many requests: each request gets a span for
 * the time it waited for its row.
 */
export function tracedReader(reader: Reader, observe: StatementObserver): Reader {
  return {
    rows: (statement, values) =>
      observedRead(
        observe,
        statement.name === '' ? 'unnamed' : statement.name,
        reader.rows(statement, values),
      ),
    first: (statement, values) => observedRead(observe, statement.name, reader.first(statement, values)),
    byKey: (table, orgId, id) =>
      observedRead(observe, `${table.name}_by_key`, reader.byKey(table, orgId, id)),
    page: (query) => observedRead(observe, `${query.table.name}_page`, reader.page(query)),
  };
}

function observedRead<Result>(
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
