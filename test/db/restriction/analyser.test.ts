import { describe, expect, test } from 'vitest';
import { findUnrestricted, findUnrestrictedInFunction } from './check.ts';

const restricted: readonly (readonly [why: string, text: string])[] = [
  ['a parameter', 'select t.id from payments t where t.org_id = $1'],
  ['a parameter on the left', 'select t.id from payments t where $1 = t.org_id'],
  ['a list of parameters', 'select t.id from payments t where t.org_id = any($1::text[])'],
  ['a row of parameters', 'select t.id from payments t where (t.org_id, t.id) = ($1, $2)'],
  ['no alias', 'select id from payments where org_id = $1'],
  ['a table without organizations', 'select p.id from persons p where p.email = $1'],
  [
    'a join by org_id',
    'select 1 from payments t join refunds r on r.org_id = t.org_id and r.payment_id = t.id where r.org_id = $1',
  ],
  [
    'the optional side',
    'select 1 from payments t left join refunds r on r.org_id = t.org_id where t.org_id = $1',
  ],
  [
    'an array of keys',
    'select t.* from unnest($1::text[], $2::text[]) as k(org_id, id) cross join lateral (select s.id from payments s where s.org_id = k.org_id and s.id = k.id offset 0) t',
  ],
  [
    'rows in JSON',
    'select 1 from json_to_recordset($1) as k(org_id text, id text) join payments t on t.org_id = k.org_id and t.id = k.id',
  ],
  [
    'a common table expression',
    'with k as (select r.org_id, r.payment_id from refunds r where r.org_id = $1) select 1 from payments t join k on k.org_id = t.org_id',
  ],
  [
    'renamed columns of a common table expression',
    'with k(organization) as (select org_id from refunds where org_id = $1) select 1 from payments t, k where t.org_id = k.organization',
  ],
  [
    'all branches of a union',
    'select 1 from (select org_id from refunds where org_id = $1 union all select org_id from disputes where org_id = $1) u join payments t on t.org_id = u.org_id',
  ],
  [
    'a subquery',
    'select (select count(*) from refunds r where r.org_id = t.org_id) from payments t where t.org_id = $1',
  ],
  [
    '`in` with a restricted subquery',
    'select 1 from payments t where (t.org_id, t.id) in (select r.org_id, r.payment_id from refunds r where r.org_id = $1)',
  ],
  [
    'recursion that stays in the organization',
    'with recursive k(org_id, id) as ((select org_id, id from payments where org_id = $1 limit 1) union all select n.org_id, n.id from k cross join lateral (select t.org_id, t.id from payments t where t.org_id = k.org_id and t.id > k.id limit 1) n) select id from k',
  ],
  [
    'an update',
    'update payments t set status = $3 from unnest($1::text[], $2::text[]) as u(org_id, id) where t.org_id = u.org_id and t.id = u.id',
  ],
  ['a delete', 'delete from payments where org_id = $1'],
  ['an insert', 'insert into payments (org_id, id) select * from unnest($1::text[], $2::text[])'],
  [
    'rows of an earlier change',
    'with d as (delete from refunds where org_id = $1 returning org_id) select 1 from payments t join d on d.org_id = t.org_id',
  ],
  [
    'a conflict by org_id',
    'insert into payments (org_id, id) values ($1, $2) on conflict (org_id, id) do nothing',
  ],
  ['a cursor', 'declare rows cursor for select id from payments where org_id = $1'],
];

const unrestricted: readonly (readonly [why: string, text: string, finding: string])[] = [
  ['no condition', 'select id from payments', 'payments is not restricted'],
  ['another column', 'select t.id from payments t where t.id = $1', 'payments (as t) is not restricted'],
  ['`or`', 'select 1 from payments t where t.org_id = $1 or t.id = $2', 'payments (as t)'],
  ['`not`', 'select 1 from payments t where not (t.org_id = $1)', 'payments (as t)'],
  ['an inequality', 'select 1 from payments t where t.org_id <> $1', 'payments (as t)'],
  ['another spelling of an inequality', 'select 1 from payments t where t.org_id != $1', 'payments (as t)'],
  ['a range', 'select 1 from payments t where t.org_id > $1', 'payments (as t)'],
  [
    '`is not distinct from`',
    'select 1 from payments t where t.org_id is not distinct from $1',
    'payments (as t)',
  ],
  ['an inequality with a list', 'select 1 from payments t where t.org_id not in ($1, $2)', 'payments (as t)'],
  ['an equality in the result', 'select t.org_id = $1 from payments t', 'payments (as t)'],
  ['its own value', 'select 1 from payments t where t.org_id = coalesce($1, t.org_id)', 'payments (as t)'],
  [
    'one branch of a union',
    'select id from payments where org_id = $1 union all select id from refunds',
    'refunds is not restricted',
  ],
  [
    'a join with a union that has an unrestricted branch',
    'select 1 from (select org_id from refunds where org_id = $1 union select org_id from disputes) u join payments t on t.org_id = u.org_id',
    'payments (as t)',
  ],
  [
    'a subquery',
    'select (select count(*) from refunds r where r.payment_id = t.id) from payments t where t.org_id = $1',
    'refunds (as r)',
  ],
  [
    'a subquery in a condition',
    'select 1 from payments t where t.org_id = $1 and exists (select from refunds r where r.payment_id = t.id)',
    'refunds (as r)',
  ],
  [
    'a common table expression',
    'with k as (select id from refunds) select 1 from payments where org_id = $1',
    'refunds',
  ],
  [
    'the required side of a left join',
    'select 1 from payments t left join refunds r on r.org_id = t.org_id and r.org_id = $1',
    'payments (as t)',
  ],
  [
    'the required side of a right join',
    'select 1 from payments t right join refunds r on r.org_id = t.org_id and t.org_id = $1',
    'refunds (as r)',
  ],
  [
    'a full join',
    'select 1 from payments t full join refunds r on r.org_id = t.org_id and t.org_id = $1',
    'payments (as t)',
  ],
  [
    'a join by another column',
    'select 1 from payments t join refunds r on r.payment_id = t.id where t.org_id = $1',
    'refunds (as r)',
  ],
  [
    'two tables that restrict each other',
    'select 1 from payments t join refunds r on r.org_id = t.org_id',
    'payments (as t)',
  ],
  [
    'a subquery that is not restricted',
    'select 1 from payments t where t.org_id in (select r.org_id from refunds r)',
    'payments (as t)',
  ],
  [
    'values of rows',
    'select 1 from refunds r cross join lateral jsonb_to_recordset(r.metadata) as k(org_id text) join payments t on t.org_id = k.org_id where r.org_id = $1',
    'payments (as t)',
  ],
  [
    'recursion that leaves the organization',
    'with recursive k(org_id, id) as ((select org_id, id from payments where org_id = $1 limit 1) union all select n.org_id, n.id from k cross join lateral (select t.org_id, t.id from payments t where t.org_id > k.org_id limit 1) n) select 1 from k join refunds r on r.org_id = k.org_id',
    'refunds (as r)',
  ],
  ['an update', 'update payments set status = $1 where id = $2', 'payments is not restricted'],
  [
    'a delete with a join',
    'delete from payments t using refunds r where r.org_id = $1 and r.payment_id = t.id',
    'payments (as t)',
  ],
  [
    'a physical position',
    'with k as (select ctid as at from payments where org_id = $1) update payments t set status = $2 from k where t.ctid = k.at',
    'payments (as t)',
  ],
  ['an insert without org_id', 'insert into payments (id) values ($1)', 'does not supply org_id'],
  [
    'a conflict without org_id',
    'insert into payments (org_id, id) values ($1, $2) on conflict (id) do nothing',
    'conflict clause of payments',
  ],
  ['a changed organization', 'update payments set org_id = $2 where org_id = $1', 'changes org_id'],
  [
    'another kind of statement',
    'truncate payments',
    'payments is used in a form that the analyser does not know',
  ],
  [
    'a nested kind of statement',
    'merge into payments t using refunds r on r.org_id = t.org_id when matched then delete',
    'does not know',
  ],
];

describe('restriction by org_id', () => {
  test.each(restricted)('accepts %s', (_why, text) => {
    expect(findUnrestricted(text)).toEqual([]);
  });

  test.each(unrestricted)('refuses %s', (_why, text, finding) => {
    expect(findUnrestricted(text).join('\n')).toContain(finding);
  });

  test('an exception for one table covers only what follows it', () => {
    const free = (table: string) => table === 'api_keys';
    const follows = 'select 1 from api_keys k join applications a on a.org_id = k.org_id where k.hash = $1';
    expect(findUnrestricted(follows)).toHaveLength(2);
    expect(findUnrestricted(follows, { free })).toEqual([]);
    expect(findUnrestricted('select 1 from api_keys k, payments t where k.hash = $1', { free })).toEqual([
      'payments (as t) is not restricted by org_id',
    ]);
  });

  test('the statements of a function are analysed', () => {
    const body = (condition: string) =>
      `create function f(org text) returns void language plpgsql as $$ declare found_id text; begin
        found_id := (select t.id from payments t where ${condition}); end $$`;
    expect(findUnrestrictedInFunction(body('t.org_id = org'))).toEqual([]);
    expect(findUnrestrictedInFunction(body('t.id = org'))).toEqual([
      'payments (as t) is not restricted by org_id',
    ]);
  });
});
