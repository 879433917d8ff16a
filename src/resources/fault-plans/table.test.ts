import { describe, expect, test } from 'vitest';
import { isForEvent, isForRoute, isInjected, isSpared, patternLength, patternOf } from './table.ts';

function hits(seed: number, share: number | null, from = 1, to = 100): readonly number[] {
  const pattern = patternOf({ seed, share });
  return Array.from({ length: to - from + 1 }, (_, i) => from + i).filter((k) => isInjected(pattern, k));
}

describe('the matches that get the fault', () => {
  test('without a share, all of them', () => {
    expect(hits(1, null)).toHaveLength(100);
    expect(isInjected(patternOf({ seed: 7, share: null }), 123_456_789)).toBe(true);
  });

  // Users rely on stored seeds, so these numbers must not change.
  test.each([
    [0, 5, [13, 31, 34, 59, 94]],
    [1, 5, [5, 27, 45, 60, 83]],
    [42, 5, [56, 72, 77, 79, 99]],
    [4_294_967_295, 5, [12, 29, 71, 79, 85]],
  ])('by seed %d and a share of %d, of the first hundred these', (seed, share, expected) => {
    expect(hits(seed, share)).toEqual(expected);
  });

  test.each([1, 2, 10, 33, 50, 99, 100])('of every hundred exactly %d, by any seed', (share) => {
    for (const seed of [0, 1, 2, 99, 2 ** 31, 2 ** 32 - 1])
      for (let from = 1; from < patternLength; from += 100)
        expect(hits(seed, share, from, from + 99)).toHaveLength(share);
  });

  test('differ between seeds, and between hundreds of the same seed', () => {
    const seen = new Set(Array.from({ length: 50 }, (_, seed) => hits(seed, 10).join(' ')));
    expect(seen.size).toBe(50);
    const second = hits(1, 10, 101, 200).map((k) => k - 100);
    expect(second).not.toEqual(hits(1, 10));
  });

  test('repeat after a thousand', () => {
    const pattern = patternOf({ seed: 3, share: 50 });
    for (let k = 1; k <= patternLength; k += 1) {
      expect(isInjected(pattern, k + patternLength)).toBe(isInjected(pattern, k));
      expect(isInjected(pattern, k + 7 * patternLength)).toBe(isInjected(pattern, k));
    }
  });

  test('are distributed evenly over all positions', () => {
    const counts = Array.from({ length: 100 }, () => 0);
    for (let seed = 0; seed < 1_000; seed += 1)
      for (const k of hits(seed, 10)) counts[k - 1] = (counts[k - 1] ?? 0) + 1;
    for (const count of counts) expect(count).toBeGreaterThan(50);
    for (const count of counts) expect(count).toBeLessThan(160);
  });
});

describe('the operations and events that a plan matches', () => {
  const create = { operationId: 'createPayment', method: 'POST' };
  const read = { operationId: 'retrievePayment', method: 'GET' };

  test.each([
    [null, null, true, true],
    [['createPayment'], null, true, false],
    [null, ['GET'], false, true],
    [['createPayment'], ['GET'], false, false],
    [['createPayment', 'retrievePayment'], ['GET', 'POST'], true, true],
  ])('operations %j and methods %j', (operations, methods, isForCreate, isForRead) => {
    expect(isForRoute({ operations, methods }, create)).toBe(isForCreate);
    expect(isForRoute({ operations, methods }, read)).toBe(isForRead);
  });

  test.each([
    [null, true],
    [['*'], true],
    [['payment.*'], true],
    [['payment.created'], true],
    [['payment.captured', 'payment.created'], true],
    [['payment.captured'], false],
    [['customer.*'], false],
    [['pay.*'], false],
  ])('filters %j and payment.created: %s', (eventTypes, isFor) => {
    expect(isForEvent({ eventTypes }, 'payment.created')).toBe(isFor);
  });

  test.each([
    ['developer_api_payments', false],
    ['developer_api_payments/{id}/advance', false],
    ['developer_api_webhooks/{id}/test', false],
    ['developer_api_fault_plans', true],
    ['developer_api_fault_plans/{id}/cancel', true],
    ['developer_api_clock/advance', true],
    ['developer_api_reset', true],
    ['developer_api_coverage/reset', true],
    ['developer_api_requests/{id}', true],
    ['developer_api_audit_entries', true],
    ['developer_api_status', true],
    ['developer_api_capabilities', true],
    ['developer_api_state_machines', true],
  ])('%s is spared: %s', (path, expected) => {
    expect(isSpared(path)).toBe(expected);
  });
});
