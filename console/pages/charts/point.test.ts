import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatCompact, formatPercent } from './point.ts';

test.each([
  [0, '0'],
  [999, '999'],
  [1000, '1K'],
  [12500, '12.5K'],
  [1_000_000, '1M'],
  [2_340_000_000, '2.3B'],
])('%i is %s at an axis', (value, text) => {
  expect(formatCompact(value)).toBe(text);
});

test.each([
  [0, 0, '—'],
  [0, 10, '0%'],
  [10, 10, '100%'],
  [5, 10, '50.0%'],
  [1, 3, '33.3%'],
  [1, 1_000_000, '0.1%'],
  [999_999, 1_000_000, '99.9%'],
])('%i of %i is %s', (part, whole, text) => {
  expect(formatPercent(part, whole)).toBe(text);
});

test('only nothing is 0% and only everything is 100%', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10 ** 9 }), fc.nat(), (whole, some) => {
      const part = some % (whole + 1);
      const text = formatPercent(part, whole);
      expect(text === '0%').toBe(part === 0);
      expect(text === '100%').toBe(part === whole);
      expect(text).not.toMatch(/^(0\.0|100\.0)%$/);
    }),
  );
});
