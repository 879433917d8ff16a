import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verify } from '../../src/admin/verify.ts';
import type { Server } from '../../src/server.ts';
import { ApiClient, type Body, seenCodes } from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { databaseKinds, openServer } from '../support/server.ts';
import { createApplication, createTeam, newPerson, ok, type Person, type Team } from '../support/visitor.ts';

interface Restored extends Body {
  readonly organization: { readonly id: string; readonly name: string };
  readonly apiKeys: readonly { readonly id: string; readonly key?: string }[];
  readonly webhooks: readonly { readonly id: string; readonly secret?: string }[];
}

const payments = 'developer_api_payments';
const scopes = ['payments:read', 'payments:write'];

/** Restoring a snapshot in the console. The tests verify the whole database, so they have their own server. */
describe.each(databaseKinds)('restoring a snapshot on %s', (kind) => {
  let server: Server;
  let acme: Team;
  let name: string;
  let at: string;
  let apiKey: { readonly id: string; readonly key: string };
  let snapshot: string;

  const headersOf = (person: Person) => ({
    ...person.headers,
    cookie: [...person.cookies].map(([one, value]) => `${one}=${value}`).join('; '),
  });
  const restore = async (
    person: Person,
    query: Readonly<Record<string, string>>,
    payload = snapshot,
    type = 'application/jsonl',
  ) => {
    const response = await server.app.inject({
      ...{ method: 'POST', url: `/console/api/${acme.orgId}/snapshot`, query, payload },
      headers: { ...headersOf(person), 'content-type': type },
    });
    const body = response.json() as Restored & { error?: { code: never } };
    if (body.error) seenCodes.add(body.error.code);
    return { status: response.statusCode, body, code: body.error?.code ?? null, text: response.body };
  };
  const idsOf = async (path = at) =>
    ok(await acme.owner.get(`${path}/${payments}`))
      .data.map(({ id }) => id)
      .sort();
  const expectSound = async () => {
    const { checks } = await verify(server.database);
    expect(checks.flatMap(({ differences }) => differences)).toEqual([]);
  };

  beforeAll(async () => {
    server = await openServer(kind);
    acme = await createTeam(server);
    at = `${acme.orgId}/${acme.appId}`;
    name = String(ok(await acme.owner.get(`${acme.orgId}/organization`)).name);
    apiKey = ok(await acme.owner.post(`${at}/api_keys`, { name: 'ci', scopes })) as never;
    const headers = { authorization: 'Bearer of-the-receiver' };
    ok(await acme.owner.post(`${at}/developer_api_webhooks`, { url: 'http://127.0.0.1:9/', headers }));
    const { id } = ok(await acme.owner.post(`${at}/${payments}`, { amount: 100, currency: 'EUR' }));
    ok(await acme.owner.post(`${at}/${payments}/${id}/advance`, { to: 'captured' }));
    const response = await server.app.inject({
      ...{ url: `/console/api/${acme.orgId}/snapshot`, headers: headersOf(acme.owner) },
    });
    snapshot = response.body;
  });
  afterAll(() => server?.close());

  test('as a new organization: the same payments, new keys, and the person is its only member', async () => {
    const { status, body, text } = await restore(acme.admin, { into: 'new', name: 'Restored' });
    expect(status, text).toBe(201);
    expect(body).toMatchObject({ object: 'import', organization: { name: 'Restored' } });
    const { id } = body.organization;
    expect(id).not.toBe(acme.orgId);
    const members = ok(await acme.admin.get(`${id}/members`)).data;
    expect(members.map(({ personId, role }) => [personId, role])).toEqual([[acme.admin.personId, 'owner']]);
    const client = new ApiClient(server.app, body.apiKeys[0]?.key ?? '');
    expect(ok(await client.get(payments)).data.map((one) => one.id)).toEqual(await idsOf());
    expect((await acme.owner.get(`${id}/organization`)).code).toBe('resource_not_found');
    const trail = ok(await acme.admin.get(`${id}/audit`)).data as readonly Body[];
    expect(trail.map(({ action }) => action)).toContain('organizations.import');
    await expectSound();
  });

  test('a copy shows when it was created', async () => {
    const { createdAt: original } = ok(await acme.admin.get(`${acme.orgId}/organization`));
    const fork = ok(await acme.admin.post(`${acme.orgId}/fork`, { name: 'Copy' })) as Restored;
    const { body: restored } = await restore(acme.admin, { into: 'new', name: 'Restored later' });
    for (const { organization } of [fork, restored]) {
      const { createdAt } = ok(await acme.admin.get(`${organization.id}/organization`));
      expect(Date.parse(String(createdAt))).toBeGreaterThan(Date.parse(String(original)));
    }
  });

  test('into the same organization: later records and webhooks are gone, members, applications and keys stay', async () => {
    const before = await idsOf();
    const webhooks = await server.database.query(
      { name: '', text: 'select id, secrets, headers from webhooks where org_id = $1' },
      [acme.orgId],
    );
    ok(await acme.owner.post(`${at}/${payments}`, { amount: 5, currency: 'EUR' }));
    ok(await acme.owner.post(`${at}/${payments}/${before[0]}/advance`, { action: 'refund' }));
    const later = await createApplication(acme.owner, acme.orgId, 'later');
    const other = ok(await acme.owner.post(`${acme.orgId}/${later}/api_keys`, { name: 'later', scopes }));
    ok(await acme.owner.post(`${at}/developer_api_webhooks`, { url: 'http://127.0.0.1:9/later' }));
    const revoked = ok(await acme.owner.post(`${at}/api_keys`, { name: 'new', scopes }));
    ok(await acme.owner.post(`${at}/api_keys/${apiKey.id}/revoke`));

    const { status, body, text } = await restore(acme.owner, { into: 'current', name });
    expect(status, text).toBe(201);
    expect(body.organization).toEqual({ id: acme.orgId, name });
    expect(text, 'no secret was created').not.toMatch(/whsec_|sbk_sandbox_/);
    expect(await idsOf()).toEqual(before);
    expect(ok(await acme.owner.get(`${at}/${payments}/${before[0]}`)).status).toBe('captured');
    const apps = ok(await acme.owner.get(`${acme.orgId}/applications`)).data;
    expect(apps.map(({ id }) => id).sort(), 'the audit trail refers to the later one').toEqual(
      [acme.appId, later].sort(),
    );
    expect(ok(await acme.viewer.get(`${acme.orgId}/members`)).data).toHaveLength(4);
    const codeOf = async (key: unknown) =>
      (await new ApiClient(server.app, String(key)).get('developer_api_status')).code;
    expect(await codeOf(other.key)).toBeNull();
    expect(await codeOf(apiKey.key), 'a revoked key stays revoked').toBe('api_key_revoked');
    expect(await codeOf(revoked.key), 'a key that is newer than the snapshot').toBeNull();
    expect(
      await server.database.query(
        { name: '', text: 'select id, secrets, headers from webhooks where org_id = $1' },
        [acme.orgId],
      ),
    ).toEqual(webhooks);
    const trail = ok(await acme.owner.get(`${acme.orgId}/audit`)).data as readonly Body[];
    expect(trail.find(({ action }) => action === 'organizations.restore')).toMatchObject({
      outcome: 'accepted',
    });
    // Writes continue where the snapshot ended.
    ok(await new ApiClient(server.app, String(revoked.key)).post(payments, { amount: 7, currency: 'EUR' }));
    ok(await acme.owner.post(`${at}/${payments}/${before[0]}/advance`, { action: 'refund' }));
    await expectSound();
  });

  test('clocks continue their versions, so that no node mistakes an earlier clock for the present one', async () => {
    const clock = 'developer_api_clock';
    const clocksOf = () =>
      server.database.query<{ app_id: string; version: number; offset_ms: string }>(
        { name: '', text: 'select app_id, version, offset_ms from clocks where org_id = $1' },
        [acme.orgId],
      );
    // The snapshot has no clock.
    ok(await acme.owner.post(`${at}/${clock}/advance`, { seconds: 86_400 }));
    const [moved] = await clocksOf();
    expect((await restore(acme.owner, { into: 'current', name })).status).toBe(201);
    const [restored] = await clocksOf();
    expect(Number(restored?.offset_ms)).toBe(0);
    expect(restored?.version).toBeGreaterThan(moved?.version ?? 0);
    expect(ok(await acme.owner.get(`${at}/${clock}`))).toMatchObject({ status: 'running', offsetSeconds: 0 });
    const { createdAt } = ok(await acme.owner.post(`${at}/${payments}`, { amount: 9, currency: 'EUR' }));
    expect(Math.abs(Date.parse(String(createdAt)) - Date.now())).toBeLessThan(3_600_000);
    await expectSound();

    // The next snapshot has one.
    ok(await acme.owner.post(`${at}/${clock}/advance`, { seconds: 2 * 86_400 }));
    const { body: later } = await server.app.inject({
      ...{ url: `/console/api/${acme.orgId}/snapshot`, headers: headersOf(acme.owner) },
    });
    for (const seconds of [3_600, 7_200]) ok(await acme.owner.post(`${at}/${clock}/advance`, { seconds }));
    const [ahead] = await clocksOf();
    expect((await restore(acme.owner, { into: 'current', name }, later)).status).toBe(201);
    const [back] = await clocksOf();
    expect(back?.version).toBeGreaterThan(ahead?.version ?? 0);
    // An advance takes a moment itself.
    const { offsetSeconds } = ok(await acme.owner.get(`${at}/${clock}`));
    expect(Math.abs(Number(offsetSeconds) - 2 * 86_400)).toBeLessThan(1_800);
    ok(await acme.owner.post(`${at}/${clock}/advance`, { seconds: 60 }));
    await expectSound();
    expect((await restore(acme.owner, { into: 'current', name })).status).toBe(201);
  });

  test('an application that was archived since stays archived, with its keys', async () => {
    ok(await acme.owner.post(`${acme.orgId}/applications/${acme.appId}/archive`));
    expect((await restore(acme.owner, { into: 'current', name })).status).toBe(201);
    const [application] = ok(await acme.owner.get(`${acme.orgId}/applications`)).data.filter(
      ({ id }) => id === acme.appId,
    );
    expect(application?.status).toBe('archived');
    await expectSound();
    ok(await acme.owner.post(`${acme.orgId}/applications/${acme.appId}/restore`));
    await expectSound();
  });

  test('a right that ends during the upload ends the restore', async () => {
    const before = await idsOf();
    const [halfway, rest] = [snapshot.slice(0, 500), snapshot.slice(500)];
    const address = await server.listen();
    const owner = await newPerson(server, 'Olga');
    const invitation = ok(await acme.owner.post(`${acme.orgId}/invitations`, { role: 'owner' }));
    const token = String(invitation.url).split('/').at(-1);
    ok(await owner.post(`session/invitations/${token}/accept`));
    const upload = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode(halfway));
        const members = ok(await acme.owner.get(`${acme.orgId}/members`)).data;
        const member = members.find(({ personId }) => personId === owner.personId);
        ok(await acme.owner.post(`${acme.orgId}/members/${member?.id}/remove`));
        controller.enqueue(new TextEncoder().encode(rest));
        controller.close();
      },
    });
    const query = new URLSearchParams({ into: 'current', name });
    const response = await fetch(`${address}/console/api/${acme.orgId}/snapshot?${query}`, {
      ...{ method: 'POST', body: upload, duplex: 'half' },
      headers: { ...headersOf(owner), 'content-type': 'application/jsonl' },
    } as RequestInit);
    expect(response.status, await response.clone().text()).toBe(404);
    expect(await idsOf()).toEqual(before);
  });

  test('a webhook that was deleted since returns with a new secret', async () => {
    const [webhook] = ok(await acme.owner.get(`${at}/developer_api_webhooks`)).data;
    ok(await acme.owner.post(`${at}/developer_api_webhooks/${webhook?.id}/delete`));
    const { body } = await restore(acme.owner, { into: 'current', name });
    expect(body.webhooks).toMatchObject([{ id: webhook?.id, secret: expect.stringMatching(/^whsec_/) }]);
    expect(ok(await acme.owner.get(`${at}/developer_api_webhooks/${webhook?.id}`))).toMatchObject({
      ...{ status: 'enabled', headerNames: [] },
    });
    await expectSound();
  });

  test('a file that this server did not sign is not restored', async () => {
    const withSum = (text: string, signature?: string) => {
      const lines = text.trimEnd().split('\n');
      const { counts } = JSON.parse(lines.pop() ?? '') as { counts: object };
      const content = `${lines.join('\n')}\n`;
      const sha256 = createHash('sha256').update(content).digest('hex');
      return `${content}${JSON.stringify({ counts, sha256, signature })}\n`;
    };
    const signature = /"signature":"([0-9a-f]{64})"/.exec(snapshot)?.[1];
    const changed = snapshot.replaceAll('http://127.0.0.1:9/', 'http://127.0.0.1:8/');
    expect(changed).not.toBe(snapshot);
    const before = await idsOf();
    for (const target of [
      { into: 'current', name },
      { into: 'new', name: 'Forged' },
    ])
      for (const file of [
        withSum(snapshot),
        withSum(changed),
        withSum(changed, signature),
        withSum(changed, '0'.repeat(64)),
        // The first version of the format has no end line.
        snapshot.replace('"version":2', '"version":1').replace(/[^\n]*\n$/, ''),
      ]) {
        const { code, text } = await restore(acme.owner, target, file);
        expect(['snapshot_invalid', 'snapshot_incomplete'], text).toContain(code);
      }
    expect(
      (await restore(acme.owner, { into: 'current', name }, withSum(snapshot, signature))).code,
    ).toBeNull();
    expect(await idsOf()).toEqual(before);
  });

  test('nothing changes with a wrong name, role or file, and the refusal is audited', async () => {
    const before = await idsOf();
    const current = { into: 'current', name };
    expect((await restore(acme.owner, { into: 'current', name: 'Another' })).code).toBe(
      'organization_name_mismatch',
    );
    expect((await restore(acme.admin, current)).code, 'only owners replace').toBe('role_missing');
    expect((await restore(acme.developer, { into: 'new', name: 'X' })).code).toBe('role_missing');
    expect(ok(await acme.owner.get(`${acme.orgId}/audit`)).data[0]).toMatchObject({
      ...{ action: 'organizations.restore', outcome: 'refused', code: 'role_missing' },
    });
    const stranger = await newPerson(server, 'Mallory');
    expect((await restore(stranger, current)).code).toBe('resource_not_found');
    expect((await restore(acme.owner, { into: 'elsewhere', name })).code).toBe('invalid_request');
    expect((await restore(acme.owner, { into: 'new' })).code).toBe('invalid_request');
    expect((await restore(acme.owner, current, '{}', 'application/json')).code).toBe(
      'unsupported_media_type',
    );
    expect((await restore(acme.owner, current, '')).code).toBe('snapshot_invalid');
    expect((await restore(acme.owner, current, snapshot.slice(0, -200))).code).toBe('snapshot_incomplete');
    expect((await restore(acme.owner, current, snapshot.replace(/"amount":100/, '"amount":101'))).code).toBe(
      'snapshot_invalid',
    );
    const other = await createTeam(server);
    const response = await server.app.inject({
      ...{ url: `/console/api/${other.orgId}/snapshot`, headers: headersOf(other.owner) },
    });
    const foreign = await restore(acme.owner, current, response.body);
    expect(foreign.code, foreign.text).toBe('snapshot_invalid');
    expect(foreign.text).toContain('another organization');
    expect(await idsOf()).toEqual(before);
    const trail = ok(await acme.owner.get(`${acme.orgId}/audit`)).data as readonly Body[];
    expect(trail[0]).toMatchObject({
      action: 'organizations.restore',
      outcome: 'refused',
      code: 'snapshot_invalid',
    });
    await expectSound();
  });
});

test('provokes exactly the expected error codes', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.consoleRestore);
});
