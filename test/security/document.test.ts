import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const threatModel = readFileSync(new URL('docs/SECURITY.md', root), 'utf8');

test('the threat model names existing tests for each of the ten risks, and every test in this folder', () => {
  const rows = threatModel.split('\n').filter((line) => /^\| API\d+ /.test(line));
  expect(rows.map((row) => row.split('|')[1]?.trim())).toEqual(
    Array.from({ length: 10 }, (_, at) => `API${at + 1}`),
  );
  for (const row of rows) expect(row).toMatch(/`(test|src)\/[^`]+\.ts`/);
  const named = [...threatModel.matchAll(/`((?:test|src)\/[^`]+)`/g)].map(([, path = '']) => path);
  expect(named.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
  const own = readdirSync(new URL('.', import.meta.url)).filter((name) => name.endsWith('.test.ts'));
  expect(
    own.filter((name) => name !== 'document.test.ts' && !named.includes(`test/security/${name}`)),
  ).toEqual([]);
});

test('every claim of the threat model has a short id and names a test that exists', () => {
  const [, section = ''] = /\n## Claims\n([\s\S]+?)\n## /.exec(threatModel) ?? [];
  const rows = section
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  expect(rows.length).toBeGreaterThan(20);
  const ids = rows.map(([id = '']) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const [id = '', claim = '', tests = '', ...more] of rows) {
    expect(more, id).toEqual([]);
    expect(id).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(claim, id).toMatch(/^[A-Z].+\.$/);
    const named = tests.split(', ').map((test) => /^`((?:test|src)\/[^`]+\.ts)`$/.exec(test)?.[1] ?? test);
    for (const file of named) expect(existsSync(new URL(file, root)), `${id}: ${file}`).toBe(true);
  }
});
