import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { DatabaseFailure } from '../../src/db/failure.ts';
import { openPglite } from '../../src/db/pglite.ts';
import { cleaningProblem } from '../../src/db/pglite-protocol.ts';
import { openPostgres } from '../../src/db/postgres.ts';
import { effort } from '../support/effort.ts';
import { testSeed } from '../support/seed.ts';

const LATE_MS_MAX = 200;
const LIMITS = { connectMsMax: 1_000, queryMsMax: 60, lockMsMax: 1_000 };
const CALLERS = 6;
/** Factor by which a slow machine may exceed the number of rounds. */
const ROUNDS_MORE_MAX = 50;

/** A late response may fail as `unavailable`. Any other outcome is a bug, above all the response to another caller. */
async function answerOrUnavailable<Result>(pending: Promise<Result>): Promise<Result | undefined> {
  try {
    return await pending;
  } catch (error) {
    if (error instanceof DatabaseFailure && error.kind === 'unavailable') return undefined;
    throw error;
  }
}

describe(`an embedded database with late responses (seed ${testSeed})`, () => {
  let database: Database;
  const crashes: Error[] = [];

  beforeAll(async () => {
    process.env.LATE_SEED = String(testSeed);
    process.env.LATE_MS_MAX = String(LATE_MS_MAX);
    database = await openPglite({
      dataDirectory: undefined,
      onCrash: (error) => crashes.push(error),
      limits: LIMITS,
      workerFile: new URL('late-worker.mjs', import.meta.url),
    });
    const created = 'create table if not exists effects (caller text, number integer)';
    while ((await answerOrUnavailable(database.script(created).then(() => true))) !== true);
  });

  afterAll(async () => {
    await database.close();
    delete process.env.LATE_SEED;
    delete process.env.LATE_MS_MAX;
  });

  it('returns every caller its own rows, or a failure', async () => {
    const rounds = effort(30, 1_000);
    let answered = 0;
    let failed = 0;
    // Both outcomes must occur for the test to be meaningful. A slow machine needs more rounds.
    const isEnough = (number: number) =>
      number >= rounds * ROUNDS_MORE_MAX || (number >= rounds && answered > CALLERS && failed > 5);
    const caller = async (name: string): Promise<void> => {
      for (let number = 0; !isEnough(number); number += 1) {
        const statement = { name: 'echo', text: 'select $1::text as caller, $2::integer as number' };
        const pending =
          number % 3 === 0
            ? database.transaction(async (connection) => {
                const effect = { name: 'effect', text: 'insert into effects values ($1, $2)' };
                const [written, rows] = await Promise.all([
                  connection.query(effect, [name, number]),
                  connection.query<object>(statement, [name, number]),
                ]);
                expect(written).toEqual([]);
                return rows;
              })
            : database.query<object>(statement, [name, number]);
        const rows = await answerOrUnavailable(pending);
        if (rows === undefined) failed += 1;
        else {
          answered += 1;
          expect(rows).toEqual([{ caller: name, number }]);
        }
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, (_, i) => caller(`caller ${i}`)));
    expect(answered).toBeGreaterThan(CALLERS);
    expect(failed).toBeGreaterThan(5);
    expect(crashes).toEqual([]);
  });

  it('leaves no transaction, setting or prepared statement to the next caller', async () => {
    let changed = 0;
    const rounds = effort(8, 100);
    for (let round = 0; round < rounds || (changed < 3 && round < rounds * ROUNDS_MORE_MAX); round += 1) {
      const left = database.transaction(async (connection) => {
        await connection.script(
          `set application_name = 'left behind'; create temp table left_behind (id integer)`,
        );
        changed += 1;
        await connection.query({ name: 'slow', text: 'select pg_sleep($1)' }, [
          LIMITS.queryMsMax / 1_000 + 0.3,
        ]);
      });
      expect(await answerOrUnavailable(left.then(() => 'committed'))).toBeUndefined();
      const found = await answerOrUnavailable(
        database.query<object>(
          {
            name: '',
            text: `select current_setting('application_name') as name, to_regclass('left_behind')::text as temp,
              (select count(*)::integer from pg_prepared_statements where name = 'slow') as prepared`,
          },
          [],
        ),
      );
      if (found !== undefined) expect(found).toEqual([{ name: '', temp: null, prepared: 0 }]);
    }
    expect(changed).toBeGreaterThanOrEqual(3);
  });
});

describe('a PostgreSQL statement that a caller stops waiting for', () => {
  it('loses its connection: later callers get their own rows on other connections', async () => {
    const database = openPostgres(inject('postgresUrl'), () => undefined, LIMITS);
    const backends = new Set<number>();
    const late = new Set<number>();
    const rounds = effort(20, 200);
    const pid = { name: '', text: 'select pg_backend_pid() as pid' };
    const caller = async (name: string): Promise<void> => {
      const isEnough = (number: number) =>
        late.size > CALLERS && backends.size > late.size && number >= rounds;
      for (let number = 0; !isEnough(number) && number < rounds * ROUNDS_MORE_MAX; number += 1) {
        const isLate = (number + name.length) % 5 === 0;
        const seconds = isLate ? (LIMITS.queryMsMax * 2) / 1_000 : 0;
        const pending = database.transaction(async (connection) => {
          // The server would cancel the statement first; here the caller gives up while it runs.
          await connection.script('set local statement_timeout = 0');
          const [backend] = await connection.query<{ pid: number }>(pid, []);
          expect(late).not.toContain(backend?.pid);
          backends.add(backend?.pid ?? 0);
          if (isLate) late.add(backend?.pid ?? 0);
          const statement = {
            name: 'slow_echo',
            text: 'select $1::text as caller, $2::integer as number, pg_sleep($3)::text',
          };
          return connection.query<object>(statement, [name, number, seconds]);
        });
        const rows = await answerOrUnavailable(pending);
        if (isLate) expect(rows).toBeUndefined();
        else if (rows !== undefined) expect(rows).toEqual([{ caller: name, number, pg_sleep: '' }]);
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, (_, i) => caller('x'.repeat(i))));
    expect(late.size).toBeGreaterThan(CALLERS);
    expect(backends.size).toBeGreaterThan(late.size);
    await database.close();
  });
});

describe('a session that cannot be cleaned', () => {
  it('is reported once, and every later query fails', async () => {
    const crashes: Error[] = [];
    let onCrash: (error: Error) => void = () => undefined;
    const crashed = new Promise<Error>((resolve) => {
      onCrash = resolve;
    });
    const database = await openPglite({
      dataDirectory: undefined,
      onCrash: (error) => {
        crashes.push(error);
        onCrash(error);
      },
      limits: LIMITS,
      workerFile: new URL('unclean-worker.mjs', import.meta.url),
    });
    const one = { name: 'one', text: 'select 1 as one' };
    await expect(database.query(one, [])).rejects.toMatchObject({ kind: 'unavailable' });
    // On a slow machine the query reaches its time limit before the worker reports the problem.
    expect((await crashed).message).toContain('cannot reuse its session safely');
    await expect(database.query(one, [])).rejects.toThrow();
    await database.close();
    expect(crashes).toHaveLength(1);
  });

  it.each([
    ['an open transaction', [0x5a, 0, 0, 0, 5, 0x54], /status T instead of idle/],
    ['a failed transaction', [0x5a, 0, 0, 0, 5, 0x45], /status E instead of idle/],
    ['an error', [0x45, 0, 0, 0, 7, 0x4d, 0x78, 0, 0x5a, 0, 0, 0, 5, 0x49], /x/],
    ['nothing', [], /status none instead of idle/],
  ])('is recognized by %s', (_name, bytes, problem) => {
    expect(cleaningProblem(new Uint8Array(bytes))).toMatch(problem);
  });

  it('is not reported when a notice precedes the idle status', () => {
    const notice = [0x4e, 0, 0, 0, 5, 0];
    expect(cleaningProblem(new Uint8Array([...notice, 0x5a, 0, 0, 0, 5, 0x49]))).toBeUndefined();
  });
});
