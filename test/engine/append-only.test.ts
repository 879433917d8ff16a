import { beforeAll, describe, expect, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

const appendOnly = ['events', 'state_history', 'ledger_entries', 'provider_events', 'settlement_lines'];

/** The database enforces these rules itself, independently of the code. */
describe.each(databaseKinds)('append-only tables on %s', (kind) => {
  let server: Server;
  let acme: Tenant;
  let other: Tenant;

  beforeAll(async () => {
    server = await sharedServer(kind);
    [acme, other] = [await tenant(server), await tenant(server)];
    for (const { client } of [acme, other]) {
      const { id } = (await client.post('developer_api_payments', { amount: 100, currency: 'EUR' })).body;
      await client.post(`developer_api_payments/${id}/advance`, { to: 'settled' });
    }
  });

  /** Runs in a transaction that never commits. */
  async function attempt(sql: string, resetOf?: string): Promise<string> {
    const undone = new Error('undone');
    return server.database
      .transaction(async (connection) => {
        if (resetOf !== undefined)
          await connection.query({ name: '', text: `select set_config('sandbank.reset_of', $1, true)` }, [
            resetOf,
          ]);
        await connection.query({ name: '', text: sql }, []);
        throw undone;
      })
      .catch((error: Error) => (error === undone ? 'done' : error.message));
  }

  test.each(appendOnly)('%s cannot be changed or deleted', async (table) => {
    const where = `where org_id = '${acme.orgId}'`;
    expect(await attempt(`delete from ${table} ${where}`)).toMatch(/append-only: delete is refused/);
    expect(await attempt(`update ${table} set request_id = 'x' ${where}`)).toMatch(/update is refused/);
    expect(await attempt(`truncate ${table}`)).toMatch(/truncate is refused/);
  });

  test.each(appendOnly)(
    'rows of %s can be deleted only by the reset of their organization',
    async (table) => {
      const sql = `delete from ${table} where org_id = '${acme.orgId}'`;
      expect(await attempt(sql, acme.orgId)).toBe('done');
      expect(await attempt(sql, other.orgId)).toMatch(/append-only: delete is refused/);
      expect(await attempt(`delete from ${table}`, acme.orgId)).toMatch(/append-only: delete is refused/);
      expect(
        await attempt(`update ${table} set request_id = 'x' where org_id = '${acme.orgId}'`, acme.orgId),
      ).toMatch(/update is refused/);
    },
  );

  test('a reset may clear event_id of a history row, and nothing else', async () => {
    const where = `where org_id = '${acme.orgId}'`;
    expect(await attempt(`update state_history set event_id = null ${where}`, acme.orgId)).toBe('done');
    expect(await attempt(`update state_history set event_id = null ${where}`)).toMatch(/update is refused/);
    expect(
      await attempt(`update state_history set event_id = null, action = 'x' ${where}`, acme.orgId),
    ).toMatch(/update is refused/);
  });

  test.each(['audit', 'audit_seals'])('rows of %s can never be deleted', async (table) => {
    await server.database.query(
      {
        name: '',
        text: `insert into audit_seals select $1, 1000, array['a'], 'a', 'a', sha256('a'), sha256('b'), now()
          on conflict do nothing`,
      },
      [acme.orgId],
    );
    const sql = `delete from ${table} where org_id = '${acme.orgId}'`;
    expect(await attempt(sql)).toMatch(/append-only: delete is refused/);
    expect(await attempt(sql, acme.orgId)).toMatch(/append-only: delete is refused/);
  });
});
