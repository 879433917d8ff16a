import { expect, test } from 'vitest';
import { sharedServer } from '../support/server.ts';

test('an embedded database is created without the PostgreSQL template databases, which are half of its files', async () => {
  const { database } = await sharedServer('pglite');
  expect(await database.query({ name: '', text: 'select datname from pg_database' }, [])).toEqual([
    { datname: 'postgres' },
  ]);
});
