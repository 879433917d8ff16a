import { describe, expect, test } from 'vitest';
import type { Connection } from '../db/database.ts';
import { clockIdOf } from '../kernel/clock.ts';
import type { AnyResource, RowRead } from '../kernel/command.ts';
import { formatId } from '../kernel/ids.ts';
import { type AnyRow, defineTable } from '../kernel/table.ts';
import { BatchClocks } from './batch-clocks.ts';
import { KnownClocks } from './known-clocks.ts';
import type { Submission } from './submission.ts';
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
  ...{ orgId: 'org_1', id, offsetMs: BigInt(offsetMs), frozenAt, version },
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
    ...{ context: { orgId: 'org_1', appId }, kind: { name: 'test', reads: () => reads }, wallNow },
  } as unknown as Submission;
}

describe('the time of a command', () => {
  test('is the wall clock for one without an application', () => {
    const { clocks } = setUp();
    clocks.declare(submission(null), true);
    expect(clocks.nowFor(submission(null))).toBe(wallNow);
    expect(clocks.decidedBy).toEqual([]);
  });

  test('is read off a known clock without loading it, and the batch says which version it used', () => {
    const { known, rows, clocks } = setUp();
    known.set(ownClock, { clock: clock(ownClock, 5_000, 3), version: 3 });
    clocks.declare(submission(own), true);
    expect(rows.isEmpty).toBe(true);
    expect(clocks.nowFor(submission(own))).toBe(wallNow + 5_000);
    clocks.nowFor(submission(own));
    expect(clocks.decidedBy).toEqual([{ orgId: 'org_1', clockId: ownClock, version: 3 }]);
  });

  test('is read off the stored clock when it is not known', async () => {
    const { rows, clocks, connection } = setUp(clock(ownClock, 0, 2, 77));
    clocks.declare(submission(own), true);
    expect(rows.lockOf('clock', 'org_1', ownClock)).toBe('none');
    await rows.load(connection);
    expect(clocks.nowFor(submission(own))).toBe(77);
    expect(clocks.decidedBy).toEqual([{ orgId: 'org_1', clockId: ownClock, version: 2 }]);
  });

  test('is read off the locked clock when what is known was wrong, and needs no check then', async () => {
    const { known, rows, clocks, connection } = setUp(clock(ownClock, 9_000, 4));
    known.set(ownClock, { clock: clock(ownClock, 5_000, 3), version: 3 });
    clocks.declare(submission(own), false);
    expect(rows.lockOf('clock', 'org_1', ownClock)).toBe('share');
    await rows.load(connection);
    expect(clocks.nowFor(submission(own))).toBe(wallNow + 9_000);
    expect(clocks.decidedBy).toEqual([]);
  });

  test('is the wall clock while the clock was never moved, which is checked although it was to be locked', async () => {
    const { rows, clocks, connection } = setUp();
    clocks.declare(submission(own), false);
    await rows.load(connection);
    expect(clocks.nowFor(submission(own))).toBe(wallNow);
    expect(clocks.decidedBy).toEqual([{ orgId: 'org_1', clockId: ownClock, version: 0 }]);
  });

  test('cannot be read off a clock that is neither known nor loaded', () => {
    const { clocks } = setUp();
    expect(() => clocks.nowFor(submission(own))).toThrow('neither known nor loaded');
  });
});

describe('a command that changes a record of another application', () => {
  const changing = submission(own, [{ resource: 'payment', id: payment, lock: 'update' }]);

  async function decided(one: Submission, appId: string) {
    const row = { orgId: 'org_1', id: payment, appId };
    const set = setUp(row, clock(ownClock, 1_000, 1), clock(foreignClock, 2_000, 5));
    set.rows.declare(one);
    set.clocks.declare(one, true);
    await set.rows.load(set.connection);
    await set.clocks.loadForeign(set.connection, [one]);
    return { ...set, now: set.clocks.nowFor(one) };
  }

  test('goes by the clock of that application', async () => {
    const { now, clocks } = await decided(changing, foreign);
    expect(now).toBe(wallNow + 2_000);
    expect(clocks.decidedBy).toEqual([{ orgId: 'org_1', clockId: foreignClock, version: 5 }]);
  });

  test('goes by its own clock for its own records, and loads no other', async () => {
    const { now, rows } = await decided(changing, own);
    expect(now).toBe(wallNow + 1_000);
    expect(rows.has('clock', 'org_1', foreignClock)).toBe(false);
  });

  test('goes by the wall clock when it belongs to no application', async () => {
    const { now, rows } = await decided(
      { ...changing, context: { ...changing.context, appId: null } },
      foreign,
    );
    expect(now).toBe(wallNow);
    expect(rows.has('clock', 'org_1', foreignClock)).toBe(false);
  });
});

test('after the commit the node knows the clocks of the batch', async () => {
  const { known, rows, clocks, connection } = setUp(clock(ownClock, 5_000, 3));
  clocks.declare(submission(own), true);
  clocks.declare(submission(foreign), true);
  await rows.load(connection);
  clocks.remember();
  expect(known.get(ownClock)).toEqual({ clock: clock(ownClock, 5_000, 3), version: 3 });
  expect(known.get(foreignClock)).toEqual({ clock: undefined, version: 0 });
});
