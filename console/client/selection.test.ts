import { describe, expect, test } from 'vitest';
import { type Selected, selectedMax, togglePage, toggleRow } from './selection.ts';

type Row = { readonly id: string };
const shown = ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id }));
const none: Selected<Row> = { rows: new Map(), anchor: null };
const idsOf = ({ rows }: Selected<Row>) => [...rows.keys()];

describe('a selection', () => {
  test('has the rows that were toggled', () => {
    const b = toggleRow(none, shown, 'b', false);
    expect(idsOf(b)).toEqual(['b']);
    expect(idsOf(toggleRow(b, shown, 'b', false))).toEqual([]);
    expect(idsOf(toggleRow(b, shown, 'unknown', false))).toEqual(['b']);
  });

  test.each([
    ['d', ['b', 'c', 'd']],
    ['a', ['b', 'a']],
    ['b', ['b']],
  ])('extends from the previous row to %s', (to, expected) => {
    expect(idsOf(toggleRow(toggleRow(none, shown, 'b', false), shown, to, true))).toEqual(expected);
  });

  test('a range from a row that was deselected deselects', () => {
    const all = togglePage(none, shown);
    const withoutB = toggleRow(all, shown, 'b', false);
    expect(idsOf(toggleRow(withoutB, shown, 'd', true))).toEqual(['a', 'e']);
  });

  test('a range without a start is the row itself', () => {
    expect(idsOf(toggleRow(none, shown, 'd', true))).toEqual(['d']);
  });

  test('has the whole page, or nothing of it', () => {
    const all = togglePage(toggleRow(none, shown, 'c', false), shown);
    expect(new Set(idsOf(all))).toEqual(new Set(['a', 'b', 'c', 'd', 'e']));
    expect(idsOf(togglePage(all, shown))).toEqual([]);
  });

  test('is bounded', () => {
    const many = Array.from({ length: selectedMax + 20 }, (_, index) => ({ id: `${index}` }));
    expect(idsOf(togglePage(none, many))).toHaveLength(selectedMax);
  });
});
