import { describe, expect, test } from 'vitest';
import { encodeArray } from '../db/array.ts';
import type { Connection } from '../db/database.ts';
import { DatabaseFailure } from '../db/failure.ts';
import type { AnyResource, Change, Read, Submission, Target } from '../kernel/command.ts';
import { formatId, type IdKind } from '../kernel/ids.ts';
import { type AnyRow, defineTable } from '../kernel/table.ts';
import type { BalanceRow } from '../resources/ledger/table.ts';
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
  return {
    kind,
    input: undefined,
    context: { orgId: formatId('organization', '1') },
    target,
  } as unknown as Submission;
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

const pay = (n: number, fields: Partial<Row> = {}): Row => ({
  orgId: formatId('organization', '1'),
  id: payId(n),
  ...fields,
});

describe('a read of a command', () => {
  test('returns the stored row, or undefined when there is none', async () => {
    const { rows } = await loaded([read(payId(1)), read(payId(2))], pay(1));
    expect(rows.get('payment', payId(1))).toEqual(pay(1));
    expect(rows.get('payment', payId(2))).toBeUndefined();
  });

  test('must be declared', async () => {
    const { rows } = await loaded([read(payId(1))], pay(1));
    expect(() => rows.get('payment', payId(2))).toThrow('did not declare');
    expect(() => rows.balance('bank', 'EUR')).toThrow('did not declare');
  });

  test('with an id of another kind returns undefined without a query', async () => {
    // @ts-expect-error An id of another kind does not compile.
    const { rows, statements } = await loaded([{ resource: 'payment', id: cusId(1), lock: 'update' }]);
    expect(rows.get('payment', cusId(1))).toBeUndefined();
    expect(statements).toEqual([]);
  });

  test('returns the changes of previous commands', async () => {
    const { set, rows } = await loaded([read(payId(1))], pay(1));
    set.apply(changeOf(pay(1, { status: 'captured' })), formatId('organization', '1'));
    expect(rows.get('payment', payId(1))).toMatchObject({ status: 'captured' });
  });

  test('returns a balance with the postings of previous commands', async () => {
    const bank = { orgId: formatId('organization', '1'), account: 'bank', currency: 'EUR', balance: 10n };
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
    set.apply(changeOf(pay(1), [{ reason: 'capture', postings }]), formatId('organization', '1'));
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
      encodeArray('text', [formatId('organization', '1'), 'org_1']),
      encodeArray('text', [payId(1), payId(2)]),
    ]);
    expect(set.lockOf('payment', formatId('organization', '1'), payId(1))).toBe('update');
    expect(set.lockOf('payment', formatId('organization', '1'), payId(2))).toBe('share');
    expect(set.lockOf('payment', formatId('organization', '1'), payId(3))).toBe('none');
  });

  test('sorts by organization before id', async () => {
    const set = new WorkingSet(resources);
    for (const [orgId, n] of [
      [formatId('organization', '2'), 1],
      [formatId('organization', '1'), 2],
      [formatId('organization', '2'), 0],
      [formatId('organization', '1'), 1],
    ] as const)
      set.declareRow(orgId, read(payId(n)));
    const { connection, statements } = stored();
    await set.load(connection);
    expect(statements[0]?.values).toEqual([
      encodeArray('text', [
        formatId('organization', '1'),
        formatId('organization', '1'),
        formatId('organization', '2'),
        'org_2',
      ]),
      encodeArray('text', [payId(1), payId(2), payId(0), payId(1)]),
    ]);
  });

  test('reads further rows that the first ones name, and locks only then', async () => {
    const set = new WorkingSet(resources);
    const one = submission([read(payId(1), 'update')], null, (_input, rows) =>
      rows.get('payment', payId(1)) ? [read(cusId(7), 'update')] : [],
    );
    set.declare(one);
    const { connection, statements } = stored(pay(1), { orgId: formatId('organization', '1'), id: cusId(7) });
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
    await set.loadMore(connection, [{ ...read(payId(2), 'update'), orgId: formatId('organization', '1') }]);
    expect(statements.map(({ name }) => name)).toEqual(['payments_by_keys_none']);
    expect(set.row('payment', formatId('organization', '1'), payId(2))).toEqual(pay(2));
  });

  test('refuses a row that was not requested', async () => {
    const set = new WorkingSet(resources);
    set.declareRow(formatId('organization', '1'), read(payId(1)));
    const { connection } = stored({ ...pay(1), orgId: formatId('organization', '2') });
    await expect(set.load(connection)).rejects.toThrow('not requested');
  });

  test('is needed only when something was declared', () => {
    const set = new WorkingSet(resources);
    expect(set.isEmpty).toBe(true);
    set.declareRow(formatId('organization', '1'), read(payId(1)));
    expect(set.isEmpty).toBe(false);
    expect([
      set.has('payment', formatId('organization', '1'), payId(1)),
      set.has('payment', formatId('organization', '2'), payId(1)),
    ]).toEqual([true, false]);
  });
});

describe('the target of a command', () => {
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

test('the application of a command is that of the first record that it locks for update', async () => {
  const rows = [
    pay(1, { appId: formatId('application', '1') }),
    pay(2),
    pay(3, { appId: formatId('application', '3') }),
  ];
  const reads = [read(payId(1), 'share'), read(payId(2), 'update'), read(payId(3), 'update')];
  const { set, one } = await loaded(reads, ...rows);
  expect(set.appChangedBy(one)).toBe(formatId('application', '3'));
  const { set: other, one: reader } = await loaded(reads.slice(0, 2), ...rows);
  expect(other.appChangedBy(reader)).toBeUndefined();
});

describe('the writes of a batch', () => {
  test('are an insert per new row and an update per stored one, in the final state', async () => {
    const { set } = await loaded([read(payId(1)), read(payId(2)), read(payId(3))], pay(1), pay(2));
    for (const status of ['a', 'b'])
      for (const n of [1, 3, 4]) set.apply(changeOf(pay(n, { status })), formatId('organization', '1'));
    set.apply(
      changeOf({ orgId: formatId('organization', '1'), id: cusId(1) }),
      formatId('organization', '1'),
    );
    expect(set.changed('payment')).toEqual({
      inserts: [pay(3, { status: 'b' }), pay(4, { status: 'b' })],
      updates: [pay(1, { status: 'b' })],
    });
    expect(set.changed('customer').inserts).toHaveLength(1);
    expect(set.all('payment').map(({ id }) => id)).toEqual([1, 2, 3, 4].map(payId));
  });

  test('concern only the organization of the command', async () => {
    const { set } = await loaded([]);
    expect(() =>
      set.apply(changeOf({ ...pay(1), orgId: formatId('organization', '2') }), formatId('organization', '1')),
    ).toThrow(formatId('organization', '2'));
  });

  test.each<[what: string, before: Row | null, after: Row | null, put: number[], removed: number[]]>([
    ['put a timer for a new row with a due time', null, pay(1, { dueAt: 5 }), [5], []],
    ['put no timer for a new row without a due time', null, pay(1), [], []],
    ['put the timer again when it moves', pay(1, { dueAt: 5 }), pay(1, { dueAt: 6 }), [6], []],
    ['leave a timer that does not move', pay(1, { dueAt: 5 }), pay(1, { dueAt: 5, status: 'x' }), [], []],
    ['remove the timer when the row has no due time any more', pay(1, { dueAt: 5 }), pay(1), [], [5]],
    ['leave the timer of an unchanged row', pay(1, { dueAt: 5 }), null, [], []],
  ])('%s', async (_what, before, after, put, removed) => {
    const { set } = await loaded([read(payId(1))], ...(before ? [before] : []));
    if (after) set.apply(changeOf(after), formatId('organization', '1'));
    const timers = set.timers();
    expect(timers.put.map(({ dueAt }) => dueAt)).toEqual(put);
    expect(timers.removed.map(({ dueAt }) => dueAt)).toEqual(removed);
  });

  test('include the timer of an unchanged record when requested', async () => {
    const { set } = await loaded([read(payId(1))], pay(1, { dueAt: 5, appId: formatId('application', '1') }));
    set.retime('payment', pay(1));
    expect(set.timers()).toEqual({
      put: [
        {
          orgId: formatId('organization', '1'),
          id: payId(1),
          appId: formatId('application', '1'),
          resource: 'payment',
          dueAt: 5,
        },
      ],
      removed: [],
    });
    expect(() => set.retime('payment', pay(2))).toThrow('not declared');
  });
});
