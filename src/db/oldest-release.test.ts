import { describe, expect, test } from 'vitest';
import { DatabaseTooNew, isOlder, oldestReleaseOf, requireRelease } from './oldest-release.ts';

describe('the oldest release of a migration', () => {
  test.each([
    ['-- oldest release: 0.3.0\ndrop table notes;', '0.3.0'],
    [
      '-- outside a transaction\n-- oldest release: 1.12.0\n-- Why.\ndrop index concurrently if exists a;',
      '1.12.0',
    ],
    ['-- Adds notes.\nalter table payments add column note text;', null],
    ['select 1;\n-- oldest release: 0.3.0\n', null],
    ['-- oldest release: soon\n', null],
  ])('%j is %s', (sql, release) => {
    expect(oldestReleaseOf(sql)).toBe(release);
  });
});

test.each([
  ['0.2.0', '0.3.0', true],
  ['0.9.9', '0.10.0', true],
  ['0.10.0', '0.9.9', false],
  ['0.2.0', '0.2.0', false],
  ['1.0.0', '0.9.0', false],
  ['0.3.0-beta.1', '0.3.0', false],
  ['0.2.9', '1.0.0', true],
])('%s is older than %s: %s', (release, than, expected) => {
  expect(isOlder(release, than)).toBe(expected);
});

test('the newest release that a migration requires is the one that is named', () => {
  const applied = [null, '0.3.0', '0.10.0', '0.4.0'].map((oldestRelease, i) => ({
    version: 30 + i,
    name: `step_${i}`,
    oldestRelease,
  }));
  expect(() => requireRelease(applied, '0.10.0')).not.toThrow();
  expect(() => requireRelease(applied, '0.3.1')).toThrow(DatabaseTooNew);
  expect(() => requireRelease(applied, '0.3.1')).toThrow(
    /needs Sandbank 0\.10\.0 or newer since its migration 32 \(step_2\)/,
  );
});
