/** The next release: a copy of the build with two more migrations and code that uses them. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Every kind of change that an expand migration may make. */
export const expanding = `-- Additions of the next release.
alter table payments add column note text;
alter table webhooks add column tier text not null default 'plain';
alter table events add column source text;
create table payment_notes (org_id text collate "C" not null, id text collate "C" not null, primary key (org_id, id));
create or replace function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% has always been append-only: % is refused', tg_table_name, lower(tg_op) using errcode = 'restrict_violation';
end
$$;
`;

export const indexing = `-- outside a transaction
-- Finds payments by note.
create index concurrently if not exists payments_by_note on payments (org_id, note) where note is not null;
`;

/** The value that the next release writes into the new column. */
export const NOTE = 'created by the next release';

export function makeNextRelease(): { readonly root: string; remove(): void } {
  const root = mkdtempSync(path.join(tmpdir(), 'sandbank-next-'));
  for (const folder of ['dist/src', 'dist/cli', 'dist/sdk', 'migrations'])
    cpSync(path.join(ROOT, folder), path.join(root, folder), { recursive: true });
  cpSync(path.join(ROOT, 'package.json'), path.join(root, 'package.json'));
  for (const folder of ['node_modules', 'dist/docs', 'dist/console'])
    symlinkSync(path.join(ROOT, folder), path.join(root, folder), 'junction');
  writeFileSync(path.join(root, 'migrations', '9001_notes.sql'), expanding);
  writeFileSync(path.join(root, 'migrations', '9002_payments_by_note.sql'), indexing);
  const lastFour = 'paymentMethodLastFour: ';
  patch(root, `${lastFour}"text",`, `${lastFour}"text", note: "text",`);
  patch(root, `${lastFour}cardNumber`, `note: "${NOTE}", ${lastFour}cardNumber`);
  return { root, remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }) };
}

/** Replaces text in the only file of the built server that contains it. */
function patch(root: string, before: string, after: string): void {
  const folder = path.join(root, 'dist', 'src');
  const parts = readdirSync(folder).filter((name) => /^part-.*\.js$/.test(name));
  const [part, ...others] = parts.filter((name) =>
    readFileSync(path.join(folder, name), 'utf8').includes(before),
  );
  if (part === undefined || others.length > 0)
    throw new Error(`Not exactly one file of the server contains ${before}`);
  const file = path.join(folder, part);
  writeFileSync(file, readFileSync(file, 'utf8').replace(before, after));
}
