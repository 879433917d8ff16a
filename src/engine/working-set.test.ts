import { describe, expect, test } from 'vitest';
import { encodeArray } from '../db/array.ts';
import type { Connection } from '../db/database.ts';
import type { AnyResource, Change, Read } from '../kernel/command.ts';
import { DatabaseFailure } from '../kernel/failure.ts';
import { formatId, type IdKind } from '../kernel/ids.ts';
import { type AnyRow, defineTable } from '../kernel/table.ts';
import type { BalanceRow } from '../resources/ledger/table.ts';
import type { Submission, Target } from './submission.ts';
import { WorkingSet } from './working-set.ts';

const suffix = (n: number) => String(n).padStart(26, '0');
const payId = (n: number) => formatId('payment', suffix(n));
const cusId = (n: number) => formatId('customer', suffix(n));

interface Row extends AnyRow {
  readonly appId?: string;
  readonly status?: string;
  readonly dueAt?: number | null;
}

const resource = (name: IdKind, table: string) =>
  ({
    name,
    table: defineTable<AnyRow>(table, ['org_id', 'id'], { orgId: 'text', id: 'text' }),
    due:
      name === 'payment' ? ({ dueAt }: Row) => (dueAt ? { at: dueAt, action: 'expire' } : null) : undefined,
  }) as unknown as AnyResource;
const resources = new Map([
  ['customer', resource('customer', 'customers')],
  ['payment', resource('payment', 'payments')],
]);

type ThenReads = Submission['kind']['thenReads'];

function submission(reads: readonly Read[], target: Target | null = null, thenReads?: ThenReads) {
  const kind = { name: 'test', reads: () => reads, ...(thenReads ? { thenReads } : {}) };
  return { kind, input: undefined, context: { orgId: 'org_1' }, target } as unknown as Submission;
}

const read = (id: string, lock: 'none' | 'share' | 'update' = 'none') =>
  ({
    ...{ resource: id.startsWith('pay') ? 'payment' : 'customer', id, lock },
  }) as Extract<Read, { resource: IdKind }>;

const changeOf = (row: Row, entries: Change['entries'] = []) =>
  ({ resource: row.id.startsWith('pay') ? 'payment' : 'customer', row, entries }) as unknown as Change;

type Stored = Row | BalanceRow;

/** A connection that answers each statement with the requested rows of its table, and a list of the statements. */
function stored(...rows: readonly Stored[]) {
  const statements: { name: string; values: readonly unknown[] }[] = [];
  const query = ({ name }: { name: string }, values: readonly unknown[]) => {
    statements.push({ name, values });
    return Promise.resolve(
      rows.filter((row) => {
        if ('account' in row) return name.startsWith('ledger_balances');
        const isOfTable = name.startsWith(row.id.startsWith('pay') ? 'payments' : 'customers');
        return isOfTable && (values[1] as Buffer).includes(row.id);
      }),
    );
  };
  return { connection: { query } as unknown as Connection, statements };
}

/** A set with one command that reads these payments, loaded. */
async function loaded(reads: readonly Read[], ...rows: readonly Stored[]) {
  const set = new WorkingSet(resources);
  const one = submission(reads);
  set.declare(one);
  const { connection, statements } = stored(...rows);
  await set.find(connection);
  await set.load(connection);
  return { set, one, rows: set.rowsFor(one), statements };
}

const pay = (n: number, fields: Partial<Row> = {}): Row => ({ orgId: 'org_1', id: payId(n), ...fields });

describe('what a command reads', () => {
  test('is the stored row, or undefined when there is none', async () => {
    const { rows } = await loaded([read(payId(1)), read(payId(2))], pay(1));
    expect(rows.get('payment', payId(1))).toEqual(pay(1));
    expect(rows.get('payment', payId(2))).toBeUndefined();
  });

  test('must be declared', async () => {
    const { rows } = await loaded([read(payId(1))], pay(1));
    expect(() => rows.get('payment', payId(2))).toThrow('did not declare');
    expect(() => rows.balance('bank', 'EUR')).toThrow('did not declare');
  });

  test('that is not an id of its kind is absent, and not queried', async () => {
    const { rows, statements } = await loaded([{ resource: 'payment', id: cusId(1), lock: 'update' }]);
    expect(rows.get('payment', cusId(1))).toBeUndefined();
    expect(statements).toEqual([]);
  });

  test('shows the changes of the commands before it', async () => {
    const { set, rows } = await loaded([read(payId(1))], pay(1));
    set.apply(changeOf(pay(1, { status: 'captured' })), 'org_1');
    expect(rows.get('payment', payId(1))).toMatchObject({ status: 'captured' });
  });

  test('is a balance with what the commands before it have posted', async () => {
    const bank = { orgId: 'org_1', account: 'bank', currency: 'EUR', balance: 10n };
    const reads = [
      { balance: 'bank', currency: 'EUR' },
      { balance: 'bank', currency: 'USD' },
    ];
    const { set, rows } = await loaded(reads, bank);
    expect([rows.balance('bank', 'EUR'), rows.balance('bank', 'USD')]).toEqual([10n, 0n]);
    const postings = [
      { account: 'bank', currency: 'EUR', amount: 5n },
      { account: 'sales', currency: 'EUR', amount: -5n },
    ];
    set.apply(changeOf(pay(1), [{ reason: 'capture', postings }]), 'org_1');
    expect([rows.balance('bank', 'EUR'), rows.balance('bank', 'USD')]).toEqual([15n, 0n]);
  });
});

describe('loading', () => {
  test('queries resources in the order of the registry and keys in sorted order, with the strongest lock', async () => {
    const reads = [
      read(payId(2), 'share'),
      read(payId(1), 'update'),
      read(payId(1), 'share'),
      read(cusId(1)),
    ];
    const { set, statements } = await loaded(reads);
    expect(statements.map(({ name }) => name)).toEqual(['customers_by_keys_none', 'payments_by_keys_update']);
    expect(statements[1]?.values).toEqual([
      encodeArray('text', ['org_1', 'org_1']),
      encodeArray('text', [payId(1), payId(2)]),
    ]);
    expect(set.lockOf('payment', 'org_1', payId(1))).toBe('update');
    expect(set.lockOf('payment', 'org_1', payId(2))).toBe('share');
    expect(set.lockOf('payment', 'org_1', payId(3))).toBe('none');
  });

  test('sorts by organization before id', async () => {
    const set = new WorkingSet(resources);
    for (const [orgId, n] of [
      ['org_2', 1],
      ['org_1', 2],
      ['org_2', 0],
      ['org_1', 1],
    ] as const)
      set.declareRow(orgId, read(payId(n)));
    const { connection, statements } = stored();
    await set.load(connection);
    expect(statements[0]?.values).toEqual([
      encodeArray('text', ['org_1', 'org_1', 'org_2', 'org_2']),
      encodeArray('text', [payId(1), payId(2), payId(0), payId(1)]),
    ]);
  });

  test('reads further rows that the first ones name, and locks only then', async () => {
    const set = new WorkingSet(resources);
    const one = submission([read(payId(1), 'update')], null, (_input, rows) =>
      rows.get('payment', payId(1)) ? [read(cusId(7), 'update')] : [],
    );
    set.declare(one);
    const { connection, statements } = stored(pay(1), { orgId: 'org_1', id: cusId(7) });
    await set.find(connection);
    await set.load(connection);
    expect(statements.map(({ name }) => name)).toEqual([
      ...['payments_by_keys_none', 'customers_by_keys_update', 'payments_by_keys_update'],
    ]);
    expect(set.rowsFor(one).get('customer', cusId(7))).toBeDefined();
  });

  test('is a conflict when a row appeared between the two reads', async () => {
    const set = new WorkingSet(resources);
    set.declare(submission([read(payId(1))], null, () => []));
    await set.find(stored().connection);
    const loading = set.load(stored(pay(1)).connection);
    await expect(loading).rejects.toThrow(DatabaseFailure);
    await expect(loading).rejects.toMatchObject({ kind: 'conflict' });
  });

  test('reads more rows later without a lock', async () => {
    const { set } = await loaded([read(payId(1))], pay(1));
    const { connection, statements } = stored(pay(2));
    await set.loadMore(connection, [{ ...read(payId(2), 'update'), orgId: 'org_1' }]);
    expect(statements.map(({ name }) => name)).toEqual(['payments_by_keys_none']);
    expect(set.row('payment', 'org_1', payId(2))).toEqual(pay(2));
  });

  test('refuses a row that was not requested', async () => {
    const set = new WorkingSet(resources);
    set.declareRow('org_1', read(payId(1)));
    const { connection } = stored({ ...pay(1), orgId: 'org_2' });
    await expect(set.load(connection)).rejects.toThrow('not asked for');
  });

  test('is needed only when something was declared', () => {
    const set = new WorkingSet(resources);
    expect(set.isEmpty).toBe(true);
    set.declareRow('org_1', read(payId(1)));
    expect(set.isEmpty).toBe(false);
    expect([set.has('payment', 'org_1', payId(1)), set.has('payment', 'org_2', payId(1))]).toEqual([
      true,
      false,
    ]);
  });
});

describe('the record that a command is about', () => {
  const target = (isClaimed: boolean) => ({ resource: 'payment', id: payId(1), isClaimed }) as const;

  test.each<[what: string, target: Target | null, row: Row[], isNamed: boolean]>([
    ['claimed and stored', target(true), [pay(1)], true],
    ['claimed and absent', target(true), [], false],
    ['not claimed', target(false), [], true],
    ['none', null, [], false],
  ])('%s', async (_what, one, rows, isNamed) => {
    const set = new WorkingSet(resources);
    const command = submission([], one);
    set.declare(command);
    await set.load(stored(...rows).connection);
    expect(set.targetOf(command)).toEqual(isNamed ? one : null);
  });
});

test('the application of a command is that of the first record which it locks to change', async () => {
  const rows = [pay(1, { appId: 'app_1' }), pay(2), pay(3, { appId: 'app_3' })];
  const reads = [read(payId(1), 'share'), read(payId(2), 'update'), read(payId(3), 'update')];
  const { set, one } = await loaded(reads, ...rows);
  expect(set.appChangedBy(one)).toBe('app_3');
  const { set: other, one: reader } = await loaded(reads.slice(0, 2), ...rows);
  expect(other.appChangedBy(reader)).toBeUndefined();
});

describe('what a batch writes', () => {
  test('is an insert for a new row and an update for a stored one, each once and as it is at the end', async () => {
    const { set } = await loaded([read(payId(1)), read(payId(2)), read(payId(3))], pay(1), pay(2));
    for (const status of ['a', 'b'])
      for (const n of [1, 3, 4]) set.apply(changeOf(pay(n, { status })), 'org_1');
    set.apply(changeOf({ orgId: 'org_1', id: cusId(1) }), 'org_1');
    expect(set.changed('payment')).toEqual({
      inserts: [pay(3, { status: 'b' }), pay(4, { status: 'b' })],
      updates: [pay(1, { status: 'b' })],
    });
    expect(set.changed('customer').inserts).toHaveLength(1);
    expect(set.all('payment').map(({ id }) => id)).toEqual([1, 2, 3, 4].map(payId));
  });

  test('is of the organization of the command only', async () => {
    const { set } = await loaded([]);
    expect(() => set.apply(changeOf({ ...pay(1), orgId: 'org_2' }), 'org_1')).toThrow('org_2');
  });

  test.each<[what: string, before: Row | null, after: Row | null, put: number[], removed: number[]]>([
    ['a timer for a new row that waits', null, pay(1, { dueAt: 5 }), [5], []],
    ['no timer for a new row that does not', null, pay(1), [], []],
    ['the timer again when it moves', pay(1, { dueAt: 5 }), pay(1, { dueAt: 6 }), [6], []],
    ['nothing when it does not move', pay(1, { dueAt: 5 }), pay(1, { dueAt: 5, status: 'x' }), [], []],
    ['its removal when the row no longer waits', pay(1, { dueAt: 5 }), pay(1), [], [5]],
    ['nothing when the row did not change', pay(1, { dueAt: 5 }), null, [], []],
  ])('%s', async (_what, before, after, put, removed) => {
    const { set } = await loaded([read(payId(1))], ...(before ? [before] : []));
    if (after) set.apply(changeOf(after), 'org_1');
    const timers = set.timers();
    expect(timers.put.map(({ dueAt }) => dueAt)).toEqual(put);
    expect(timers.removed.map(({ dueAt }) => dueAt)).toEqual(removed);
  });

  test('is the timer of a record that did not change, when that is requested', async () => {
    const { set } = await loaded([read(payId(1))], pay(1, { dueAt: 5, appId: 'app_1' }));
    set.retime('payment', pay(1));
    expect(set.timers()).toEqual({
      put: [{ orgId: 'org_1', id: payId(1), appId: 'app_1', resource: 'payment', dueAt: 5 }],
      removed: [],
    });
    expect(() => set.retime('payment', pay(2))).toThrow('not declared');
  });
});
