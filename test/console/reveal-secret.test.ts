import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import { databaseKinds, openServer, queryRows } from '../support/server.ts';
import {
  createApplication,
  createOrganization,
  goodPassword,
  join,
  newPerson,
  ok,
  type Person,
} from '../support/visitor.ts';

describe.each(databaseKinds)('revealing the secret of a webhook on %s', (kind) => {
  let server: Server;
  let owner: Person;
  let [orgId, base, webhookId, secret] = ['', '', '', ''];

  beforeAll(async () => {
    server = await openServer(kind);
    owner = await newPerson(server);
    orgId = await createOrganization(owner);
    base = `${orgId}/${await createApplication(owner, orgId)}/developer_api_webhooks`;
    const created = ok(await owner.post(base, { url: 'http://127.0.0.1:1/' }));
    webhookId = created.id;
    secret = String(created.secret);
  });
  afterAll(() => server?.close());

  const reveal = (person: Person, password: unknown = goodPassword, id = webhookId) =>
    person.post(`${base}/${id}/reveal_secret`, { password });
  const audited = () =>
    queryRows<{ outcome: string; code: string | null }>(
      server,
      `select outcome, code from audit where org_id = $1 and action = 'webhooks.reveal_secret' order by id`,
      [orgId],
    );

  test('shows it to an owner who confirms the password, every time, and audits it', async () => {
    const before = (await audited()).length;
    const shown = ok(await reveal(owner));
    expect(shown).toMatchObject({ object: 'webhook_secret', webhookId, secret });
    expect((await reveal(owner, 'a wrong horse battery')).code).toBe('password_wrong');
    expect((await reveal(owner, '')).code).toBe('invalid_request');
    const rotated = ok(await owner.post(`${base}/${webhookId}/rotate_secret`));
    secret = String(rotated.secret);
    expect(ok(await reveal(owner)).secret).toBe(secret);
    const entries = (await audited()).slice(before);
    expect(entries.map(({ outcome }) => outcome)).toEqual(['accepted', 'refused', 'accepted']);
  });

  test('stores neither the password nor the secret', async () => {
    ok(await reveal(owner));
    await server.requestLog.flush();
    for (const table of ['requests', 'audit', 'idempotency'])
      for (const text of [goodPassword, secret]) {
        const sql = `select 1 from ${table} t where t::text like '%' || $1 || '%' limit 1`;
        expect(await queryRows(server, sql, [text]), table).toEqual([]);
      }
  });

  test('refuses an unknown and a deleted endpoint', async () => {
    expect((await reveal(owner, goodPassword, 'whk_01m7epxwjmf7za77rhky2f93cc')).code).toBe(
      'resource_not_found',
    );
    const { id } = ok(await owner.post(base, { url: 'http://127.0.0.1:1/' }));
    ok(await owner.post(`${base}/${id}/delete`));
    expect((await reveal(owner, goodPassword, id)).code).toBe('resource_not_found');
  });

  test('refuses people without the role owner, and people of other organizations', async () => {
    const stranger = await newPerson(server, 'Grace');
    expect((await reveal(stranger)).code).toBe('resource_not_found');
    const admin = await newPerson(server, 'Linus');
    await join(admin, owner, orgId, 'admin');
    expect((await reveal(admin)).code).toBe('role_missing');
    const [row] = ok(await owner.get(`${orgId}/audit`)).data;
    expect(row).toMatchObject({ action: 'webhooks.reveal_secret', outcome: 'refused', code: 'role_missing' });
  });

  test('limits wrong passwords like sign-ins', async () => {
    const codes: (string | undefined)[] = [];
    for (let i = 0; i < 11; i += 1) codes.push((await reveal(owner, `a wrong horse ${i}`)).code ?? undefined);
    expect(codes.at(-1)).toBe('rate_limited');
    expect((await reveal(owner)).code).toBe('rate_limited');
  });
});
