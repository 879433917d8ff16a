import { describe, expect, test } from 'vitest';

const { nextVersion, releasedChangelog } = (await import(
  new URL('../../scripts/release-notes.mjs', import.meta.url).href
)) as {
  nextVersion(current: string, step: string): string;
  releasedChangelog(text: string, version: string, date: string): { text: string; entries: number };
};

describe('the next version', () => {
  test.each([
    ['patch', '1.2.4'],
    ['minor', '1.3.0'],
    ['major', '2.0.0'],
    ['1.10.0', '1.10.0'],
    ['2.0.0', '2.0.0'],
  ])('%s after 1.2.3 is %s', (step, next) => {
    expect(nextVersion('1.2.3', step)).toBe(next);
  });

  test.each(['1.2.3', '1.2.2', '1.1.9', '0.9.9'])('%s does not come after 1.2.3', (step) => {
    expect(() => nextVersion('1.2.3', step)).toThrow(`${step} does not come after 1.2.3.`);
  });

  test.each(['mayor', '1.2', 'v1.2.4', '1.2.4-beta'])('%s is rejected', (step) => {
    expect(() => nextVersion('1.2.3', step)).toThrow('is not a version');
  });
});

describe('the changelog of a release', () => {
  const text =
    '# Changelog\n\n## [Unreleased]\n\n### Fixed\n\n- One.\n- Two.\n\n## [0.1.0] - 2026-01-01\n\n- Old.\n';

  test('dates the unreleased section and starts a new one', () => {
    expect(releasedChangelog(text, '0.2.0', '2026-02-03')).toEqual({
      text: text.replace('## [Unreleased]', '## [Unreleased]\n\n## [0.2.0] - 2026-02-03'),
      entries: 2,
    });
  });

  test('is rejected without entries or without the section', () => {
    expect(() =>
      releasedChangelog('# Changelog\n\n## [Unreleased]\n\n## [0.1.0]\n\n- Old.\n', '0.2.0', ''),
    ).toThrow('nothing to release');
    expect(() => releasedChangelog('# Changelog\n', '0.2.0', '')).toThrow('has no section');
  });
});
