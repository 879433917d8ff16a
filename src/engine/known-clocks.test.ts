import { expect, test } from 'vitest';
import { KnownClocks } from './known-clocks.ts';

const clock = (version: number) => ({ clock: undefined, version });

test('the latest version of a clock is cached, whatever the order of arrival', () => {
  const clocks = new KnownClocks();
  expect(clocks.get('clk_1')).toBeUndefined();
  clocks.set('clk_1', clock(2));
  clocks.set('clk_1', clock(1));
  expect(clocks.get('clk_1')?.version).toBe(2);
  clocks.set('clk_1', clock(3));
  expect(clocks.get('clk_1')?.version).toBe(3);
  expect(clocks.get('clk_2')).toBeUndefined();
});

test('a clock that was never moved is cached with version 0, until it is moved', () => {
  const clocks = new KnownClocks();
  clocks.set('clk_1', clock(0));
  expect(clocks.get('clk_1')).toEqual(clock(0));
  clocks.set('clk_1', clock(1));
  clocks.set('clk_1', clock(0));
  expect(clocks.get('clk_1')?.version).toBe(1);
});

test('the same version again replaces the cached clock', () => {
  const clocks = new KnownClocks();
  const again = clock(1);
  clocks.set('clk_1', clock(1));
  clocks.set('clk_1', again);
  expect(clocks.get('clk_1')).toBe(again);
});

test('20,000 clocks are cached, and one more evicts the others', () => {
  const clocks = new KnownClocks();
  for (let i = 1; i <= 20_000; i += 1) clocks.set(`clk_${i}`, clock(1));
  expect(clocks.get('clk_1')).toBeDefined();
  clocks.set('clk_20001', clock(1));
  expect(clocks.get('clk_1')).toBeUndefined();
  expect(clocks.get('clk_20001')).toBeDefined();
});
