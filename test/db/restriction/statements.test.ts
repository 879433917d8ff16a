import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { findUnrestricted, findUnrestrictedInFunction, functions } from './check.ts';
import { type Exception, exceptions } from './exceptions.ts';
import { type InstrumentedSource, openInstrumentedSource, type Site } from './instrumented.ts';
import { runWorkload } from './workload.ts';

/** Sites that only pass on the statements of others. */
const passThrough = ['db/pool.ts'];

let source: InstrumentedSource;

beforeAll(async () => {
  source = await openInstrumentedSource();
  await runWorkload(source, inject('postgresUrl'));
});
afterAll(() => source?.close());

interface Found extends Pick<Exception, 'statement'> {
  readonly place: string;
  readonly text: string;
}

/** Statements without a name are listed with their file. */
const keyOf = ({ place }: Site, name: string) => (name === '' ? place.replace(/:\d+$/, '') : name);

function statements(): readonly Found[] {
  const sites = [...source.sites.values()].filter(({ place }) => !passThrough.includes(fileOf(place)));
  return sites.flatMap((site) =>
    site.statements.map(({ name, text }) => ({ statement: keyOf(site, name), place: site.place, text })),
  );
}

const fileOf = (place: string) => place.replace(/:\d+$/, '');

const freeIn =
  (tables: Exception['tables'] | undefined) =>
  (table: string): boolean =>
    tables === 'all' || tables?.includes(table) === true;

const tablesOf = (statement: string) => exceptions.find((one) => one.statement === statement)?.tables;

describe('statements of the server', () => {
  test('each place in the source that creates a statement was reached', () => {
    const missed = [...source.sites.values()].filter((site) => site.statements.length === 0);
    expect(missed.map(({ place }) => place)).toEqual([]);
  });

  test('each statement restricts every table by org_id', () => {
    const problems = statements().flatMap(({ statement, place, text }) =>
      findUnrestricted(text, { free: freeIn(tablesOf(statement)) }).map(
        (problem) => `${place} ${statement}: ${problem}`,
      ),
    );
    expect(
      [...new Set(problems)],
      'restrict the table by org_id, or list the statement in exceptions.ts with a reason',
    ).toEqual([]);
  });

  // Scripts, cursors, and the statements that Better Auth writes have no such place.
  test('every other statement that ran restricts every table by org_id', () => {
    const created = new Set(statements().map(({ text }) => text));
    const others = [...source.executed].filter((text) => !created.has(text));
    expect(others.filter((text) => /\bperson_sessions\b/.test(text))).not.toEqual([]);
    expect(others.filter((text) => text.startsWith('declare rows'))).not.toEqual([]);
    const problems = others.flatMap((text) => findUnrestricted(text).map((problem) => `${problem}: ${text}`));
    expect(problems).toEqual([]);
  });

  test('each exception is needed', () => {
    const all = statements();
    const stale = exceptions.flatMap(({ statement, tables }) => {
      const texts = all.filter((one) => one.statement === statement).map(({ text }) => text);
      const isNeeded = (table: string | undefined) =>
        texts.some((text) => {
          const free = (one: string) => freeIn(tables)(one) && one !== table && tables !== 'all';
          return findUnrestricted(text, { free }).length > 0;
        });
      const listed = tables === 'all' ? [undefined] : tables;
      return listed.filter((table) => !isNeeded(table)).map((table) => `${statement} ${table ?? ''}`.trim());
    });
    expect(stale, 'remove what exceptions.ts no longer needs').toEqual([]);
  });

  test('no statement is listed twice', () => {
    const names = exceptions.map(({ statement }) => statement);
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  });

  test.each(
    functions.map((definition) => [/FUNCTION public\.(\w+)/.exec(definition)?.[1] ?? '', definition]),
  )('the function %s restricts every table by org_id', (_name, definition) => {
    expect(findUnrestrictedInFunction(definition)).toEqual([]);
  });
});
