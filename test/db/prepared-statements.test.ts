import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Connection, Database } from '../../src/db/database.ts';
import { openPglite } from '../../src/db/pglite.ts';
import { openPostgres } from '../../src/db/postgres.ts';
import { Random } from '../process/chaos/requests.ts';
import { effort } from '../support/effort.ts';
import { randomFrom, testSeed } from '../support/seed.ts';

const limit = 200;
/** A statement with a different text for each number. */
const add = (n: number) => ({ name: `add_${n}`, text: `select $1::integer + ${n} as sum` });

describe.each(['pglite', 'postgres'] as const)(
  `the prepared statements of a connection on %s (seed ${testSeed})`,
  (kind) => {
    const random = new Random(randomFrom(testSeed));
    let database: Database;
    beforeAll(async () => {
      database =
        kind === 'pglite'
          ? await openPglite({ dataDirectory: undefined, onCrash: () => undefined })
          : openPostgres(inject('postgresUrl'), () => undefined);
    });
    afterAll(() => database.close());

    const sum = async (connection: Connection, n: number, to: number) =>
      (await connection.query<{ sum: number }>(add(n), [to]))[0]?.sum;
    const prepared = async (connection: Connection) => {
      const text = 'select name from pg_prepared_statements';
      return (await connection.query<{ name: string }>({ name: '', text }, [])).map(({ name }) => name);
    };

    it('are those that it used last', async () => {
      await database.session(async (connection) => {
        for (let n = 0; n < 2 * limit; n += 1) {
          expect(await sum(connection, n, 1)).toBe(1 + n);
          expect(await sum(connection, 7, 1)).toBe(8);
        }
        const names = await prepared(connection);
        expect(names).toHaveLength(limit);
        expect(names).toContain('add_7');
        expect(names).toContain(`add_${2 * limit - 1}`);
        expect(names).not.toContain('add_8');
        // A statement that was closed is prepared again.
        expect(await sum(connection, 8, 1)).toBe(9);
        expect(await prepared(connection)).toContain('add_8');
      });
    });

    it('return the right rows in pipelines and after failed transactions', async () => {
      const names = 3 * limit;
      const refused = { text: 'select no_such_function()' };
      const work = async (connection: Connection, isFailing: boolean) => {
        const numbers = Array.from({ length: random.between(1, 300) }, () => random.below(names));
        const failAt = isFailing ? random.below(numbers.length) : -1;
        const answers = numbers.map((n, i) => {
          const answer = sum(connection, n, i);
          if (i !== failAt) return answer;
          return connection.query({ name: `refused_${n}`, ...refused }, []).then(() => answer);
        });
        for (const [i, answer] of (await Promise.allSettled(answers)).entries()) {
          if (answer.status === 'fulfilled') expect(answer.value).toBe(i + (numbers[i] ?? 0));
          else expect(String(answer.reason)).toContain('no_such_function');
        }
        if (isFailing) throw new Error('roll back');
      };
      const rounds = effort(12, 300);
      for (let round = 0; round < rounds; round += 1) {
        const transactions = Array.from({ length: 4 }, (_, i) =>
          database
            .transaction((connection) => work(connection, i % 2 === 0))
            .catch((error: unknown) => {
              expect(String(error)).toContain('roll back');
            }),
        );
        const shared = Array.from({ length: 300 }, async (_, i) => {
          const n = random.below(names);
          expect(await sum(database, n, i)).toBe(i + n);
        });
        await Promise.all([...transactions, ...shared]);
      }
      await database.session(async (connection) => {
        // A pipeline may exceed the limit until the next statement.
        await sum(connection, 1, 1);
        expect((await prepared(connection)).length).toBeLessThanOrEqual(limit);
      });
    });
  },
);
