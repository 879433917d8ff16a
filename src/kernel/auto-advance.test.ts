import { describe, expect, test } from 'vitest';
import { catchUp, type Position, stepDue } from './advance.ts';
import type { Due } from './time.ts';

const start = 1_000;

test.each([
  ['a step and its delay', 'capture', 50, { at: start + 50, action: 'capture' }],
  ['a step without a delay', 'settle', undefined, null],
  ['no step', undefined, 50, null],
])('%s: due %j', (_name, action, delayMs, due) => {
  expect(stepDue({ updatedAt: start }, action, () => delayMs)).toEqual(due);
});

interface Counter {
  readonly status: string;
  readonly count: number;
  readonly updatedAt: number;
}

type At = Position<Counter> & { readonly firedAt: readonly number[] };

const at = (count: number): At => ({
  ok: true,
  row: { status: 'counting', count, updatedAt: start },
  changes: [],
  firedAt: [],
});

/** Counts down, one each 100 ms. */
const dueOf = ({ count, updatedAt }: Counter): Due | null =>
  count === 0 ? null : { at: updatedAt + 100, action: 'count' };
const fire = ({ row, ...more }: At, due: Due): At => ({
  ...more,
  row: { ...row, count: row.count - 1, updatedAt: due.at },
  firedAt: [...more.firedAt, due.at],
});

describe('catching up', () => {
  test.each([
    ['before anything is due', 3, 99, []],
    ['exactly at a step', 3, 100, [1_100]],
    ['between two steps', 3, 250, [1_100, 1_200]],
    ['until no step is left', 3, 10_000, [1_100, 1_200, 1_300]],
    ['with a record that waits for nothing', 0, 10_000, []],
  ])('%s takes each overdue step at its own instant', (_name, count, elapsedMs, firedAt) => {
    expect(catchUp<Counter, string, At>(at(count), start + elapsedMs, dueOf, fire).firedAt).toEqual(firedAt);
  });

  test('fails when a record never stops advancing', () => {
    expect(() => catchUp<Counter, string, At>(at(Infinity), Infinity, dueOf, fire)).toThrow(
      'more are still due',
    );
  });
});
