import { describe, expect, test } from 'vitest';
import type { Connection } from '../db/database.ts';
import type { AnyResource, RowRead, Submission } from '../kernel/command.ts';
import { formatId } from '../kernel/ids.ts';
import { type AnyRow, defineTable } from '../kernel/table.ts';
import { clockIdOf } from '../kernel/time.ts';
import { BatchClocks } from './batch-clocks.ts';
import { KnownClocks } from './known-clocks.ts';
import { WorkingSet } from './working-set.ts';

const wallNow = Date.UTC(2026, 0, 1);
const suffix = (n: number) => String(n).padStart(26, '0');
const [own, foreign] = [formatId('application', suffix(1)), formatId('application', suffix(2))];
const payment = formatId('payment', suffix(3));
const [ownClock, foreignClock] = [clockIdOf(own), clockIdOf(foreign)];

const resource = (name: 'clock' | 'payment', table: string) =>
  ({
    name,
    table: defineTable<AnyRow>(table, ['org_id', 'id'], { orgId: 'text', id: 'text' }),
  }) as unknown as AnyResource;

const clock = (id: string, offsetMs: number, version: number, frozenAt: number | null = null) => ({
  ...{ orgId: formatId('organization', '1'), id, offsetMs: BigInt(offsetMs), frozenAt, version },
});

function setUp(...stored: readonly AnyRow[]) {
  const known = new KnownClocks();
  const rows = new WorkingSet(
    new Map([
      ['payment', resource('payment', 'payments')],
      ['clock', resource('clock', 'clocks')],
    ]),
  );
  const query = ({ name }: { name: string }, [, ids]: readonly [Buffer, Buffer]) =>
    Promise.resolve(
      stored.filter(
        ({ id }) => name.startsWith(id.startsWith('clk') ? 'clocks' : 'payments') && ids.includes(id),
      ),
    );
  return {
    known,
    rows,
    clocks: new BatchClocks(known, rows),
    connection: { query } as unknown as Connection,
  };
}

function submission(appId: string | null, reads: readonly RowRead[] = []) {
  return {
    ...{
      context: { orgId: formatId('organization', '1'), appId },
      kind: { name: 'test', reads: () => reads },
      wallNow,
    },
  } as unknown as Submission;
}

describe('the time of a command', () => {
  test('is the wall clock for one without an application', () => {
    const { clocks } = setUp();
    clocks.declare(submission(null), true);
    expect(clocks.nowFor(submission(null))).toBe(wallNow);
    expect(clocks.decidedBy).toEqual([]);
  });

  test('comes from a cached clock without loading it, and the batch reports the version that it used', () => {
    const { known, rows, clocks } = setUp();
    known.set(ownClock, { clock: clock(ownClock, 5_000, 3), version: 3 });
    clocks.declare(submission(own), true);
    expect(rows.isEmpty).toBe(true);
    expect(clocks.nowFor(submission(own))).toBe(wallNow + 5_000);
    clocks.nowFor(submission(own));
    expect(clocks.decidedBy).toEqual([
      { orgId: formatId('organization', '1'), clockId: ownClock, version: 3 },
    ]);
  });

  test('comes from the stored clock when it is not cached', async () => {
    const { rows, clocks, connection } = setUp(clock(ownClock, 0, 2, 77));
    clocks.declare(submission(own), true);
    expect(rows.lockOf('clock', formatId('organization', '1'), ownClock)).toBe('none');
    await rows.load(connection);
    expect(clocks.nowFor(submission(own))).toBe(77);
    expect(clocks.decidedBy).toEqual([
      { orgId: formatId('organization', '1'), clockId: ownClock, version: 2 },
    ]);
  });

  test('comes from the locked clock when the cached one was stale, and then needs no check', async () => {
    const { known, rows, clocks, connection } = setUp(clock(ownClock, 9_000, 4));
    known.set(ownClock, { clock: clock(ownClock, 5_000, 3), version: 3 });
    clocks.declare(submission(own), false);
    expect(rows.lockOf('clock', formatId('organization', '1'), ownClock)).toBe('share');
    await rows.load(connection);
    expect(clocks.nowFor(submission(own))).toBe(wallNow + 9_000);
    expect(clocks.decidedBy).toEqual([]);
  });

  test('is the wall clock while the clock was never moved, which is checked because there is no row to lock', async () => {
    const { rows, clocks, connection } = setUp();
    clocks.declare(submission(own), false);
    await rows.load(connection);
    expect(clocks.nowFor(submission(own))).toBe(wallNow);
    expect(clocks.decidedBy).toEqual([
      { orgId: formatId('organization', '1'), clockId: ownClock, version: 0 },
    ]);
  });

  test('is an error when the clock is neither cached nor loaded', () => {
    const { clocks } = setUp();
    expect(() => clocks.nowFor(submission(own))).toThrow('neither cached nor loaded');
  });
});

describe('a command that changes a record of another application', () => {
  const changing = submission(own, [{ resource: 'payment', id: payment, lock: 'update' }]);

  async function decided(one: Submission, appId: string) {
    const row = { orgId: formatId('organization', '1'), id: payment, appId };
    const set = setUp(row, clock(ownClock, 1_000, 1), clock(foreignClock, 2_000, 5));
    set.rows.declare(one);
    set.clocks.declare(one, true);
    await set.rows.load(set.connection);
    await set.clocks.loadForeign(set.connection, [one]);
    return { ...set, now: set.clocks.nowFor(one) };
  }

  test('uses the clock of that application', async () => {
    const { now, clocks } = await decided(changing, foreign);
    expect(now).toBe(wallNow + 2_000);
    expect(clocks.decidedBy).toEqual([
      { orgId: formatId('organization', '1'), clockId: foreignClock, version: 5 },
    ]);
  });

  test('reads the clock of the application that a record belongs to, and loads no other clock', async () => {
    const { now, rows } = await decided(changing, own);
    expect(now).toBe(wallNow + 1_000);
    expect(rows.has('clock', formatId('organization', '1'), foreignClock)).toBe(false);
  });

  test('uses the wall clock when it has no application', async () => {
    const { now, rows } = await decided(
      { ...changing, context: { ...changing.context, appId: null } },
      foreign,
    );
    expect(now).toBe(wallNow);
    expect(rows.has('clock', formatId('organization', '1'), foreignClock)).toBe(false);
  });
});

test('after the commit the node has cached the clocks of the batch', async () => {
  const { known, rows, clocks, connection } = setUp(clock(ownClock, 5_000, 3));
  clocks.declare(submission(own), true);
  clocks.declare(submission(foreign), true);
  await rows.load(connection);
  clocks.updateCache();
  expect(known.get(ownClock)).toEqual({ clock: clock(ownClock, 5_000, 3), version: 3 });
  expect(known.get(foreignClock)).toEqual({ clock: undefined, version: 0 });
});
