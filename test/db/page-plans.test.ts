/**
 * A page reads the rows that it shows and not those that it passes over, whatever its filter. PostgreSQL plans a statement for any value of
 * the filter, so it must not conclude from the stored rows that a filter matches most of them.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Connection } from '../../src/db/database.ts';
import { createReader } from '../../src/db/reader.ts';
import type { AnyRow, Condition, Table } from '../../src/kernel/table.ts';
import { customersTable } from '../../src/resources/customers/table.ts';
import { disputesTable } from '../../src/resources/disputes/table.ts';
import { eventsTable } from '../../src/resources/events/table.ts';
import { providerEventsTable } from '../../src/resources/history/provider-event-table.ts';
import { ledgerEntriesTable } from '../../src/resources/ledger/table.ts';
import { paymentsTable } from '../../src/resources/payments/table.ts';
import { refundsTable } from '../../src/resources/refunds/table.ts';
import { settlementLinesTable } from '../../src/resources/settlements/table.ts';
import { transfersTable } from '../../src/resources/transfers/table.ts';
import { deliveriesTable } from '../../src/resources/webhooks/delivery-table.ts';
import type { Server } from '../../src/server.ts';
import { createPopulatedTenant } from '../support/populated-tenant.ts';
import { databaseKinds, openServer } from '../support/server.ts';

const copies = 3_000;
const limit = 21;

/** The filters of each list that have an index. */
const lists = [
  [paymentsTable, ['status', 'customer_id', 'reference']],
  [refundsTable, ['status', 'payment_id']],
  [disputesTable, ['status', 'payment_id']],
  [transfersTable, ['status', 'customer_id', 'reference']],
  [customersTable, ['status', 'reference']],
  [eventsTable, ['type', 'resource_id']],
  [
    deliveriesTable,
    ['app_id', 'app_id status', 'app_id webhook_id', 'app_id event_id', 'status', 'webhook_id', 'event_id'],
  ],
  [ledgerEntriesTable, ['payment_id', 'transfer_id']],
  [providerEventsTable, ['payment_id', 'transfer_id']],
  [settlementLinesTable, ['settled_on']],
] as unknown as readonly (readonly [Table<AnyRow>, readonly string[]])[];

const shapes = lists.flatMap(([table, filters]) =>
  filters.map((filter) => ({ name: `${table.name} by ${filter}`, table, columns: filter.split(' ') })),
);

describe.each(databaseKinds)('pages on %s', (kind) => {
  let server: Server;
  let orgId: string;
  beforeAll(async () => {
    server = await openServer(kind, { role: 'api' });
    ({ orgId } = await createPopulatedTenant(server));
  });
  afterAll(() => server.close());

  it('read few rows, whether no row matches or all', async () => {
    const tooMany = await server.database.session(async (connection) => {
      const reader = createReader({ ...server.database, query: connection.query });
      const read = async ({ table, columns }: Shape, values: Values) => {
        const conditions = columns.map(
          (column): Condition => ({ column, operator: '=', value: values(column) }),
        );
        const before = await rowsRead(connection, table);
        const page = await reader.page({ table, orgId, conditions, limit });
        return { shown: page.length, read: (await rowsRead(connection, table)) - before };
      };
      // PostgreSQL plans a statement for any value at its sixth use. This is while there are few rows.
      for (const shape of shapes) for (let use = 0; use < 7; use += 1) await read(shape, noneHas);
      for (const [table] of lists) await copyRows(connection, table);
      if (kind === 'postgres') await connection.script('analyze');
      const found: string[] = [];
      for (const shape of shapes) {
        const ofNone = await read(shape, noneHas);
        expect(ofNone.shown).toBe(0);
        if (ofNone.read > limit) found.push(`${shape.name}: ${ofNone.read} rows for none`);
        const values = await valuesOfAll(connection, shape.table);
        // The copied entries belong to a payment and not to a transfer.
        if (!shape.columns.every((column) => values(column) !== '')) continue;
        const ofAll = await read(shape, values);
        expect(ofAll.shown, shape.name).toBe(limit);
        // The keys of a page and its rows are read separately.
        if (ofAll.read > 3 * limit) found.push(`${shape.name}: ${ofAll.read} rows for ${limit}`);
      }
      return found;
    });
    expect(tooMany).toEqual([]);
  });
});

type Shape = (typeof shapes)[number];
type Values = (column: string) => string;

const noneHas: Values = (column) => (column === 'settled_on' ? '2001-01-01' : 'none');

/** Copies a row, with new ids. Triggers and foreign keys are off. */
async function copyRows(connection: Connection, { name }: Table<AnyRow>): Promise<void> {
  const own = name === 'provider_events' ? `, 'provider_event_id', 'copy_' || n` : '';
  await connection.script(`set session_replication_role = replica;
    insert into ${name} select (jsonb_populate_record(t, jsonb_build_object('id', left(t.id, -8) || lpad(n::text, 8, '0')${own}))).*
      from ${name} t, generate_series(1, ${copies}) n where t.ctid = (select ctid from ${name} limit 1);
    set session_replication_role = origin`);
}

async function valuesOfAll(connection: Connection, { name }: Table<AnyRow>): Promise<Values> {
  const [row] = await connection.query<{ values: Readonly<Record<string, string>> }>(
    { name: '', text: `select to_jsonb(t) as values from ${name} t where t.id like '%00000001'` },
    [],
  );
  return (column) => row?.values[column] ?? '';
}

async function rowsRead(connection: Connection, { name }: Table<AnyRow>): Promise<number> {
  await connection.query({ name: '', text: 'select pg_stat_force_next_flush()' }, []);
  const [row] = await connection.query<{ read: number }>(
    { name: '', text: 'select idx_tup_fetch::integer as read from pg_stat_user_tables where relname = $1' },
    [name],
  );
  return row?.read ?? Number.NaN;
}
