// How secrets are compared. A measurement on a shared machine would show only noise, so these tests check the code instead;
// docs/SECURITY.md explains why that is enough.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Authenticator } from '../../src/http/auth.ts';
import { newKey } from '../support/tenant.ts';

const src = new URL('../../src/', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, src), 'utf8');

test('a key is looked up by its hash, and the key itself is not sent to the database', async () => {
  const queried: unknown[] = [];
  const authenticator = new Authenticator({
    first: (_statement, values) => {
      queried.push(...values);
      return Promise.resolve(undefined);
    },
    rows: () => Promise.resolve([]),
  });
  const key = newKey();
  await authenticator.find(`Bearer ${key}`, 0);
  const digest = createHash('sha256').update(key).digest();
  // A guess that is close to a key reveals nothing, because its hash is unrelated.
  expect(queried).toHaveLength(1);
  expect(digest.equals(queried[0] as Buffer)).toBe(true);
});

test('the operator token is compared as hashes in constant time', () => {
  expect(read('http/operator.ts')).toContain('timingSafeEqual(digest(requestToken), expected)');
});

test('no code compares a secret with an operator that stops at the first difference', () => {
  const files = (readdirSync(src, { recursive: true }) as string[])
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => file.replaceAll('\\', '/'));
  expect(files.length).toBeGreaterThan(150);
  const name = '(?:\\w+\\.)*\\w*(?:secret|token|password|signature|digest|hmac)';
  // Checks for presence or type are not comparisons of secrets.
  const compared = new RegExp(`(?<!typeof )\\b${name} (?:===|!==) (?!undefined|null|''|'[a-z]+'|0)\\w`, 'i');
  const found = files.flatMap((file) =>
    read(file)
      .split('\n')
      .flatMap((line) => (compared.test(line) ? [`${file}: ${line.trim()}`] : [])),
  );
  // Compares the operator's seed file with the database at the start of a server, which no client can time.
  expect(found).toEqual(['admin/seed.ts: isSameSecret: secret === stored,']);
});
