import { describe, expect, test } from 'vitest';
import { firstIdAt, formatId } from '../kernel/ids.ts';
import type { Reader } from '../kernel/table.ts';
import { commitDelayMsMax, EventCursor, isAfter } from './event-cursor.ts';

const start = Date.UTC(2026, 0, 1);
const orgId = formatId('organization', '1');
const idAt = (ms: number) => firstIdAt('event', start + ms);

interface Written {
  readonly id: string;
  readonly xid: number;
}

/** Events with the transactions that wrote them, and the least id of every read. */
function withEvents(events: Written[], horizon = 1_000) {
  const state = { horizon, events };
  const reads: string[] = [];
  const rows = (_statement: unknown, values: readonly unknown[]) => {
    const at = String(state.horizon);
    const [, from, after, afterId, limit] = values as [string, string, string, string, number];
    if (values.length === 2) {
      const found = state.events.find(({ id }) => id === from);
      return Promise.resolve([{ horizon: at, xid: found ? String(found.xid) : null }]);
    }
    reads.push(from);
    const position = { xid: BigInt(after), id: afterId };
    const page = state.events
      .filter(
        ({ id, xid }) => id >= from && xid < state.horizon && isAfter({ xid: BigInt(xid), id }, position),
      )
      .sort((a, b) => (isAfter({ ...a, xid: BigInt(a.xid) }, { ...b, xid: BigInt(b.xid) }) ? 1 : -1))
      .slice(0, limit);
    const found = page.map(({ id, xid }) => ({ horizon: at, xid: String(xid), id }));
    return Promise.resolve(found.length > 0 ? found : [{ horizon: at, xid: null }]);
  };
  return { reader: { rows } as unknown as Pick<Reader, 'rows'>, state, reads };
}

const idsOf = (events: readonly { readonly id: string }[]) => events.map(({ id }) => id);

test.each([
  [{ xid: 2n, id: 'a' }, { xid: 1n, id: 'b' }, true],
  [{ xid: 1n, id: 'b' }, { xid: 2n, id: 'a' }, false],
  [{ xid: 1n, id: 'b' }, { xid: 1n, id: 'a' }, true],
  [{ xid: 1n, id: 'a' }, { xid: 1n, id: 'b' }, false],
  [{ xid: 1n, id: 'a' }, { xid: 1n, id: 'a' }, false],
])('the position %o is behind %o: %s', (position, other, expected) => {
  expect(isAfter(position, other)).toBe(expected);
});

describe('a cursor at the present', () => {
  test('skips settled events and reads each later one once', async () => {
    const { reader, state } = withEvents([{ id: idAt(-5), xid: 999 }]);
    const cursor = await EventCursor.atPresent(reader, orgId, start);
    expect(await cursor.next(start, 10)).toEqual([]);
    state.events.push({ id: idAt(1), xid: 1_000 }, { id: idAt(2), xid: 1_001 });
    state.horizon = 1_002;
    expect(idsOf(await cursor.next(start + 3, 10))).toEqual([idAt(1), idAt(2)]);
    expect(await cursor.next(start + 4, 10)).toEqual([]);
  });

  test('delivers an event whose transaction ended late, although its id is older', async () => {
    const { reader, state } = withEvents([]);
    const cursor = await EventCursor.atPresent(reader, orgId, start);
    state.events.push({ id: idAt(500), xid: 1_001 });
    state.horizon = 1_002;
    expect(idsOf(await cursor.next(start + 600, 10))).toEqual([idAt(500)]);
    state.events.push({ id: idAt(100), xid: 1_002 });
    state.horizon = 1_003;
    expect(idsOf(await cursor.next(start + 700, 10))).toEqual([idAt(100)]);
  });

  test('stops at the last event of a full page and moves to the horizon after a short one', async () => {
    const { reader, state } = withEvents([]);
    const cursor = await EventCursor.atPresent(reader, orgId, start);
    for (let i = 0; i < 3; i += 1) state.events.push({ id: idAt(i), xid: 1_000 + i });
    state.horizon = 1_010;
    expect(idsOf(await cursor.next(start + 5, 2))).toEqual([idAt(0), idAt(1)]);
    expect(cursor.position).toEqual({ xid: 1_001n, id: idAt(1) });
    expect(idsOf(await cursor.next(start + 5, 2))).toEqual([idAt(2)]);
    expect(cursor.position).toEqual({ xid: 1_009n, id: '~' });
  });

  test('never moves back when the horizon does', async () => {
    const { reader, state } = withEvents([]);
    const cursor = await EventCursor.atPresent(reader, orgId, start);
    state.horizon = 900;
    await cursor.next(start, 10);
    expect(cursor.position).toEqual({ xid: 999n, id: '~' });
  });
});

describe('a cursor after an event', () => {
  test('starts with the next one', async () => {
    const { reader } = withEvents([
      { id: idAt(0), xid: 10 },
      { id: idAt(1), xid: 11 },
      { id: idAt(2), xid: 9 },
    ]);
    const cursor = await EventCursor.after(reader, orgId, idAt(0));
    expect(cursor.position).toEqual({ xid: 10n, id: idAt(0) });
    expect(idsOf(await cursor.next(start + 5, 10))).toEqual([idAt(1)]);
  });

  test('starts with later ids when the event no longer exists', async () => {
    const { reader, reads } = withEvents([
      { id: idAt(-1), xid: 10 },
      { id: idAt(1), xid: 11 },
    ]);
    const cursor = await EventCursor.after(reader, orgId, idAt(0));
    expect(idsOf(await cursor.next(start + 3_600_000, 10))).toEqual([idAt(1)]);
    expect(reads).toEqual([idAt(0)]);
  });
});

describe('the start of a read', () => {
  test('is a minute before the newest event, or before now if that is earlier', async () => {
    const { reader, reads, state } = withEvents([{ id: idAt(0), xid: 10 }]);
    const cursor = await EventCursor.after(reader, orgId, idAt(0));
    state.events.push({ id: idAt(90_000), xid: 11 });
    await cursor.next(start + 100_000, 10);
    await cursor.next(start + 200_000, 10);
    await cursor.next(start + 50_000, 10);
    expect(reads).toEqual([
      idAt(-commitDelayMsMax),
      idAt(90_000 - commitDelayMsMax),
      idAt(50_000 - commitDelayMsMax),
    ]);
  });

  const many = (count: number) => Array.from({ length: count }, (_, i) => ({ id: idAt(1 + i), xid: 11 }));

  test.each([
    [4_999, -commitDelayMsMax + 4_999],
    [5_000, 1],
    [5_003, 4],
  ])('after %s events within the minute is at %s ms', async (count, from) => {
    const { reader, reads } = withEvents([{ id: idAt(0), xid: 10 }, ...many(count)]);
    const cursor = await EventCursor.after(reader, orgId, idAt(0));
    await cursor.next(start + 10_000, 10_000);
    await cursor.next(start + 10_000, 10_000);
    expect(reads.at(-1)).toBe(idAt(from));
  });

  test('is a minute before now after the clock was set back to before the events that were read', async () => {
    const { reader, reads } = withEvents([{ id: idAt(0), xid: 10 }, ...many(5_000)]);
    const cursor = await EventCursor.after(reader, orgId, idAt(0));
    await cursor.next(start + 10_000, 10_000);
    await cursor.next(start - 3_600_000, 10_000);
    expect(reads.at(-1)).toBe(idAt(-3_600_000 - commitDelayMsMax));
  });
});
