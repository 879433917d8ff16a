import { expect, test } from 'vitest';
import { RecentKeys } from './recent-keys.ts';

const keysAfter = (count: number) => {
  const keys = new RecentKeys();
  for (let i = 1; i <= count; i += 1) keys.add(`key ${i}`);
  return keys;
};

test('a key is recent after it was added', () => {
  const keys = keysAfter(1);
  expect([keys.has('key 1'), keys.has('key 2')]).toEqual([true, false]);
});

test.each([
  [20_000, true],
  [40_000, true],
  [40_001, false],
])('after %s keys the first is still recent: %s', (count, isRecent) => {
  const keys = keysAfter(count);
  expect(keys.has('key 1')).toBe(isRecent);
  expect(keys.has('key 20001')).toBe(count > 20_000);
  expect(keys.has(`key ${count}`)).toBe(true);
});

test('a key that is used again stays recent longer', () => {
  const keys = keysAfter(20_001);
  keys.add('key 1');
  for (let i = 1; i <= 19_999; i += 1) keys.add(`other ${i}`);
  expect([keys.has('key 1'), keys.has('key 2')]).toEqual([true, false]);
});
