import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { openPglite } from '../../src/db/pglite.ts';

let database: Database;

beforeAll(async () => {
  database = await openPglite({
    dataDirectory: undefined,
    onCrash: (error) => {
      throw error;
    },
  });
});

afterAll(() => database.close());

it('answers statements that are sent together in their order, also behind one that fails', async () => {
  const statement = { name: 'divide', text: 'select $1::integer as number, 100 / $2::integer as quotient' };
  const divisors = Array.from({ length: 40 }, (_, i) => (i % 7 === 3 ? 0 : i + 1));
  const answers = await database.session((connection) =>
    Promise.allSettled(divisors.map((divisor, number) => connection.query(statement, [number, divisor]))),
  );
  answers.forEach((answer, number) => {
    const divisor = divisors[number] ?? 0;
    if (answer.status === 'rejected') expect(divisor).toBe(0);
    else expect(answer.value).toEqual([{ number, quotient: Math.trunc(100 / divisor) }]);
  });
});

it('writes a checkpoint when the write-ahead log has grown', async () => {
  await database.script('create table grown (content text)');
  for (let i = 0; i < 4; i += 1)
    await database.script(`insert into grown select repeat('x', 1000) from generate_series(1, 20000)`);
  const growth = {
    name: 'growth',
    text: `select pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn)::bigint as bytes from pg_control_checkpoint()`,
  };
  const [before] = await database.query<{ bytes: bigint }>(growth, []);
  expect(before?.bytes).toBeGreaterThan(64n * 1024n * 1024n);
  for (let i = 0; i < 1_000; i += 1) await database.query({ name: 'one', text: 'select 1 as one' }, []);
  const [after] = await database.query<{ bytes: bigint }>(growth, []);
  expect(after?.bytes).toBeLessThan(1024n * 1024n);
});
