import { expect, test } from 'vitest';
import { readMigrations } from '../../src/db/migrate.ts';
import { isOlder, oldestReleaseOf } from '../../src/db/oldest-release.ts';
import { packageVersion } from '../../src/local/paths.ts';
import { expanding, indexing } from '../support/next-release.ts';
import { contracting, firstChecked, problemsOf } from './migrations.ts';

test('every migration is compatible with the previous release', async () => {
  const checked = (await readMigrations()).filter(
    ({ version }) => version >= firstChecked && contracting[version] === undefined,
  );
  for (const { version, name, sql } of checked) expect(problemsOf(sql), `${version} ${name}`).toEqual([]);
});

test('every contracting migration names the oldest release that works without what it removes', async () => {
  const migrations = await readMigrations();
  for (const { version, name, sql } of migrations) {
    const release = oldestReleaseOf(sql);
    if (contracting[version] !== undefined) expect(release, `${version} ${name}`).not.toBeNull();
    if (release === null) continue;
    expect(isOlder(packageVersion(), release), `${version} ${name} excludes this release`).toBe(false);
    expect(version, 'the column exists only after migration 25').toBeGreaterThan(25);
  }
});

test('versions have no gaps, so that no migration of another branch is missing', async () => {
  const versions = (await readMigrations()).map(({ version }) => version);
  expect(versions).toEqual(versions.map((_, i) => i + 1));
});

test.each([
  expanding,
  indexing,
  'alter table payments add column note text, add column rank integer not null default 0;',
  'alter table payments add constraint short check (length(note) < 9) not valid;',
  '-- outside a transaction\nalter table payments validate constraint short;',
  '-- outside a transaction\ndrop index concurrently if exists payments_by_note;',
  'create table notes (id text primary key);\ncreate index notes_by_id on notes (id);\nalter table notes drop column id;',
  'alter table payments alter column note set default 0;\nalter table payments drop constraint short;',
  "insert into settings values ('drop table payments; rename');",
])('%s is allowed', (sql) => {
  expect(problemsOf(sql)).toEqual([]);
});

test.each([
  ['drop table payments;', 'drops a table'],
  ['alter table payments drop column note;', 'drops a column'],
  ['alter table payments drop note;', 'drops a column'],
  ['drop function audit_digest(audit);', 'drops a view'],
  ['alter table payments rename column note to remark;', 'renames'],
  ['ALTER TABLE payments RENAME TO bills;', 'renames'],
  ['alter table payments alter column amount type numeric;', 'changes the type'],
  ['alter table payments alter amount set data type numeric;', 'changes the type'],
  ['alter table payments add column note text not null;', 'does not fill'],
  ['alter table payments add column a text default 0, add column b text not null;', 'does not fill'],
  ['alter table payments alter column note set not null;', 'required'],
  ['alter table payments add column note text unique;', 'creates an index'],
  ['alter table payments add constraint short check (length(note) < 9);', 'validates all rows'],
  ['alter table payments add unique (note);', 'validates all rows'],
  ['create index payments_by_note on payments (note);', 'blocks writes'],
  ['create unique index payments_by_note on payments (note);', 'blocks writes'],
  ['create index concurrently payments_by_note on payments (note);', 'inside a transaction'],
  ['truncate payments;', 'empties'],
  ['-- outside a transaction\nalter table payments add column note text;', 'more than indexes'],
  [
    '-- outside a transaction\ncreate index concurrently payments_by_note on payments (note);',
    'more than indexes',
  ],
])('%s is rejected', (sql, problem) => {
  expect(problemsOf(sql)).toEqual([expect.stringContaining(problem)]);
});
