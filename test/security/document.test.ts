import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const words = readFileSync(new URL('docs/SECURITY.md', root), 'utf8');

test('the threat model names tests that are there, for each of the ten risks, and all of this folder', () => {
  const rows = words.split('\n').filter((line) => /^\| API\d+ /.test(line));
  expect(rows.map((row) => row.split('|')[1]?.trim())).toEqual(
    Array.from({ length: 10 }, (_, at) => `API${at + 1}`),
  );
  for (const row of rows) expect(row).toMatch(/`(test|src)\/[^`]+\.ts`/);
  const named = [...words.matchAll(/`((?:test|src)\/[^`]+)`/g)].map(([, path = '']) => path);
  expect(named.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
  const own = readdirSync(new URL('.', import.meta.url)).filter((name) => name.endsWith('.test.ts'));
  expect(
    own.filter((name) => name !== 'document.test.ts' && !named.includes(`test/security/${name}`)),
  ).toEqual([]);
});
