import { expect, test } from 'vitest';
import { holdRows } from './held-rows.ts';

const row = (id: string, status = 'pending') => ({ id, status });
const hold = (shown: ReturnType<typeof row>[], fresh: ReturnType<typeof row>[]) =>
  holdRows(shown, fresh, ({ id }) => id);

test('new rows are counted and not shown', () => {
  const shown = [row('b'), row('a')];
  expect(hold(shown, [row('d'), row('c'), row('b')])).toEqual({ rows: shown, newCount: 2 });
});

test('shown rows change in place', () => {
  expect(hold([row('b'), row('a')], [row('c'), row('b', 'settled'), row('a')])).toEqual({
    rows: [row('b', 'settled'), row('a')],
    newCount: 1,
  });
});

test('a row that has left the page stays as it was', () => {
  expect(hold([row('b'), row('a')], [row('d'), row('c')]).rows).toEqual([row('b'), row('a')]);
});

test('without new rows nothing is counted', () => {
  expect(hold([row('a')], [row('a')]).newCount).toBe(0);
});
