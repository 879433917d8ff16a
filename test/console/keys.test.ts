import { createHash, randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, test } from 'vitest';
import { limits } from '../../src/kernel/limits.ts';
import { scopes } from '../../src/kernel/permissions.ts';
import type { Server } from '../../src/server.ts';
import { type Answer, ApiClient, type Body, seenCodes } from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { databaseKinds, openApp, sharedServer } from '../support/server.ts';
import {
  auditOf,
  createApplication,
  createOrganization,
  historyOf,
  join,
  newPerson,
  ok,
  type Person,
  type Visitor,
} from '../support/visitor.ts';

const status = 'developer_api_status';
const payments = 'developer_api_payments';
const customers = 'developer_api_customers';
const transfers = 'developer_api_transfers';
const webhooks = 'developer_api_webhooks';
const nowhere = 'http://127.0.0.1:9/';
/** How long a node caches a key. */
const keyCacheMs = 1_000;

describe.each(databaseKinds)('keys and applications on %s', (kind) => {
  let server: Server;
  /** A second app over the same server, with a clock that the tests set. */
  let app: FastifyInstance;
  let wallNow = Date.now();
  let olga: Person;
  let dora: Person;
  let owner: Visitor;
  let orgId: string;
  let appId: string;
  let appPath: string;

  beforeAll(async () => {
    server = await sharedServer(kind);
    app = openApp(server, { wallClock: () => wallNow });
    [olga, dora] = await Promise.all([newPerson({ app }, 'Olga'), newPerson({ app }, 'Dora')]);
    owner = olga.at(app);
    orgId = await createOrganization(owner);
    appId = await createApplication(owner, orgId);
    appPath = `${orgId}/${appId}`;
  });

  const client = (key: unknown) => new ApiClient(app, String(key));
  const create = (body: object = {}, by: Visitor = owner, at = appPath) =>
    by.post(`${at}/api_keys`, { name: 'ci', scopes: [...scopes], ...body });
  const createKey = async (body: object = {}, at = appPath) => ok(await create(body, owner, at));
  const on = (id: string, action: string, body: object = {}, by: Visitor = owner) =>
    by.post(`${appPath}/api_keys/${id}/${action}`, body);
  /** Moves the clock past the time for which nodes cache a key. */
  const passKeyCache = () => {
    wallNow += keyCacheMs;
  };
  const inTime = (ms: number) => new Date(wallNow + ms).toISOString();
  const codeOf = async (key: unknown, path = status) => (await client(key).get(path)).code;

  describe('a new key', () => {
    test('is shown once, works, and is stored as a hash with its last four characters', async () => {
      const answer = await create({ name: 'web shop', scopes: ['payments:read', 'payments:write'] });
      expect(answer.status, answer.text).toBe(201);
      const key = String(answer.body.key);
      expect(key).toMatch(/^sbk_sandbox_[0-9A-Za-z]{32}$/);
      expect(answer.body).toMatchObject({
        ...{ object: 'api_key', status: 'active', applicationId: appId, name: 'web shop' },
        ...{ lastFour: key.slice(-4), scopes: ['payments:read', 'payments:write'], allowedCidrs: [] },
        ...{ expiresAt: null, replaces: null },
      });
      const shown = await client(key).get(status);
      expect(shown.status, shown.text).toBe(200);
      const [row] = await server.database.query<{ hash: Uint8Array }>(
        { name: '', text: 'select hash from api_keys where id = $1' },
        [answer.body.id],
      );
      expect(Buffer.from(row?.hash ?? [])).toEqual(createHash('sha256').update(key).digest());
      const [audit] = await auditOf(server, answer);
      expect(audit).toMatchObject({
        ...{ action: 'api_keys.create', resource: 'api_key', resourceId: answer.body.id },
        ...{ actorKind: 'person', actorId: olga.personId, appId },
      });
    });

    test('is returned again to a retry with the same Idempotency-Key, from a response that is stored encrypted', async () => {
      const idempotencyKey = randomUUID();
      const headers = { 'idempotency-key': idempotencyKey };
      const keyBody = { name: 'retried', scopes: ['payments:read'] };
      const send = (body: object = keyBody) => owner.post(`${appPath}/api_keys`, body, headers);
      const first = await send();
      const [stored] = await server.database.query<{ body: string; sealed: string }>(
        {
          name: '',
          text: `select i.body, s.sealed_body as sealed from idempotency i join idempotency_secrets s using (org_id, app_id, key)
            where i.org_id = $1 and i.app_id = $2 and i.key = $3`,
        },
        [orgId, appId, idempotencyKey],
      );
      expect(stored?.body).toContain(first.body.id);
      expect(stored?.body).not.toContain(String(first.body.key));
      expect(stored?.sealed).toMatch(/^sealed\.v1\.[\w-]{400,}$/);
      const again = await send();
      expect(again.text).toBe(first.text);
      expect(again.headers['idempotent-replayed']).toBe('true');
      const [one, two] = await Promise.all([send(), send()]);
      expect([one?.text, two?.text]).toEqual([first.text, first.text]);
      expect((await send({ ...keyBody, name: 'other' })).code).toBe('idempotency_key_reused');
      const text = `select id from api_keys where org_id = $1 and name = 'retried'`;
      expect(await server.database.query({ name: '', text }, [orgId])).toHaveLength(1);
    });

    test.each(scopes.map((scope) => [scope]))(
      'with only the scope %s can do what it allows and nothing else',
      async (scope) => {
        const { key } = await createKey({ scopes: [scope] });
        const [resource, right] = scope.split(':');
        const reads = { payments, customers, transfers, webhooks } as const;
        for (const [name, path] of Object.entries(reads)) {
          const read = await client(key).get(path);
          const isAllowed = name === resource && right === 'read';
          expect(read.code, `GET ${path}`).toBe(isAllowed ? null : 'scope_missing');
          const write = await client(key).post(path, {});
          const code = name === resource && right === 'write' ? 'invalid_request' : 'scope_missing';
          expect(write.code, `POST ${path}`).toBe(code);
        }
        const shown = await client(key).get(status);
        expect(shown.body).toMatchObject({ apiKey: { scopes: [scope] } });
      },
    );

    test.each([
      ['/name', { name: '' }],
      ['/name', { name: undefined }],
      ['/scopes', { scopes: [] }],
      ['/scopes/0', { scopes: ['everything'] }],
      ['/scopes', { scopes: ['payments:read', 'payments:read'] }],
      ['/scopes', { scopes: undefined }],
      ['/allowedCidrs/0', { allowedCidrs: ['10.0.0.0/33'] }],
      ['/allowedCidrs/1', { allowedCidrs: ['10.0.0.0/8', 'example.test'] }],
      ['/allowedCidrs/0', { allowedCidrs: ['2001:db8::/129'] }],
      ['/allowedCidrs/0', { allowedCidrs: ['10.0.0/8'] }],
      ['/allowedCidrs/0', { allowedCidrs: ['10.0.0.0/8/8'] }],
      ['/allowedCidrs/0', { allowedCidrs: ['10.0.0.0/'] }],
      ['/allowedCidrs/0', { allowedCidrs: [''] }],
      ['/allowedCidrs', { allowedCidrs: Array.from({ length: 51 }, (_, i) => `10.0.0.${i}`) }],
      ['/expiresAt', { expiresAt: '2020-01-01T00:00:00Z' }],
      ['/expiresAt', { expiresAt: 'tomorrow' }],
      ['/key', { key: `sbk_sandbox_${'0'.repeat(32)}` }],
    ])('is rejected with an invalid %s: %j', async (param, wrong) => {
      for (const answer of [
        await create(wrong),
        ...('name' in wrong || Object.values(wrong).includes(undefined)
          ? []
          : [await on((await createKey()).id, 'update', wrong)]),
      ]) {
        expect(answer.code, answer.text).toBe('invalid_request');
        expect(answer.body.error.param).toBe(param);
        expect(answer.text).not.toContain('sbk_sandbox_');
        const rows = await auditOf(server, answer);
        expect(rows.map(({ outcome, code }) => [outcome, code])).toEqual([['refused', 'invalid_request']]);
      }
    });

    test('works only from its allowed networks', async () => {
      const { key } = await createKey({ allowedCidrs: ['192.0.2.0/24', '2001:db8::/32', '198.51.100.7'] });
      const from = (remoteAddress: string) => client(key).get(status, '', { remoteAddress });
      for (const address of ['192.0.2.9', '2001:db8::1', '198.51.100.7', '::ffff:192.0.2.1'])
        expect((await from(address)).status, address).toBe(200);
      for (const address of ['192.0.3.1', '2001:db9::1', '198.51.100.8', '::ffff:192.0.3.1'])
        expect((await from(address)).code, address).toBe('ip_not_allowed');
    });

    test('stops working when it expires by the wall clock', async () => {
      const { key } = await createKey({ expiresAt: inTime(60_000) });
      expect(await codeOf(key)).toBeNull();
      wallNow += 59_999;
      expect(await codeOf(key)).toBeNull();
      wallNow += 1;
      expect(await codeOf(key)).toBe('api_key_expired');
    });
  });

  describe('an update', () => {
    test('of name, scopes, networks and expiry takes effect within a second and leaves the other fields', async () => {
      const { id, key } = await createKey({ scopes: ['payments:read'] });
      expect(await codeOf(key, customers)).toBe('scope_missing');
      const changed = await on(id, 'update', { scopes: ['customers:read'] });
      expect(changed.body).toMatchObject({ id, name: 'ci', scopes: ['customers:read'] });
      expect(changed.text).not.toContain('sbk_sandbox_');
      passKeyCache();
      expect(await codeOf(key, customers)).toBeNull();
      expect(await codeOf(key, payments)).toBe('scope_missing');
      ok(await on(id, 'update', { allowedCidrs: ['192.0.2.0/24'], name: 'new' }));
      passKeyCache();
      expect(await codeOf(key, customers)).toBe('ip_not_allowed');
      ok(await on(id, 'update', { allowedCidrs: [], expiresAt: inTime(60_000) }));
      passKeyCache();
      expect(await codeOf(key, customers)).toBeNull();
      wallNow += 60_000;
      expect(await codeOf(key, customers)).toBe('api_key_expired');
      const lengthened = await on(id, 'update', { expiresAt: null });
      expect(lengthened.body).toMatchObject({ name: 'new', expiresAt: null });
      passKeyCache();
      expect(await codeOf(key, customers)).toBeNull();
      const actions = (await historyOf(server, orgId, id)).map(({ action }) => action);
      expect(actions).toEqual(['create', 'update', 'update', 'update', 'update']);
    });

    test('without fields is rejected, and with the current values changes nothing', async () => {
      const { id } = await createKey();
      expect((await on(id, 'update', {})).code).toBe('invalid_request');
      ok(await on(id, 'update', { name: 'ci' }));
      expect(await historyOf(server, orgId, id)).toHaveLength(1);
    });
  });

  describe('a rotation', () => {
    test('lets both keys work for the overlap, then only the new one', async () => {
      const before = await createKey({ scopes: ['payments:read'], allowedCidrs: ['127.0.0.0/8'] });
      const rotated = await on(before.id, 'rotate', { overlapSeconds: 3_600 });
      expect(rotated.status, rotated.text).toBe(201);
      const after = rotated.body;
      expect(after).toMatchObject({
        ...{ object: 'api_key', status: 'active', replaces: before.id, name: 'ci' },
        ...{ scopes: ['payments:read'], allowedCidrs: ['127.0.0.0/8'], expiresAt: null },
      });
      expect(after.id).not.toBe(before.id);
      expect(after.key).not.toBe(before.key);
      expect(await codeOf(before.key)).toBeNull();
      expect(await codeOf(after.key)).toBeNull();
      wallNow += 3_600_000 - 1;
      expect(await codeOf(before.key)).toBeNull();
      wallNow += 1;
      expect(await codeOf(before.key)).toBe('api_key_expired');
      expect(await codeOf(after.key)).toBeNull();
      expect(await codeOf(after.key, customers)).toBe('scope_missing');
      const actions = (await historyOf(server, orgId, before.id)).map(({ action }) => action);
      expect(actions).toEqual(['create', 'rotate']);
      const rows = await auditOf(server, rotated);
      expect(rows.map(({ action, resourceId }) => [action, resourceId])).toEqual([
        ['api_keys.rotate', after.id],
      ]);
    });

    test('without an overlap ends the old key within a second', async () => {
      const before = await createKey();
      expect(await codeOf(before.key)).toBeNull();
      const after = ok(await on(before.id, 'rotate', { overlapSeconds: 0 }));
      passKeyCache();
      expect(await codeOf(before.key)).toBe('api_key_expired');
      expect(await codeOf(after.key)).toBeNull();
    });

    test('overlaps for a day by default, and never extends the life of a key', async () => {
      const long = await createKey();
      ok(await on(long.id, 'rotate'));
      const short = await createKey({ expiresAt: inTime(5_000) });
      const next = ok(await on(short.id, 'rotate', { overlapSeconds: 60 }));
      expect(next.expiresAt).toBe(short.expiresAt);
      wallNow += 5_000;
      expect(await codeOf(short.key)).toBe('api_key_expired');
      wallNow += 86_400_000 - 5_001;
      expect(await codeOf(long.key)).toBeNull();
      wallNow += 1;
      expect(await codeOf(long.key)).toBe('api_key_expired');
    });

    test.each([-1, 1.5, limits.apiKeyOverlapSecondsMax + 1, '60'])(
      'rejects an overlap of %j',
      async (overlapSeconds) => {
        const { id } = await createKey();
        const answer = await on(id, 'rotate', { overlapSeconds });
        expect(answer.code).toBe('invalid_request');
        expect(answer.body.error.param).toBe('/overlapSeconds');
      },
    );

    test('rejects a revoked or expired key', async () => {
      const revoked = await createKey();
      ok(await on(revoked.id, 'revoke'));
      expect((await on(revoked.id, 'rotate')).code).toBe('invalid_state_transition');
      const expired = await createKey({ expiresAt: inTime(1_000) });
      wallNow += 1_000;
      const answer = await on(expired.id, 'rotate');
      expect(answer.code).toBe('invalid_request');
      expect(answer.body.error.param).toBe('/expiresAt');
    });

    test('rejects a key that was already rotated: it ends with the overlap', async () => {
      const before = await createKey();
      ok(await on(before.id, 'rotate', { overlapSeconds: 60 }));
      const again = await on(before.id, 'rotate', { overlapSeconds: 60 });
      expect(again.code).toBe('invalid_state_transition');
      expect(again.body.error.message).toBe(
        'Cannot rotate an active API key (only when it was not rotated before); allowed actions: update, revoke.',
      );
    });

    test('of one key by two concurrent requests creates one working key and ends the old one', async () => {
      const before = await createKey();
      const answers = await Promise.all([
        on(before.id, 'rotate', { overlapSeconds: 0 }),
        on(before.id, 'rotate', { overlapSeconds: 0 }),
      ]);
      passKeyCache();
      const [rotated, ...more] = answers.filter(({ code }) => code === null);
      expect(more).toEqual([]);
      expect(await codeOf(rotated?.body.key)).toBeNull();
      expect(await codeOf(before.key)).toBe('api_key_expired');
    });
  });

  describe('a revocation', () => {
    test('ends the key within a second and permanently', async () => {
      const { id, key } = await createKey();
      expect(await codeOf(key)).toBeNull();
      const revoked = await on(id, 'revoke');
      expect(revoked.body).toMatchObject({ id, status: 'revoked' });
      passKeyCache();
      expect(await codeOf(key)).toBe('api_key_revoked');
      for (const action of ['revoke', 'rotate', 'update']) {
        const body = action === 'update' ? { name: 'back' } : {};
        expect((await on(id, action, body)).code, action).toBe('invalid_state_transition');
      }
      passKeyCache();
      expect(await codeOf(key)).toBe('api_key_revoked');
    });
  });

  test('a key of another application or organization is not found and stays unchanged', async () => {
    const other = await createApplication(owner, orgId, 'other');
    const foreign = await createOrganization(dora, 'Foreign');
    const foreignApp = await createApplication(dora, foreign);
    const near = await createKey({}, `${orgId}/${other}`);
    const far = ok(await create({}, dora, `${foreign}/${foreignApp}`));
    for (const { id, key } of [near, far]) {
      for (const action of ['update', 'rotate', 'revoke']) {
        const body = action === 'update' ? { name: 'mine' } : {};
        expect((await on(id, action, body)).code, action).toBe('resource_not_found');
      }
      expect(await codeOf(key)).toBeNull();
    }
    for (const id of ['key_x', appId, 'x'.repeat(200)])
      expect((await on(id, 'revoke')).code).toBe('resource_not_found');
  });

  test('an application has at most a hundred active keys; revoked and expired ones do not count', async () => {
    const fullApp = `${orgId}/${await createApplication(owner, orgId, 'full')}`;
    const keys = await Promise.all(
      Array.from({ length: limits.apiKeysPerApplicationMax - 1 }, () => createKey({}, fullApp)),
    );
    await createKey({ expiresAt: inTime(1_000) }, fullApp);
    const over = await create({}, owner, fullApp);
    expect(over.code).toBe('limit_reached');
    expect((await owner.post(`${fullApp}/api_keys/${keys[0]?.id}/rotate`)).code).toBe('limit_reached');
    wallNow += 1_000;
    await createKey({}, fullApp);
    expect((await create({}, owner, fullApp)).code).toBe('limit_reached');
    ok(await owner.post(`${fullApp}/api_keys/${keys[0]?.id}/revoke`));
    await createKey({}, fullApp);
  });

  test('concurrent requests do not exceed the limit either', async () => {
    const fullApp = `${orgId}/${await createApplication(owner, orgId, 'at once')}`;
    await Promise.all(Array.from({ length: 95 }, () => createKey({}, fullApp)));
    const answers = await Promise.all(Array.from({ length: 20 }, () => create({}, owner, fullApp)));
    expect(answers.filter(({ status: code }) => code === 201)).toHaveLength(5);
  });

  describe('the list', () => {
    test('shows all keys of the application, newest first, including revoked and expired ones, without secrets', async () => {
      const at = `${orgId}/${await createApplication(owner, orgId, 'listed')}`;
      const plain = await createKey({ name: 'plain' }, at);
      const revoked = await createKey({ name: 'revoked' }, at);
      ok(await owner.post(`${at}/api_keys/${revoked.id}/revoke`));
      const expired = await createKey({ name: 'expired', expiresAt: inTime(500) }, at);
      passKeyCache();
      const answer = await owner.get(`${at}/api_keys`);
      expect(answer.status, answer.text).toBe(200);
      expect(answer.body.data.map(({ name, status: one }) => [name, one])).toEqual([
        ['expired', 'expired'],
        ['revoked', 'revoked'],
        ['plain', 'active'],
      ]);
      const { key: _key, requestId: _requestId, ...shown } = plain;
      expect(answer.body.data[2]).toEqual({ ...shown, lastUsedAt: null, lastUsedIp: null });
      for (const { key } of [plain, revoked, expired]) expect(answer.text).not.toContain(String(key));
      // Without ids, whose random letters can spell anything.
      expect(answer.text.replaceAll(/[a-z]+_[0-9a-z]{26}/g, '')).not.toContain('hash');
    });

    test('shows when and from which address each key was last used', async () => {
      const at = `${orgId}/${await createApplication(owner, orgId, 'used')}`;
      const { key } = await createKey({}, at);
      const since = Date.now();
      const remoteAddress = '192.0.2.44';
      ok(await new ApiClient(server.app, String(key)).get(status, '', { remoteAddress }));
      await server.requestLog.flush();
      const [used] = ok(await owner.get(`${at}/api_keys`)).data;
      expect(used?.lastUsedIp).toBe(remoteAddress);
      const lastUsed = Date.parse(String(used?.lastUsedAt));
      expect(lastUsed).toBeGreaterThanOrEqual(since);
      expect(lastUsed).toBeLessThanOrEqual(Date.now());
    });
  });

  describe('an application', () => {
    const update = (body: object, id = appId) => owner.post(`${orgId}/applications/${id}/update`, body);
    const archive = (id: string) => owner.post(`${orgId}/applications/${id}/archive`);
    const restore = (id: string) => owner.post(`${orgId}/applications/${id}/restore`);

    test('has default settings and is listed', async () => {
      const answer = await owner.post(`${orgId}/applications`, { name: 'fresh' });
      expect(answer.status).toBe(201);
      const { requestId: _id, ...shown } = answer.body;
      expect(shown).toMatchObject({
        ...{ object: 'application', status: 'active', name: 'fresh', provider: null },
        fee: { basisPoints: 290, fixedAmount: 30 },
        fx: { marginBasisPoints: 50, rates: {} },
        webhookDefaults: { eventTypes: ['*'], retryProfile: 'standard', maxConcurrency: 10 },
      });
      const listed = ok(await owner.get(`${orgId}/applications?limit=1`)).data[0];
      expect(listed).toEqual(shown);
      const { requestId: _other, ...read } = ok(await owner.get(`${orgId}/applications/${answer.body.id}`));
      expect(read).toEqual(shown);
    });

    test('when archived, rejects its keys with 401 until it is restored', async () => {
      const id = await createApplication(owner, orgId, 'archived');
      const { key } = await createKey({}, `${orgId}/${id}`);
      expect(await codeOf(key)).toBeNull();
      expect((await archive(id)).body).toMatchObject({ id, status: 'archived' });
      passKeyCache();
      const refused = await client(key).get(status);
      expect(refused).toMatchObject({ status: 401, code: 'api_key_revoked' });
      expect(refused.body.error.message).toContain('archived. Restore it');
      expect((await update({ name: 'new' }, id)).code).toBe('invalid_state_transition');
      expect((await archive(id)).code).toBe('invalid_state_transition');
      expect((await restore(id)).body).toMatchObject({ id, status: 'active' });
      passKeyCache();
      expect(await codeOf(key)).toBeNull();
      expect((await restore(id)).code).toBe('invalid_state_transition');
      const actions = (await historyOf(server, orgId, id)).map(({ action }) => action);
      expect(actions).toEqual(['create', 'archive', 'restore']);
    });

    test('when archived, rejects writes but allows reads', async () => {
      const id = await createApplication(owner, orgId, 'archived');
      const at = `${orgId}/${id}`;
      const { id: keyId } = await createKey({}, at);
      ok(await archive(id));
      for (const [path, body] of [
        [`${at}/api_keys`, { name: 'ci', scopes: ['payments:read'] }],
        [`${at}/api_keys/${keyId}/rotate`, {}],
        [`${at}/${payments}`, { amount: 500, currency: 'EUR' }],
      ] as const) {
        const answer = await owner.post(path, body);
        expect(answer.code, path).toBe('application_archived');
        expect(answer.status).toBe(409);
        expect((await auditOf(server, answer)).map(({ code }) => code)).toEqual(['application_archived']);
      }
      for (const path of ['api_keys', payments]) expect((await owner.get(`${at}/${path}`)).status).toBe(200);
      ok(await restore(id));
      ok(await owner.post(`${at}/${payments}`, { amount: 500, currency: 'EUR' }));
    });

    test('when restored, leaves revoked keys revoked', async () => {
      const id = await createApplication(owner, orgId, 'archived');
      const { id: keyId, key } = await createKey({}, `${orgId}/${id}`);
      ok(await owner.post(`${orgId}/${id}/api_keys/${keyId}/revoke`));
      ok(await archive(id));
      ok(await restore(id));
      passKeyCache();
      expect(await codeOf(key)).toBe('api_key_revoked');
    });

    test('when archived, still allows a leaked key to be revoked', async () => {
      const id = await createApplication(owner, orgId, 'archived');
      const { id: keyId } = await createKey({}, `${orgId}/${id}`);
      ok(await archive(id));
      expect((await owner.post(`${orgId}/${id}/api_keys/${keyId}/revoke`)).status).toBe(200);
    });

    describe('with new settings', () => {
      let id: string;
      let api: ApiClient;
      beforeAll(async () => {
        id = await createApplication(owner, orgId, 'settings');
        api = client((await createKey({}, `${orgId}/${id}`)).key);
        ok(await api.get(status));
      });
      const set = async (body: object): Promise<Body> => {
        const changed = ok(await update(body, id));
        passKeyCache();
        return changed;
      };
      const pay = (body: object = {}) => api.post(payments, { amount: 10_000, currency: 'EUR', ...body });

      test('applies the new fee to later captures', async () => {
        const before = ok(await pay());
        await set({ fee: { basisPoints: 1_000, fixedAmount: 7 } });
        const after = ok(await pay());
        const captured = async (payment: Body) =>
          ok(await api.post(`${payments}/${payment.id}/advance`, { to: 'captured' })).feeAmount;
        expect(await captured(after)).toBe(1_007);
        expect(typeof (await captured(before))).toBe('number');
      });

      test.each(['meridian', 'tidewater'])('routes payments to %s', async (provider) => {
        await set({ provider });
        const { id: paymentId } = ok(await pay());
        ok(await api.post(`${payments}/${paymentId}/advance`, { to: 'captured' }));
        const { data } = ok(await api.get(`${payments}/${paymentId}/provider_events`));
        expect(data.length).toBeGreaterThan(0);
        expect(new Set(data.map((event) => event.provider))).toEqual(new Set([provider]));
      });

      test('converts at its own rates minus its own margin', async () => {
        await set({ fx: { marginBasisPoints: 0, rates: { 'EUR/USD': '2' } } });
        const transferBody = {
          ...{ sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 5_000 },
          beneficiary: { name: 'Grace' },
        };
        const plain = ok(await api.post(transfers, transferBody));
        expect(plain).toMatchObject({ targetAmount: 10_000 });
        await set({ fx: { marginBasisPoints: 1_000 } });
        expect(ok(await api.post(transfers, transferBody)), 'the rates are unchanged').toMatchObject({
          targetAmount: 9_000,
        });
        const changed = await set({ fx: { rates: {} } });
        expect(changed.fx).toEqual({ marginBasisPoints: 1_000, rates: {} });
        expect(ok(await api.post(transfers, transferBody)).targetAmount).not.toBe(9_000);
      });

      test('creates webhooks with its own defaults', async () => {
        const webhookDefaults = { eventTypes: ['payment.*'], retryProfile: 'fast', maxConcurrency: 3 };
        await set({ webhookDefaults });
        expect(ok(await api.post(webhooks, { url: nowhere }))).toMatchObject(webhookDefaults);
        const own = { eventTypes: ['customer.created'], retryProfile: 'none', maxConcurrency: 1 };
        expect(ok(await api.post(webhooks, { url: nowhere, ...own }))).toMatchObject(own);
      });

      test('applies the settings to console requests too', async () => {
        await set({ fee: { basisPoints: 0, fixedAmount: 3 } });
        const at = `${orgId}/${id}/${payments}`;
        const payment = ok(await owner.post(at, { amount: 500, currency: 'EUR' }));
        const captured = ok(await owner.post(`${at}/${payment.id}/advance`, { to: 'captured' }));
        expect(captured.feeAmount).toBe(3);
      });
    });

    test.each([
      ['/fee/basisPoints', { fee: { basisPoints: 10_001, fixedAmount: 0 } }],
      ['/fee/fixedAmount', { fee: { basisPoints: 1 } }],
      ['/provider', { provider: 'nobody' }],
      ['/fx/marginBasisPoints', { fx: { marginBasisPoints: -1 } }],
      ['/fx/rates/EUR~1USD', { fx: { rates: { 'EUR/USD': '0' } } }],
      ['/fx/rates/EUR~1USD', { fx: { rates: { 'EUR/USD': 1.1 } } }],
      ['/webhookDefaults/retryProfile', { webhookDefaults: { eventTypes: ['*'], maxConcurrency: 1 } }],
      [
        '/webhookDefaults/eventTypes',
        { webhookDefaults: { eventTypes: [], retryProfile: 'fast', maxConcurrency: 1 } },
      ],
      ['/name', { name: '' }],
      ['/status', { status: 'archived' }],
      ['', {}],
    ])('rejects an invalid %s', async (param, body) => {
      const answer = await update(body);
      expect(answer.code, answer.text).toBe('invalid_request');
      expect(answer.body.error.param).toBe(param);
    });

    test('rejects rates for unknown currencies', async () => {
      const before = ok(await owner.get(`${orgId}/applications/${appId}`));
      const answers: Answer[] = [
        await update({ fx: { rates: { 'EUR/XXX': '1.1' } } }),
        await owner.post(`${orgId}/applications`, { name: 'x', fx: { rates: { 'QQQ/EUR': '1' } } }),
      ];
      for (const answer of answers) {
        expect(answer.code).toBe('unsupported_currency');
        expect(answer.status).toBe(422);
        expect(answer.body.error.param).toBe('/fx/rates');
        const rows = await auditOf(server, answer);
        expect(rows.map(({ outcome, code }) => [outcome, code])).toEqual([
          ['refused', 'unsupported_currency'],
        ]);
      }
      const { requestId: _a, ...shown } = ok(await owner.get(`${orgId}/applications/${appId}`));
      const { requestId: _b, ...old } = before;
      expect(shown).toEqual(old);
    });

    test('is rejected beyond a hundred applications', async () => {
      const fullOrgId = await createOrganization(olga, 'Full');
      await join(dora, olga, fullOrgId, 'developer');
      const names = Array.from({ length: limits.applicationsMax }, (_, i) => `app ${i}`);
      await Promise.all(names.map((name) => createApplication(dora, fullOrgId, name)));
      const over = await dora.post(`${fullOrgId}/applications`, { name: 'over' });
      expect(over.code).toBe('limit_reached');
    });
  });
});

test('provokes exactly the expected error codes', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.consoleKeys);
});
