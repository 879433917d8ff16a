import { describe, expect, it } from 'vitest';
import { decodeCursor, encodeCursor, listRequest, pageOf } from './list.ts';
import { type AnyRow, defineTable } from './table.ts';

const table = defineTable<AnyRow & { status: string }>('things', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  status: 'text',
});
const id = 'pay_01h455vb4pex5vsknk084sn02q';

describe('a cursor', () => {
  it('comes back as the id it was made of', () => {
    expect(decodeCursor('payment', encodeCursor(id))).toBe(id);
  });

  it.each([
    encodeCursor('cus_01h455vb4pex5vsknk084sn02q'),
    id,
    '',
    '!!!!',
    `${encodeCursor(id)}=`,
    encodeCursor(`${id} `),
  ])('of another making is refused: %j', (cursor) => {
    expect(decodeCursor('payment', cursor)).toBeUndefined();
  });
});

describe('a list request', () => {
  it('begins every condition with the organization and asks for one row more than it shows', () => {
    const request = listRequest(table, 'payment', ['status'], 'org_1', {
      limit: 5,
      status: 'pending',
      cursor: encodeCursor(id),
    });
    if (request === 'invalid_cursor') throw new Error('the cursor is right');
    expect(request.statement.text).toContain('where t.org_id = $1 and t.status = $2 and t.id < $3');
    expect(request.values).toEqual(['org_1', 'pending', id, 6]);
  });

  it('gives each combination of filters a statement of its own name', () => {
    const names = [
      {},
      { status: 'x' },
      { createdAfter: 'x' },
      { createdBefore: 'x' },
      { createdAfter: 'x', createdBefore: 'x' },
    ].map((query) => {
      const request = listRequest(table, 'payment', ['status'], 'org_1', query);
      return request === 'invalid_cursor' ? '' : request.statement.name;
    });
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('a page', () => {
  const rows = ['a', 'b', 'c'].map((name) => ({ orgId: 'org_1', id: name }));

  it('has a next cursor only when there is more', () => {
    expect(pageOf(rows, 3)).toMatchObject({ hasMore: false, nextCursor: null });
    expect(pageOf(rows, 2)).toEqual({ rows: rows.slice(0, 2), hasMore: true, nextCursor: encodeCursor('b') });
    expect(pageOf([], 2)).toEqual({ rows: [], hasMore: false, nextCursor: null });
  });
});
