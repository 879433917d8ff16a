import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { attemptError, attemptErrors, statusError } from './attempt-errors.ts';

const kindOf = (error: string) =>
  Object.entries(attemptErrors).find(([, { prefix }]) => error.startsWith(prefix))?.[0];

test.each([
  [attemptError('dns', 'the name x.test was not found.'), 'dns'],
  [attemptError('connectionFailed', 'EPERM.'), 'connectionFailed'],
  [statusError(410, 'the receiver is gone.'), 'gone'],
  [statusError(302, 'redirects are not followed.'), 'redirect'],
  [statusError(500, 'only 2xx counts as delivered.'), 'status'],
])('%s is of the kind %s', (error, kind) => {
  expect(kindOf(error)).toBe(kind);
});

test('the table of docs/webhooks.md has all prefixes', () => {
  const page = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8');
  const [, table = ''] = page.split('| error begins with | check |');
  const [rows = ''] = table.split('\n\n');
  for (const { prefix } of Object.values(attemptErrors))
    expect(rows).toContain(`\`${prefix.startsWith('Status ') ? 'Status ...' : prefix.replace(/:$/, '')}`);
});
