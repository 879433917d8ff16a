import { beforeAll, describe, expect, test } from 'vitest';
import { rowsScannedMax } from '../../src/resources/audit/store.ts';
import { consoleRoutes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import { readConsole } from '../support/principal.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

interface Entry {
  readonly id: string;
  readonly at: string;
  readonly action: string;
  readonly outcome: string;
  readonly resourceId: string | null;
  readonly actor: { readonly kind: string; readonly id: string; readonly name: string | null };
}

interface Page {
  readonly data: readonly Entry[];
  readonly hasMore: boolean;
  readonly nextCursor: string | null;
}

describe.each(databaseKinds)('the audit log in the console on %s', (kind) => {
  let server: Server;
  let acme: Tenant;
  let other: Tenant;
  let paymentId: string;

  const list = (query: Record<string, unknown> = {}, holder = acme) =>
    readConsole<Page>(server, consoleRoutes, 'audit', holder, { query });
  const pay = (holder = acme, body: object = { amount: 100, currency: 'EUR' }) =>
    holder.client.post('developer_api_payments', body);

  beforeAll(async () => {
    server = await sharedServer(kind);
    [acme, other] = [await tenant(server), await tenant(server)];
    paymentId = (await pay()).body.id;
    await pay(acme, { amount: 100, currency: 'XXX' });
    await pay(other);
  });

  test('shows the actor and the action, newest first, with names for keys and the server', async () => {
    const { data, hasMore } = await list();
    expect(hasMore).toBe(false);
    expect(data.map(({ action }) => action).slice(0, 2)).toEqual(['payments.create', 'payments.create']);
    expect(data[1]).toMatchObject({
      object: 'audit_entry',
      sandbox: true,
      status: 'accepted',
      id: expect.stringMatching(/^aud_/),
      actor: { kind: 'api_key', id: acme.keyId, name: acme.keyName },
      applicationId: acme.appId,
      action: 'payments.create',
      resource: 'payment',
      resourceId: paymentId,
      requestId: expect.stringMatching(/^req_/),
      ip: '127.0.0.1',
      outcome: 'accepted',
      code: null,
    });
    expect(data[0]).toMatchObject({ outcome: 'refused', code: 'unsupported_currency', resourceId: null });
    expect(data.at(-1)?.actor).toEqual({ kind: 'system', id: 'seed', name: 'seed' });
  });

  test('filters by actor, action, resource, outcome and time', async () => {
    const all = (await list()).data;
    const cases: [Record<string, unknown>, (entry: Entry) => boolean][] = [
      [{ actorId: acme.keyId }, ({ actor }) => actor.id === acme.keyId],
      [{ action: 'payments.create' }, ({ action }) => action === 'payments.create'],
      [{ resourceId: paymentId }, ({ resourceId }) => resourceId === paymentId],
      [{ outcome: 'refused' }, ({ outcome }) => outcome === 'refused'],
      [{ outcome: 'accepted', actorId: 'seed' }, ({ actor }) => actor.id === 'seed'],
      [{ after: all[1]?.at }, ({ at }) => at > (all[1]?.at ?? '')],
      [{ before: all[1]?.at }, ({ at }) => at < (all[1]?.at ?? '')],
      [{ after: '2020-01-01T00:00:00Z', before: '2021-01-01T00:00:00Z' }, () => false],
      [{ action: 'nothing' }, () => false],
    ];
    for (const [query, matches] of cases)
      expect(await list(query), JSON.stringify(query)).toEqual({
        data: all.filter(matches),
        hasMore: false,
        nextCursor: null,
      });
  });

  test('returns pages', async () => {
    const all = (await list()).data;
    const paged: Entry[] = [];
    for (let cursor: string | null = null, pages = 0; pages < all.length; pages += 1) {
      const page: Page = await list({ limit: 1, ...(cursor === null ? {} : { cursor }) });
      expect(page.data).toHaveLength(1);
      expect(page.hasMore).toBe(page.nextCursor !== null);
      paged.push(...page.data);
      cursor = page.nextCursor;
    }
    expect(paged).toEqual(all);
    expect(await list({ cursor: 'nonsense' })).toMatchObject({ ok: false, code: 'invalid_cursor' });
  });

  test('shows nothing of another organization', async () => {
    const foreign = (await list({}, other)).data;
    expect(foreign.length).toBeGreaterThan(0);
    expect(foreign.some(({ id }) => paymentId === id)).toBe(false);
    expect((await list({ resourceId: paymentId }, other)).data).toEqual([]);
    const ids = new Set((await list()).data.map(({ id }) => id));
    expect(foreign.some(({ id }) => ids.has(id))).toBe(false);
  });

  test('scans many rows in steps of limited size, which together find every match', async () => {
    const busy = await tenant(server);
    const rows = rowsScannedMax + 5_000;
    await server.database.script(
      `insert into audit (org_id, id, at, actor_kind, actor_id, action, request_id, outcome)
       select '${busy.orgId}', 'aud_00' || lpad(n::text, 24, '0'), now(), 'system', 'load',
         case when n = 2000 then 'rare' else 'x' end, 'req_' || n, 'accepted' from generate_series(1, ${rows}) n`,
      60_000,
    );
    const first = await list({ action: 'rare' }, busy);
    expect(first).toMatchObject({ data: [], hasMore: true });
    const second = await list({ action: 'rare', cursor: first.nextCursor }, busy);
    expect(second).toMatchObject({ data: [{ action: 'rare' }], hasMore: false, nextCursor: null });
  });

  test('verification reports an intact log with its head, and a broken one with a message', async () => {
    await server.sealer.seal();
    const verify = (holder = acme) =>
      readConsole(server, consoleRoutes, 'audit/verification', holder, { now: Date.now() });
    expect(await verify()).toEqual({
      object: 'audit_verification',
      sandbox: true,
      status: 'intact',
      seals: expect.any(Number),
      sealedRows: (await list()).data.length,
      unsealedRows: 0,
      head: expect.stringMatching(/^[0-9a-f]{64}$/),
      isWhole: true,
      problems: [],
      checkedAt: expect.stringMatching(/Z$/),
    });
    await server.database.script(`alter table audit disable trigger audit_append_only;
      update audit set ip = '192.0.2.1' where resource_id = '${paymentId}';
      alter table audit enable trigger audit_append_only`);
    expect(await verify()).toMatchObject({
      status: 'broken',
      problems: [
        { seal: expect.any(Number), message: expect.stringContaining('was changed after it was sealed') },
      ],
    });
    expect(await verify(other)).toMatchObject({ status: 'intact' });
  });
});
