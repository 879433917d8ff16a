import { describe, expect, test } from 'vitest';
import { nearest } from '../../sdk/nearest.ts';

const fields = ['amount', 'currency', 'captureMethod', 'customerId', 'reference', 'to'];

describe('the nearest name', () => {
  test.each([
    ['curency', 'currency'],
    ['currrency', 'currency'],
    ['currancy', 'currency'],
    ['cuyrrenc', 'currency'],
    ['Currency', 'currency'],
    ['amuont', 'amount'],
    ['amout', 'amount'],
    ['capturemethod', 'captureMethod'],
    ['capture_method', 'captureMethod'],
    ['customer_id', 'customerId'],
    ['ot', undefined],
    ['total', undefined],
    ['x', undefined],
    ['', undefined],
    ['currency'.repeat(1_000), undefined],
  ])('of %s is %s', (text, name) => {
    expect(nearest(text, fields)).toBe(name);
  });

  test('is the first of several with the same distance', () => {
    expect(nearest('paid_b', ['paid_a', 'paid_c'])).toBe('paid_a');
  });

  test('of a long text needs no comparison', () => {
    const candidates = Array.from({ length: 1_000 }, () => 'x'.repeat(10_000));
    expect(nearest('y'.repeat(10_000), candidates)).toBeUndefined();
  });
});
