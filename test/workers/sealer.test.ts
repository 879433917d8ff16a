import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { openPostgres } from '../../src/db/postgres.ts';
import { createReader } from '../../src/db/reader.ts';
import { newSuffix } from '../../src/engine/ids.ts';
import { Seals } from '../../src/engine/seals.ts';
import { firstIdAt } from '../../src/kernel/ids.ts';
import { verifySeals } from '../../src/resources/audit/seal-store.ts';
import type { Server } from '../../src/server.ts';
import { Sealer } from '../../src/workers/sealer.ts';
import { observed, Submitter } from '../engine/submitting.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { databaseKinds, openServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

const hourMs = 3_600_000;

describe.each(databaseKinds)('audit seals on %s', (kind) => {
  let server: Server;
  let databaseUrl: string | undefined;
  let acme: Tenant;
  let other: Tenant;

  const run = (sql: string) => server.database.script(sql);
  const rows = <Row>(text: string) => server.database.query<Row>({ name: '', text }, []);
  const verifyChain = (orgId: string = acme.orgId, rowsMax?: number) =>
    verifySeals(server.reader, orgId, Date.now(), rowsMax);
  const problemsFound = async () => (await verifyChain()).problems.map((problem) => problem.message);
  const pay = () => acme.client.post('developer_api_payments', { amount: 100, currency: 'EUR' });
  const insertAt = (id: string) =>
    run(`insert into audit (org_id, id, at, actor_kind, actor_id, action, request_id, outcome)
      values ('${acme.orgId}', '${id}', now(), 'system', 'nobody', 'x', 'req_x', 'accepted')`);

  beforeAll(async () => {
    databaseUrl = kind === 'postgres' ? await migratedDatabase(inject('postgresUrl')) : undefined;
    // A node with this role does not seal by itself: the test decides when.
    server = await openServer(kind, { databaseUrl, role: 'api' });
    [acme, other] = [await tenant(server), await tenant(server)];
    for (let seal = 0; seal < 6; seal += 1) {
      await Promise.all([pay(), pay(), pay()]);
      await server.sealer.seal();
    }
  });
  afterAll(() => server?.close());

  test('an untouched trail has no problems, and every row is in exactly one seal', async () => {
    const [counted] = await rows<{ n: number }>(
      `select count(*)::integer as n from audit where org_id = '${acme.orgId}'`,
    );
    const found = await verifyChain();
    expect(found).toMatchObject({
      seals: 6,
      sealedRows: counted?.n,
      unsealedRows: 0,
      problems: [],
      isWhole: true,
    });
    const [head] = await rows<{ hash: string }>(
      `select encode(hash, 'hex') as hash from audit_seals where org_id = '${acme.orgId}' and number = 6`,
    );
    expect(found.head).toBe(head?.hash);
    expect(
      await rows(`select id from audit_seals, unnest(audit_ids) id group by 1 having count(*) > 1`),
    ).toEqual([]);
  });

  test('each organization has its own chain', async () => {
    expect(await verifyChain(other.orgId)).toMatchObject({ seals: 1, unsealedRows: 0, problems: [] });
    expect(await verifyChain('org_nobody')).toMatchObject({
      seals: 0,
      sealedRows: 0,
      head: null,
      problems: [],
      isWhole: true,
    });
  });

  test('rows that are not sealed yet are counted and are not a problem', async () => {
    await pay();
    expect(await verifyChain()).toMatchObject({ unsealedRows: 1, problems: [] });
    await server.sealer.seal();
    expect(await verifyChain()).toMatchObject({ seals: 7, unsealedRows: 0, problems: [] });
    await server.sealer.seal();
    expect(await verifyChain()).toMatchObject({ seals: 7 });
  });

  test('a row that became visible after later ones were sealed gets a seal', async () => {
    await insertAt(firstIdAt('audit', Date.now() - 20_000));
    expect(await verifyChain()).toMatchObject({ unsealedRows: 1, problems: [] });
    await server.sealer.seal();
    expect(await verifyChain()).toMatchObject({ seals: 8, unsealedRows: 0, problems: [] });
  });

  describe('verification reports', () => {
    const withoutTriggers = (
      table: string,
      sql: string,
    ) => `alter table ${table} disable trigger user; ${sql};
      alter table ${table} enable trigger user;`;
    const seal = (number: number) => `org_id = '${acme.orgId}' and number = ${number}`;
    const rowOf = (number: number) =>
      `org_id = '${acme.orgId}' and id = (select audit_ids[2] from audit_seals where ${seal(number)})`;
    let repair = '';

    afterEach(async () => {
      await run(repair);
      expect(await problemsFound()).toEqual([]);
    });

    test.each([
      ['at', `at + interval '1 millisecond'`, `at - interval '1 millisecond'`],
      ['actor_kind', `'system'`, `'api_key'`],
      ['actor_id', `actor_id || 'x'`, `left(actor_id, -1)`],
      ['app_id', `app_id || 'x'`, `left(app_id, -1)`],
      ['action', `action || 'x'`, `left(action, -1)`],
      ['resource', `resource || 'x'`, `left(resource, -1)`],
      ['resource_id', `resource_id || 'x'`, `left(resource_id, -1)`],
      ['request_id', `request_id || 'x'`, `left(request_id, -1)`],
      ['ip', `ip || 'x'`, `left(ip, -1)`],
      ['outcome', `'refused', code = 'x'`, `'accepted', code = null`],
    ])('a row with a changed %s', async (column, damage, undo) => {
      await run(withoutTriggers('audit', `update audit set ${column} = ${damage} where ${rowOf(3)}`));
      repair = withoutTriggers('audit', `update audit set ${column} = ${undo} where ${rowOf(3)}`);
      expect(await problemsFound()).toEqual([
        expect.stringMatching(/^One of the 3 rows from aud_\w+ to aud_\w+, or seal 3 itself, was changed/),
      ]);
    });

    test('a deleted row', async () => {
      await run(`create table saved as select * from audit where ${rowOf(3)}`);
      await run(withoutTriggers('audit', `delete from audit where ${rowOf(3)}`));
      repair = 'insert into audit select * from saved; drop table saved';
      const [row] = await rows<{ id: string }>('select id from saved');
      expect(await problemsFound()).toEqual([`Row ${row?.id}, which seal 3 names, is gone.`]);
    });

    test.each([
      ['a seal', [3], ['Seal 3 is gone.']],
      ['several seals', [3, 4], ['Seals 3 to 4 are gone.']],
      ['the first seals', [1, 2], ['Seals 1 to 2 are gone.']],
    ])('a deletion of %s', async (_what, numbers, expected) => {
      const condition = `org_id = '${acme.orgId}' and number in (${numbers.join(', ')})`;
      await run(`create table saved as select * from audit_seals where ${condition}`);
      await run(withoutTriggers('audit_seals', `delete from audit_seals where ${condition}`));
      repair = 'insert into audit_seals select * from saved; drop table saved';
      expect(await problemsFound()).toEqual(expected);
    });

    test('two swapped seals', async () => {
      const swap = withoutTriggers(
        'audit_seals',
        `update audit_seals set number = -number + 7 + 100 where org_id = '${acme.orgId}' and number in (3, 4);
         update audit_seals set number = number - 100 where org_id = '${acme.orgId}' and number > 100`,
      );
      await run(swap);
      repair = swap;
      expect(await problemsFound()).toEqual([
        'Seal 5 does not continue seal 4: one of them was changed or exchanged.',
        'Seal 4 does not continue seal 3: one of them was changed or exchanged.',
        'Seal 3 does not continue seal 2: one of them was changed or exchanged.',
      ]);
    });

    test('a changed row with a recomputed seal', async () => {
      await run(`create table saved as select * from audit_seals where ${seal(3)}`);
      await run(
        withoutTriggers('audit', `update audit set action = action || 'x' where ${rowOf(3)}`) +
          withoutTriggers(
            'audit_seals',
            `update audit_seals s set hash = sha256(s.previous || (select string_agg(audit_digest(a), ''::bytea order by a.id)
              from audit a where a.org_id = s.org_id and a.id = any(s.audit_ids))) where ${seal(3)}`,
          ),
      );
      repair =
        withoutTriggers('audit', `update audit set action = left(action, -1) where ${rowOf(3)}`) +
        withoutTriggers(
          'audit_seals',
          `update audit_seals s set hash = a.hash from saved a where s.org_id = a.org_id and s.number = 3`,
        ) +
        'drop table saved';
      expect(await problemsFound()).toEqual([
        'Seal 4 does not continue seal 3: one of them was changed or exchanged.',
      ]);
    });

    test('a row inserted into the past', async () => {
      const id = firstIdAt('audit', Date.now() - 2 * hourMs);
      await insertAt(id);
      repair = withoutTriggers('audit', `delete from audit where id = '${id}'`);
      expect(await problemsFound()).toEqual([expect.stringContaining(`No seal names row ${id} of `)]);
    });

    test('a row inserted into the past and sealed since', async () => {
      const id = firstIdAt('audit', Date.now() - 2 * hourMs);
      await insertAt(id);
      await server.sealer.seal();
      repair =
        withoutTriggers('audit', `delete from audit where id = '${id}'`) +
        withoutTriggers('audit_seals', `delete from audit_seals where first_id = '${id}'`);
      expect(await problemsFound()).toEqual([
        expect.stringMatching(`names ${id} of .+ the row was added later`),
      ]);
    });
  });

  test('the database rejects updates, deletes and truncation of seals', async () => {
    for (const sql of [
      'update audit_seals set sealed_at = now()',
      'delete from audit_seals',
      'truncate audit_seals',
    ])
      await expect(run(sql)).rejects.toThrow('audit_seals is append-only');
  });

  test('two nodes that write 2,000 commands, lose batches and seal concurrently put every row in exactly one seal', async () => {
    const second: Database =
      databaseUrl === undefined
        ? server.database
        : openPostgres(`${databaseUrl}?application_name=second`, () => undefined);
    const sealers = [server.database, second].map(
      (database) =>
        new Sealer({
          seals: new Seals(database),
          wallClock: Date.now,
          onError: (error) => expect.fail(String(error)),
        }),
    );
    const nodes = [server.database, second].map((database, i) =>
      observed(database, { onCommit: (committed) => sealers[i]?.onCommit(committed) }),
    );
    const commands = new Submitter(acme);
    // Transactions on the second node's connections are rolled back, or the node does not learn their outcome.
    const terminateSecondNode = () =>
      databaseUrl === undefined
        ? Promise.resolve()
        : run(`select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and application_name = 'second'`);
    for (let round = 0; round < 10; round += 1) {
      const duplicateId = newSuffix();
      const sent = Array.from({ length: 200 }, (_, i) => {
        const engine = nodes[i % 2]?.engine ?? server.engine;
        // A payment with a duplicate id fails its whole batch.
        return commands.pay(engine, {}, i === 20 || i === 120 ? duplicateId : newSuffix());
      });
      await Promise.all([
        ...sent,
        ...sealers.map((sealer) => sealer.seal().catch(() => undefined)),
        terminateSecondNode(),
      ]);
    }
    await server.sealer.seal();
    for (const sealer of sealers) await sealer.stop();
    expect(nodes.flatMap(({ retries }) => retries).length).toBeGreaterThan(0);
    if (second !== server.database) await second.close();
    const found = await verifyChain();
    expect(found).toMatchObject({ unsealedRows: 0, problems: [], isWhole: true });
    expect(found.sealedRows).toBeGreaterThan(1_000);
    expect(
      await rows(`select id from audit_seals, unnest(audit_ids) id group by 1 having count(*) > 1`),
    ).toEqual([]);
    const bounded = await verifyChain(acme.orgId, 100);
    expect(bounded).toMatchObject({ problems: [], isWhole: false });
    expect(bounded.sealedRows).toBeLessThan(found.sealedRows);
  });

  test('seals rows in order, at most a thousand in each seal', async () => {
    const busy = await tenant(server);
    await run(`insert into audit (org_id, id, at, actor_kind, actor_id, action, request_id, outcome)
      select '${busy.orgId}', 'aud_01' || lpad(n::text, 24, '0'), now(), 'system', 'load', 'x', 'req_' || n, 'accepted'
      from generate_series(1, 2500) n`);
    await server.sealer.seal();
    const seals = await rows<{ n: number }>(
      `select cardinality(audit_ids) as n from audit_seals where org_id = '${busy.orgId}' order by number`,
    );
    expect(seals.map(({ n }) => n)).toEqual([1_000, 1_000, expect.any(Number)]);
    expect(await verifyChain(busy.orgId)).toMatchObject({ unsealedRows: 0, problems: [] });
  });
});

describe('sealer rounds on a simulated clock', () => {
  const roundMs = 2_000;
  const [pass, hour] = [30, 1_800];
  let server: Server;
  let acme: Tenant;
  let now = Date.now();
  let sealer: Sealer;

  beforeAll(async () => {
    server = await openServer('postgres', { role: 'api' });
    acme = await tenant(server);
    now = Date.now() + 5_000;
    const onError = (error: unknown) => expect.fail(String(error));
    sealer = new Sealer({ seals: new Seals(server.database), wallClock: () => now, onError });
  });
  afterAll(() => server?.close());

  const rounds = async (count: number) => {
    for (let i = 0; i < count; i += 1) {
      await sealer.round();
      now += roundMs;
    }
  };
  const verifyChain = () => verifySeals(server.reader, acme.orgId, now);
  const insertAt = (instant: number) =>
    server.database.script(`insert into audit (org_id, id, at, actor_kind, actor_id, action, request_id, outcome)
      values ('${acme.orgId}', '${firstIdAt('audit', instant)}', now(), 'system', 'x', 'x', 'req_x', 'accepted')`);

  test('seal rows of other nodes once a minute, not earlier', async () => {
    await rounds(pass - 1);
    expect(await verifyChain()).toMatchObject({ seals: 0, unsealedRows: expect.any(Number) });
    await rounds(1);
    expect(await verifyChain()).toMatchObject({ seals: 1, unsealedRows: 0, problems: [] });
  });

  test('seal rows that became visible late in the next minute', async () => {
    const startedAt = now;
    await insertAt(startedAt + 50_000);
    await rounds(pass);
    expect(await verifyChain()).toMatchObject({ seals: 2, unsealedRows: 0 });
    const late = startedAt + 45_000;
    await insertAt(late);
    expect(await verifyChain()).toMatchObject({ unsealedRows: 1 });
    await rounds(pass);
    expect(await verifyChain()).toMatchObject({ seals: 3, unsealedRows: 0, problems: [] });
  });

  test('find older rows every hour, and verification reports them', async () => {
    const old = now - 3 * hourMs;
    await rounds(pass);
    await insertAt(old);
    await rounds(10 * pass);
    expect(await verifyChain()).toMatchObject({ seals: 3, unsealedRows: 1 });
    await rounds(hour - 10 * pass);
    const found = await verifyChain();
    expect(found).toMatchObject({ seals: 4, unsealedRows: 0 });
    expect(found.problems.map(({ message }) => message)).toEqual([
      expect.stringContaining('was added later'),
    ]);
  });
});

describe.each(databaseKinds)('a server on %s', (kind) => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sandbank-seals-'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  test('seals in the background and leaves no unsealed row when it closes', async () => {
    const storage =
      kind === 'postgres'
        ? { databaseUrl: await migratedDatabase(inject('postgresUrl')) }
        : { dataDirectory: join(directory, 'data') };
    const server = await openServer(kind, storage);
    const acme = await tenant(server);
    const verifyChain = (on: Server) => verifySeals(createReader(on.database), acme.orgId, Date.now());
    await vi.waitFor(
      async () => {
        const found = await verifyChain(server);
        expect(found).toMatchObject({ unsealedRows: 0, problems: [] });
        expect(found.seals).toBeGreaterThan(0);
      },
      { interval: 50 },
    );
    const { seals } = await verifyChain(server);
    await acme.client.post('developer_api_payments', { amount: 100, currency: 'EUR' });
    expect(await verifyChain(server)).toMatchObject({ seals, unsealedRows: 1 });
    await server.close();
    const again = await openServer(kind, { ...storage, role: 'api' });
    expect(await verifyChain(again)).toMatchObject({ seals: seals + 1, unsealedRows: 0, problems: [] });
    await again.close();
  });
});

test('the digest of a row distinguishes absent from empty fields and separates adjacent fields', async () => {
  const server = await openServer('pglite');
  const digests = await server.database.query<{ digest: string }>(
    {
      name: '',
      text: `select encode(audit_digest(row('org', 'aud', now(), 'k', v.a, v.b, 'x', null, null, 'r', null, 'o', null)::audit), 'hex')
        as digest from (values ('a', 'b'), ('ab', ''), ('ab', null), ('', 'ab'), ('a,b', ''), ('a', 'NULL'), ('a', null), ('"a', 'b\\"')) v(a, b)`,
    },
    [],
  );
  expect(new Set(digests.map(({ digest }) => digest)).size).toBe(8);
  await server.close();
});
