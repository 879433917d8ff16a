import { describe, expect, it } from 'vitest';
import { formatId } from './ids.ts';
import {
  dayOf,
  decodeCursor,
  encodeCursor,
  instantToText,
  pageOf,
  pageQueryOf,
  shownInstant,
} from './list.ts';
import { type AnyRow, defineTable } from './table.ts';

const table = defineTable<AnyRow & { status: string }>('things', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  status: 'text',
});
const id = formatId('payment', '01h455vb4pex5vsknk084sn02q');

describe('a cursor', () => {
  it('decodes to the id that it encodes', () => {
    expect(decodeCursor('payment', encodeCursor(id))).toBe(id);
  });

  it.each([
    encodeCursor(formatId('customer', '01h455vb4pex5vsknk084sn02q')),
    id,
    '',
    '!!!!',
    `${encodeCursor(id)}=`,
    encodeCursor(`${id} `),
  ])('of another making is refused: %j', (cursor) => {
    expect(decodeCursor('payment', cursor)).toBeUndefined();
  });
});

describe('the query of a page', () => {
  const orgId = formatId('organization', '1');

  it('reads one row more than it shows', () => {
    const query = { limit: 5, status: 'pending', cursor: encodeCursor(id) };
    expect(pageQueryOf(table, 'payment', ['status'], orgId, query)).toEqual({
      table,
      orgId,
      conditions: [
        { column: 'status', operator: '=', value: 'pending' },
        { column: 'id', operator: '<', value: id },
      ],
      limit: 6,
    });
  });

  it('refuses a cursor of another list', () => {
    const cursor = encodeCursor(formatId('customer', '01h455vb4pex5vsknk084sn02q'));
    expect(pageQueryOf(table, 'payment', [], orgId, { cursor })).toBe('invalid_cursor');
  });
});

describe('a page', () => {
  const rows = ['a', 'b', 'c'].map((name) => ({ orgId: formatId('organization', '1'), id: name }));

  it('has a next cursor only when there is more', () => {
    expect(pageOf(rows, 3)).toMatchObject({ hasMore: false, nextCursor: null });
    expect(pageOf(rows, 2)).toEqual({ rows: rows.slice(0, 2), hasMore: true, nextCursor: encodeCursor('b') });
    expect(pageOf([], 2)).toEqual({ rows: [], hasMore: false, nextCursor: null });
  });
});

describe('an instant', () => {
  const [noon, midnight] = [Date.UTC(2026, 0, 31, 12, 0, 0, 7), Date.UTC(2026, 1, 1)];

  it('is shown in UTC with milliseconds, also when two alternate', () => {
    for (let turn = 0; turn < 2; turn += 1) {
      expect(instantToText(noon)).toBe('2026-01-31T12:00:00.007Z');
      expect(instantToText(midnight)).toBe('2026-02-01T00:00:00.000Z');
    }
  });

  it('is null where there is none', () => {
    expect(shownInstant(null)).toBeNull();
    expect(shownInstant(0)).toBe('1970-01-01T00:00:00.000Z');
  });

  it('belongs to the day in UTC', () => {
    expect(dayOf(midnight - 1)).toBe('2026-01-31');
    expect(dayOf(midnight)).toBe('2026-02-01');
  });
});
