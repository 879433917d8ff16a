import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { headsText, parseHeads, type Verification, verify } from '../../src/admin/verify.ts';
import { newSuffix } from '../../src/engine/ids.ts';
import { Seals } from '../../src/engine/seals.ts';
import { firstIdAt, formatId } from '../../src/kernel/ids.ts';
import type { Server } from '../../src/server.ts';
import { openServer } from '../support/server.ts';

const minuteMs = 60_000;
const now = Date.now();

/** An attacker with superuser rights bypasses all triggers. Each case restores the tables afterwards. */
describe('`verify`, after a superuser tampered with the audit trail', () => {
  const acme = formatId('organization', newSuffix());
  const other = formatId('organization', newSuffix());
  let server: Server;
  let savedHeads: Verification['heads'] = [];

  /** Rows of the last three hours, one every five minutes, sealed in groups of three. */
  const idOf = (n: number) => `${firstIdAt('audit', now - (180 - n * 5) * minuteMs).slice(0, -2)}zz`;
  const insert = (id: string, orgId = acme) => `insert into audit
    (org_id, id, at, actor_kind, actor_id, app_id, action, resource, resource_id, request_id, ip, outcome, code)
    values ('${orgId}', '${id}', now(), 'api_key', 'key_x', 'app_x', 'payments.create', 'payment', 'pay_x', 'req_${id}', '10.0.0.1',
      'refused', 'amount_too_small');`;
  const row = (n: number) => `org_id = '${acme}' and id = '${idOf(n)}'`;
  const seal = (n: number) => `org_id = '${acme}' and number = ${n}`;
  const rowsMax = 36;
  const sealsMax = 12;

  beforeAll(async () => {
    server = await openServer('postgres', { role: 'api' });
    const seals = new Seals(server.database);
    for (let n = 0; n < rowsMax; n += 1) {
      await server.database.script(
        insert(idOf(n)) + (n < 9 ? insert(`${idOf(n).slice(0, -1)}x`, other) : ''),
      );
      if (n % 3 === 2) for (const orgId of [acme, other]) await seals.next(orgId, 'aud_~', Date.now());
    }
    await server.database.script(
      'create table own_rows as table audit; create table own_seals as table audit_seals',
    );
    // A superuser can also drop the check constraints.
    const { rows } = await server.database.execute(
      `select conrelid::regclass as table, conname as name from pg_constraint
        where contype = 'c' and conrelid in ('audit'::regclass, 'audit_seals'::regclass)`,
      [],
    );
    for (const { table, name } of rows as readonly { table: string; name: string }[])
      await server.database.script(`alter table ${table} drop constraint ${name}`);
    const before = await verify(server.database, now);
    expect([before.isSound, before.heads.find(({ orgId }) => orgId === acme)?.number]).toEqual([
      true,
      sealsMax,
    ]);
    savedHeads = before.heads;
  });
  afterAll(() => server?.close());

  async function findingsAfter(
    damage: string,
    heads: Verification['heads'] = [],
  ): Promise<readonly string[]> {
    const asSuperuser = (sql: string) =>
      server.database.script(`begin; set local session_replication_role = replica; ${sql}; commit`);
    await asSuperuser(damage);
    const { checks, isSound } = await verify(server.database, now, heads);
    const findings = checks.flatMap(({ differences }) =>
      differences.map((one) => `${one.subject}: ${one.found}`),
    );
    expect(isSound).toBe(findings.length === 0);
    await asSuperuser(`truncate audit; truncate audit_seals;
      insert into audit select * from own_rows; insert into audit_seals select * from own_seals`);
    return findings;
  }

  const columns: Readonly<Record<string, string>> = {
    org_id: `'${other}'`,
    id: `'${idOf(99)}'`,
    at: `at + interval '1 microsecond'`,
    actor_kind: `'user'`,
    actor_id: `'key_y'`,
    app_id: 'null',
    action: `'payments.Create'`,
    resource: 'null',
    resource_id: `'pay_y'`,
    request_id: `''`,
    ip: `'10.0.0.2'`,
    outcome: `'accepted'`,
    code: `''`,
  };

  test('reports a change in every column, at the beginning, in the middle and at the end', async () => {
    const { rows } = await server.database.execute(
      `select column_name as name from information_schema.columns where table_name = 'audit' order by ordinal_position`,
      [],
    );
    expect(rows.map((one) => (one as { name: string }).name)).toEqual(Object.keys(columns));
    for (const [column, value] of Object.entries(columns))
      for (const n of [0, 17, rowsMax - 1]) {
        const findings = await findingsAfter(`update audit set ${column} = ${value} where ${row(n)}`);
        expect(findings, `${column} of row ${n}`).not.toEqual([]);
      }
  });

  test('reports rows and seals that were removed, added, swapped, renumbered or moved', async () => {
    const reseal = (n: number) => `update audit_seals s set hash = sha256(s.previous || (select
      string_agg(audit_digest(a), ''::bytea order by a.id) from audit a where a.org_id = s.org_id and a.id = any(s.audit_ids))) where ${seal(n)}`;
    const named = (n: number) =>
      `org_id = '${acme}' and id = any((select audit_ids from audit_seals where ${seal(n)})::text[])`;
    const cases: Readonly<Record<string, string>> = {
      'the first row removed': `delete from audit where ${row(0)}`,
      'a row removed': `delete from audit where ${row(17)}`,
      'the last sealed row removed': `delete from audit where ${row(rowsMax - 1)}`,
      'a seal removed with its rows': `delete from audit where ${named(5)}; delete from audit_seals where ${seal(5)}`,
      'the first seal removed with its rows': `delete from audit where ${named(1)}; delete from audit_seals where ${seal(1)}`,
      'a seal removed with its rows, and the rest renumbered': `delete from audit where ${named(5)}; delete from audit_seals
        where ${seal(5)}; update audit_seals set number = number - 1 where org_id = '${acme}' and number > 5`,
      'a row added an hour and a half ago': insert(`${idOf(17).slice(0, -1)}y`),
      'a row added half an hour ago': insert(`${idOf(28).slice(0, -1)}y`),
      'a row before all others': insert(`aud_${'0'.repeat(26)}`),
      'a row with an id after all others': insert('zzz'),
      'a row with an empty id': insert(''),
      'two rows swapped': `update audit set id = 'temp' where ${row(3)}; update audit set id = '${idOf(3)}' where ${row(4)};
        update audit set id = '${idOf(4)}' where org_id = '${acme}' and id = 'temp'`,
      'a row moved to another organization': `update audit set org_id = '${other}' where ${row(20)}`,
      'a row copied to another organization': `insert into audit select '${other}', (a).id, (a).at, (a).actor_kind, (a).actor_id,
        (a).app_id, (a).action, (a).resource, (a).resource_id, (a).request_id, (a).ip, (a).outcome, (a).code
        from (select a from audit a where ${row(1)}) q`,
      'a changed row with a recomputed seal': `update audit set ip = null where ${row(9)}; ${reseal(4)}`,
      'a seal whose rows are in another order': `update audit_seals set audit_ids = array[audit_ids[2], audit_ids[1], audit_ids[3]] where ${seal(6)}`,
      'a seal with one row less': `update audit_seals set audit_ids = audit_ids[1:2], last_id = audit_ids[2] where ${seal(6)}`,
      'a seal with another first row': `update audit_seals set first_id = 'aud_0' where ${seal(6)}`,
      'a seal with an earlier time': `update audit_seals set sealed_at = sealed_at - interval '10 years' where ${seal(6)}`,
      'a seal with a later time': `update audit_seals set sealed_at = sealed_at + interval '1 year' where ${seal(6)}`,
      'a seal with another hash': `update audit_seals set hash = sha256(hash) where ${seal(sealsMax)}`,
      'a seal with another previous hash': `update audit_seals set previous = sha256(previous) where ${seal(1)}`,
      'seals renumbered from 2': `update audit_seals set number = number + 100 where org_id = '${acme}';
        update audit_seals set number = number - 99 where org_id = '${acme}'`,
      'two seals swapped': `update audit_seals set number = 99 where ${seal(6)}; update audit_seals set number = 6 where ${seal(7)};
        update audit_seals set number = 7 where ${seal(99)}`,
      'a seal moved to another organization': `update audit_seals set org_id = '${other}', number = 4 where ${seal(2)}`,
      'the rows truncated': 'truncate audit',
      'the seals truncated': 'truncate audit_seals',
    };
    for (const [what, damage] of Object.entries(cases))
      expect(await findingsAfter(damage), what).not.toEqual([]);
    expect(await findingsAfter('select 1')).toEqual([]);
  });

  test('reports, with saved heads, changes that the chain itself cannot show', async () => {
    const newest = `${seal(sealsMax)}`;
    const rows = `org_id = '${acme}' and id in (select unnest(audit_ids) from audit_seals where ${newest})`;
    const recomputed = `update audit set ip = null where ${row(9)}; ${Array.from(
      { length: sealsMax - 3 },
      (
        _,
        i,
      ) => `update audit_seals s set previous = (select p.hash from audit_seals p where ${seal(i + 3).replaceAll('org_id', 'p.org_id')}),
        hash = sha256((select p.hash from audit_seals p where p.org_id = s.org_id and p.number = s.number - 1) || (select
        string_agg(audit_digest(a), ''::bytea order by a.id) from audit a where a.org_id = s.org_id and a.id = any(s.audit_ids)))
        where ${seal(i + 4)}`,
    ).join('; ')}`;
    const cases: readonly (readonly [string, string, RegExp])[] = [
      [
        'the end truncated',
        `delete from audit where ${rows}; delete from audit_seals where ${newest}`,
        /cut off/,
      ],
      ['the chain recomputed', recomputed, /was rebuilt/],
      ['everything truncated', 'truncate audit; truncate audit_seals', /cut off/],
    ];
    for (const [what, damage, message] of cases) {
      expect(await findingsAfter(damage), `${what}, without heads`).toEqual([]);
      expect((await findingsAfter(damage, savedHeads)).join(' '), what).toMatch(message);
    }
    expect(await findingsAfter('select 1', savedHeads)).toEqual([]);
    expect(parseHeads(`# saved\n${headsText(savedHeads)}\n`)).toEqual(savedHeads);
    for (const wrong of ['x', `${acme} 1`, `${acme} 1 ${'0'.repeat(63)}`])
      expect(parseHeads(wrong)).toBeUndefined();
  });
});
