// How secrets are compared. What a measurement on a shared machine would say is the noise of the machine, so this looks at how the
// program compares; docs/SECURITY.md says why that is enough.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Authenticator } from '../../src/http/auth.ts';
import { newKey } from '../support/tenant.ts';

const src = new URL('../../src/', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, src), 'utf8');

test('a key is looked up by its hash, and the key itself goes nowhere', async () => {
  const asked: unknown[] = [];
  const authenticator = new Authenticator({
    rows: (_statement, values) => {
      asked.push(...values);
      return Promise.resolve([]);
    },
  });
  const key = newKey();
  await authenticator.find(`Bearer ${key}`, 0);
  const digest = createHash('sha256').update(key).digest();
  // Who guesses a key learns nothing by getting nearer to it: the hash of a near one is as far away as any other.
  expect(asked).toHaveLength(1);
  expect(digest.equals(asked[0] as Buffer)).toBe(true);
});

test('the token of the operator is compared as hashes, in constant time', () => {
  expect(read('http/operator.ts')).toContain('timingSafeEqual(digest(given), expected)');
});

test('nothing in the program compares a secret with an operator that stops at the first difference', () => {
  const files = (readdirSync(src, { recursive: true }) as string[])
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => file.replaceAll('\\', '/'));
  expect(files.length).toBeGreaterThan(150);
  const name = '(?:\\w+\\.)*\\w*(?:secret|token|password|signature|digest|hmac)';
  // Whether there is one at all, and of which type it is, is no comparison of secrets.
  const compared = new RegExp(`(?<!typeof )\\b${name} (?:===|!==) (?!undefined|null|''|'[a-z]+'|0)\\w`, 'i');
  const found = files.flatMap((file) =>
    read(file)
      .split('\n')
      .flatMap((line) => (compared.test(line) ? [`${file}: ${line.trim()}`] : [])),
  );
  // At the start of a server, between a file of whoever runs it and the database: no caller waits for it.
  expect(found).toEqual(['seed.ts: isSameSecret: secret === kept,']);
});
