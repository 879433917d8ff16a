// Each rule fails on a bad tree and passes on a good one. Import directions and language have separate test files.
import { describe, expect, test } from 'vitest';
import { length, longFiles } from './length.ts';
import { names } from './names.ts';
import { purity } from './purity.ts';
import { slices } from './slices.ts';
import { print, type Rule, source } from './source.ts';
import { statuses } from './statuses.ts';
import { tenancy } from './tenancy.ts';
import { traces } from './traces.ts';

function check(rule: Rule, path: string, text = ''): string[] {
  return rule([source(path, text)]).map(print);
}

describe('slices', () => {
  test.each([
    'table.ts',
    'machine.ts',
    'store.ts',
    'api.ts',
    'replay-store.ts',
    'machine.test.ts',
    'fees.test.ts',
  ])('%s may live in a resource', (name) => {
    expect(check(slices, `src/resources/payments/${name}`)).toEqual([]);
  });
  test.each([
    'payments/fees.ts',
    'payments/rules/machine.ts',
    'payments/catalogue.ts',
    'payments/fees-and-more.ts',
    'registry.ts',
    'payments/api.sql',
  ])('%s may not', (name) => {
    expect(check(slices, `src/resources/${name}`)).toHaveLength(1);
  });
  test('a file name that only one slice may have', () => {
    expect(check(slices, 'src/resources/events/catalogue.ts')).toEqual([]);
  });
  test('index.ts is the only file next to the resources', () => {
    expect(check(slices, 'src/resources/index.ts')).toEqual([]);
  });
});

describe('names', () => {
  test.each([
    'src/kernel/money.ts',
    'test/support/global-setup.ts',
    'src/resources/api-keys/machine.test.ts',
    'sdk/README.md',
    'scripts/utils.mjs',
    'src/resources/utilities/api.ts',
  ])('%s is a good name', (path) => {
    expect(check(names, path)).toEqual([]);
  });
  test.each([
    'src/kernel/utils.ts',
    'src/http/auth-helper.ts',
    'src/lib/money.ts',
    'sdk/types.ts',
    'console/src/payments.service.ts',
    'test/support/common-setup.ts',
    'src/db/PgLite.ts',
    'src/db/pg_lite.ts',
  ])('%s is not', (path) => {
    expect(check(names, path)).toHaveLength(1);
  });
});

describe('purity', () => {
  const impure = [
    'export async function f() {}',
    'const f = async () => 1',
    'const f = async (a) => a',
    'const f = async a => a',
    'class A { async f() {} }',
    'await f()',
    'type F = () => Promise<void>',
    'Date.now()',
    'new Date()',
    'new Date( )',
    'const d = new Date;',
    'performance.now()',
    'Math.random()',
    'crypto.randomUUID()',
    'randomBytes(4)',
    'uuidv7()',
    'process.env.X',
    'setTimeout(f, 1)',
    'setInterval(f, 1)',
    `fetch('x')`,
    `parseFloat('1')`,
    `Number.parseFloat('1')`,
    '(1).toFixed(2)',
    '`${Date.now()}`',
    `import { readFileSync } from 'node:fs'`,
    `import fs from 'fs'`,
    `import net from 'node:net'`,
    `export { connect } from 'node:net'`,
    `import { generateKeySync } from 'node:crypto'`,
    `import * as crypto from 'node:crypto'`,
    `import crypto from 'node:crypto'`,
  ];
  test.each(impure)('rejects %s', (text) => {
    expect(check(purity, 'src/kernel/money.ts', `\n${text}\n`)).toEqual([
      expect.stringMatching(/^src\/kernel\/money\.ts:2 purity: /),
    ]);
  });
  test.each(['src/ledger/fx.ts', 'src/resources/payments/machine.ts'])('applies to %s', (path) => {
    expect(check(purity, path, 'Date.now()')).toHaveLength(1);
  });
  test('a hash is pure, but allowed in the kernel only', () => {
    const text = `import { createHash, hash as digest } from 'node:crypto'`;
    expect(check(purity, 'src/kernel/fingerprint.ts', text)).toEqual([]);
    expect(check(purity, 'src/resources/payments/machine.ts', text)).toHaveLength(1);
  });
  test.each([
    '// Date.now() is not called here; we await nothing',
    `const text = 'await the async process.env'`,
    'const again = new Date(instant)',
    'moves.process.from',
    'const scenario = { async: true }',
    'payment.fetch(1)',
    'const promised = 1',
    `import type { Server } from 'node:http'`,
    `import { Type } from 'typebox'`,
  ])('accepts %s', (text) => {
    expect(check(purity, 'src/kernel/money.ts', text)).toEqual([]);
  });
  test.each(['src/resources/payments/store.ts', 'src/http/app.ts', 'src/kernel/money.test.ts'])(
    'does not apply to %s',
    (path) => {
      expect(check(purity, path, 'Date.now()')).toEqual([]);
    },
  );
});

describe('statuses', () => {
  test.each([
    'reply.code(404)',
    'reply.status( 422 )',
    'response.writeHead(500, {})',
    'return { statusCode: 409 }',
  ])('rejects %s outside src/http', (text) => {
    expect(check(statuses, 'src/engine/engine.ts', text)).toHaveLength(1);
    expect(check(statuses, 'src/http/app.ts', text)).toEqual([]);
    expect(check(statuses, 'src/kernel/errors.ts', text)).toEqual([]);
  });
  test.each(['error.code(reason)', 'response.statusCode >= 200', 'statusCode: number', `// reply.code(404)`])(
    'accepts %s',
    (text) => {
      expect(check(statuses, 'src/workers/delivery.ts', text)).toEqual([]);
    },
  );
});

describe('length', () => {
  const lines = (count: number): string => 'x\n'.repeat(count);
  test('350 lines are allowed in src, 351 are not', () => {
    expect(check(length, 'src/http/app.ts', lines(350))).toEqual([]);
    expect(check(length, 'src/http/app.ts', lines(351))).toEqual([
      'src/http/app.ts:351 length: 351 lines; the maximum is 350',
    ]);
    expect(check(length, 'test/api/payments.test.ts', lines(351))).toEqual([]);
  });
  test('also applies to sdk and cli, except for generated files', () => {
    expect(check(length, 'sdk/client.ts', lines(351))).toHaveLength(1);
    expect(check(length, 'cli/start.ts', lines(351))).toHaveLength(1);
    expect(check(length, 'sdk/generated/shapes.ts', lines(351))).toEqual([]);
  });
  test('files above 300 lines are listed', () => {
    expect(longFiles([source('src/a.ts', lines(300))])).toEqual([]);
    expect(longFiles([source('src/a.ts', lines(301))])).toEqual(['src/a.ts has 301 lines']);
  });
});

describe('tenancy', () => {
  test.each([
    'create table payments (org_id text not null, id text not null, primary key (org_id, id));',
    'create table if not exists a (amount numeric(20, 0), constraint a_pk primary key (org_id, id));',
    'create table organizations (org_id text primary key, name text);',
    'CREATE TABLE "a" (\n  "org_id" text,\n  PRIMARY KEY ("org_id", "id")\n) partition by hash (org_id);',
    'create table a_1 partition of a for values with (modulus 4, remainder 0);',
    'create table schema_migrations (name text primary key);',
    'create table a (org_id text, id text);\nalter table a add constraint a_pk primary key (org_id, id);',
    '-- create table a (id text primary key)',
    `comment on table a is 'create table b (id text)';`,
  ])('accepts %s', (sql) => {
    expect(check(tenancy, 'migrations/0001-start.sql', sql)).toEqual([]);
  });
  test.each([
    ['create table a (id text primary key);', 'it starts with id'],
    ['create table a (org_id text, id text, primary key (id, org_id));', 'it starts with id'],
    ['create unlogged table a (org_id text, id text);', 'it has none'],
    ['create table a (org_id text, -- primary key (org_id)\n id text);', 'it has none'],
    ['create table a as select 1 as org_id;', 'it has none'],
    [
      'create table public.a (id text, other text default f(1, 2), primary key (other));',
      'it starts with other',
    ],
  ])('rejects %s', (sql, found) => {
    expect(check(tenancy, 'migrations/0001-start.sql', `\n${sql}`)).toEqual([
      `migrations/0001-start.sql:2 tenancy: the primary key of a must start with org_id; ${found}`,
    ]);
  });
  test('applies to migrations only', () => {
    expect(check(tenancy, 'docs/example.sql', 'create table a (id text primary key);')).toEqual([]);
  });
});

describe('traces', () => {
  // Built from parts, because the rule applies to this file too.
  const folder = (...names: string[]): string => `/${names.join('/')}`;
  test.each([
    `cd ${folder('work', 'main')}`,
    `const data = '${folder('tmp')}'`,
    `(${folder('root', '.npmrc')})`,
    `${folder('home', 'ada', 'code')}`,
    `file: ${folder('Users', 'ada')}`,
    `https://${['registry', 'npmjs', 'org'].join('.')}/fastify`,
    `${['npm', 'example', 'internal'].join('.')}`,
  ])('rejects %s', (text) => {
    expect(check(traces, 'docs/notes.md', `\n${text}`)).toEqual([
      expect.stringMatching(/^docs\/notes\.md:2 traces: /),
    ]);
  });
  test.each([
    'https://example.com/work',
    './tmp/file',
    '</root>',
    'src/root/index.ts',
    '/workers and /home and /rooted',
    'registry.metrics.reset()',
    '/_api/developer_api_payments',
  ])('accepts %s', (text) => {
    expect(check(traces, 'docs/notes.md', text)).toEqual([]);
  });
  test('a lockfile contains no resolved addresses', () => {
    const text = '{\n  "a": {\n    "resolved": "x"\n  }\n}';
    expect(check(traces, 'package-lock.json', text)).toEqual([
      expect.stringContaining('package-lock.json:3 traces: '),
    ]);
    expect(check(traces, 'docs/example.json', text)).toEqual([]);
  });
});
