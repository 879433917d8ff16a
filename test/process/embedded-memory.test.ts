import { expect, test } from 'vitest';
import { openPglite } from '../../src/db/pglite.ts';

const megabyte = 1024 * 1024;
const rowsInRead = 50;
const rowBytes = 100_000;
const reads = 100;

/** PGlite's own message execution retains every row that it has returned: here 480 MB. */
test('the embedded database does not retain the rows that it has returned', async () => {
  const database = await openPglite({
    dataDirectory: undefined,
    onCrash: (error) => {
      throw error;
    },
  });
  const statement = {
    name: '',
    text: `select repeat('x', ${rowBytes}) as x from generate_series(1, ${rowsInRead})`,
  };
  const read = async (count: number) => {
    for (let i = 0; i < count; i += 1) expect(await database.query(statement, [])).toHaveLength(rowsInRead);
  };
  await read(20);
  const before = process.memoryUsage().rss;
  await read(reads);
  const grown = (process.memoryUsage().rss - before) / megabyte;
  await database.close();
  expect(grown).toBeLessThan((reads * rowsInRead * rowBytes) / megabyte / 2);
});
