import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { openPglite } from '../../src/db/pglite.ts';
import { newSuffix } from '../../src/engine/ids.ts';
import { RequestJournal } from '../../src/engine/request-journal.ts';
import { createRateLimiter } from '../../src/http/rate-limit.ts';
import { refuse } from '../../src/kernel/errors.ts';
import type { Id } from '../../src/kernel/ids.ts';
import { firstIdAt, formatId } from '../../src/kernel/ids.ts';
import { scopes } from '../../src/kernel/permissions.ts';
import type { ApiReadRoute, Principal } from '../../src/kernel/route.ts';
import type { Reader } from '../../src/kernel/table.ts';
import { routes } from '../../src/resources/index.ts';
import { requestErrorRoutes, requestRoutes } from '../../src/resources/requests/api.ts';
import { findRequest, findRequestMinutes } from '../../src/resources/requests/store.ts';
import { percentileMs, type RequestRow } from '../../src/resources/requests/table.ts';
import type { Server } from '../../src/server.ts';
import { RequestLog } from '../../src/workers/request-log.ts';
import type { Answer, ApiClient, Body } from '../support/api-client.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { databaseKinds, openApp, openServer, sharedServer } from '../support/server.ts';
import { type KeyHolder, type Tenant, tenant } from '../support/tenant.ts';

const payments = 'developer_api_payments';
const webhooks = 'developer_api_webhooks';
const small = { amount: 1250, currency: 'EUR' };
const webhookUrl = 'http://127.0.0.1:9/';
const dayMs = 86_400_000;

type Listed = Pick<Body, 'data' | 'hasMore' | 'nextCursor'>;

/** A person signed in to the organization's console. */
function personOf(owner: KeyHolder): Principal {
  return {
    ...owner,
    settings: owner,
    actor: { kind: 'person', id: formatId('person', '01m7epxwjmf7za77rhky2f93cc') },
    name: 'Ada',
    scopes: new Set(),
    role: 'viewer',
  };
}

async function readRoute<Shown>(
  reader: Reader,
  operationId: string,
  owner: KeyHolder,
  query: Record<string, unknown> = {},
  params: Record<string, string> = {},
): Promise<Shown> {
  const route = [...requestRoutes, ...requestErrorRoutes].find((one) => one.operationId === operationId);
  if (!route || !('read' in route)) throw new Error(`${operationId} does not exist`);
  const now = Date.now();
  const principal = personOf(owner);
  return (await route.read({ reader, principal, params, query, now, accepts: () => false })) as Shown;
}

const idOf = (answer: Answer) => String(answer.headers['request-id']);

describe.each(databaseKinds)('the request log on %s', (kind) => {
  let server: Server;
  let acme: Tenant;
  let app: string;

  beforeAll(async () => {
    server = await sharedServer(kind);
    acme = await tenant(server);
    app = acme.appId;
  });

  const list = async (owner: KeyHolder, query: Record<string, unknown> = {}) => {
    await server.requestLog.flush();
    return readRoute<Listed>(server.reader, 'listRequests', owner, query);
  };
  const storedRow = async (answer: Answer, owner: KeyHolder = acme): Promise<RequestRow | undefined> => {
    await server.requestLog.flush();
    return findRequest(server.reader, owner.orgId, idOf(answer));
  };
  const post = (endpoint: string, body?: unknown, key: string = randomUUID()) =>
    acme.client.post(endpoint, body, { idempotencyKey: key });
  const allRows = async (owner: KeyHolder) => {
    await server.requestLog.flush();
    const text = 'select t::text as row from requests t where org_id = $1';
    const rows = await server.database.query<{ row: string }>({ name: '', text }, [owner.orgId]);
    return rows.map(({ row }) => row);
  };

  describe('stores', () => {
    test('all fields of a write', async () => {
      const since = Date.now();
      const answer = await acme.client.post(payments, small, {
        idempotencyKey: 'order-1',
        remoteAddress: '192.0.2.44',
      });
      const row = await storedRow(answer);
      expect(row).toEqual({
        orgId: acme.orgId,
        id: idOf(answer),
        appId: app,
        at: expect.any(Number),
        method: 'POST',
        path: `/_api/${payments}`,
        query: null,
        route: 'createPayment',
        httpStatus: 201,
        durationUs: expect.any(Number),
        errorCode: null,
        actorKind: 'api_key',
        actorId: acme.keyId,
        actorName: acme.keyName,
        ip: '192.0.2.44',
        idempotencyKey: 'order-1',
        isReplay: false,
        requestBody: JSON.stringify(small),
        responseBody: answer.text,
        faultPlanId: null,
      });
      expect(row?.at).toBeGreaterThanOrEqual(since);
      expect(row?.at).toBeLessThanOrEqual(Date.now());
      expect(row?.durationUs).toBeGreaterThan(0);
    });

    test('a read, and no response body for HEAD', async () => {
      const read = await storedRow(await acme.client.get(payments, 'limit=1'));
      expect(read).toMatchObject({
        method: 'GET',
        query: 'limit=1',
        requestBody: null,
        idempotencyKey: null,
      });
      expect(read?.responseBody).toMatch(/^\{"object":"list"/);
      const head = await storedRow(await acme.client.send(payments, { method: 'HEAD' }));
      expect(head).toMatchObject({ method: 'HEAD', httpStatus: 200, responseBody: null });
    });

    test('a rejection of every kind, if the key is known', async () => {
      const revoked = await acme.addKey({ revoked: true });
      const scopeless = await acme.addKey({ scopes: [] });
      const unknown = formatId('payment', '01m7epxwjmf7za77rhky2f93cc');
      const used = randomUUID();
      await post(payments, small, used);
      const { id } = (await post('developer_api_customers', { name: 'Ada' })).body;
      await post(`developer_api_customers/${id}/archive`);
      const raw = (content: string, headers: Record<string, string> = {}) =>
        acme.client.post(payments, undefined, { raw: content, headers });
      const refused: [number, Answer][] = [
        [400, await post(payments, { ...small, amount: 0 })],
        [400, await raw('{"amount": 1,')],
        [400, await acme.client.get(payments, 'limit=0')],
        [401, await revoked.client.get(payments)],
        [403, await scopeless.client.post(payments, small)],
        [404, await acme.client.get(`${payments}/${unknown}`)],
        [404, await post(`${payments}/${unknown}/advance`)],
        [409, await post(`developer_api_customers/${id}/archive`)],
        [413, await raw(' '.repeat(300_000))],
        [415, await raw('{}', { 'content-type': 'text/plain' })],
        [422, await post(payments, { ...small, amount: 2 }, used)],
      ];
      for (const [status, answer] of refused) {
        expect(answer.status).toBe(status);
        const row = await storedRow(answer);
        expect(row, `${status} ${answer.code}`).toMatchObject({
          httpStatus: status,
          errorCode: answer.code,
          responseBody: answer.text,
        });
      }
      expect((await storedRow(refused[1]?.[1] as Answer))?.requestBody).toBe('{"amount": 1,');
      expect((await storedRow(refused[3]?.[1] as Answer))?.actorId).toBe(revoked.keyId);
    });

    test('rate-limited requests and failures', async () => {
      const failing = (operationId: string, fail: () => never): ApiReadRoute => ({
        ...(routes[0] as ApiReadRoute),
        operationId,
        path: operationId,
        read: fail,
      });
      const limited = openApp(server, {
        requestLog: server.requestLog,
        rateLimiter: createRateLimiter(1),
        wallClock: () => 0,
      });
      const broken = openApp(server, {
        requestLog: server.requestLog,
        routes: [
          failing('breaks', () => {
            throw new Error('a bug');
          }),
        ],
      });
      const client = acme.clientOn(limited);
      for (const _token of [1, 2]) expect((await client.get(payments)).status).toBe(200);
      const answers = [await client.get(payments), await acme.clientOn(broken).get('breaks')];
      expect(await storedRow(answers[0] as Answer)).toMatchObject({
        httpStatus: 429,
        errorCode: 'rate_limited',
      });
      expect(await storedRow(answers[1] as Answer)).toMatchObject({
        httpStatus: 500,
        errorCode: 'internal_error',
      });
      await limited.close();
      await broken.close();
    });

    test('a replay, marked as one', async () => {
      const key = randomUUID();
      const [first, replay] = [await post(payments, small, key), await post(payments, small, key)];
      expect(await storedRow(first)).toMatchObject({ isReplay: false, idempotencyKey: key });
      expect(await storedRow(replay)).toMatchObject({
        isReplay: true,
        idempotencyKey: key,
        responseBody: first.text,
      });
    });

    test('the first 16 KiB of a long body', async () => {
      const metadata = Object.fromEntries(
        Array.from({ length: 50 }, (_one, i) => [`k${i}`, '€'.repeat(500)]),
      );
      const row = await storedRow(await post(payments, { ...small, metadata }));
      for (const body of [row?.requestBody, row?.responseBody]) {
        expect(Buffer.byteLength(body ?? '')).toBeGreaterThan(16_380);
        expect(Buffer.byteLength(body ?? '')).toBeLessThanOrEqual(16_384);
      }
    });

    test('only the writes of people, not their reads', async () => {
      const console = openApp(server, { requestLog: server.requestLog });
      console.addHook('preHandler', (request, _reply, done) => {
        request.principal = personOf(acme);
        done();
      });
      const client = acme.clientOn(console);
      expect(await storedRow(await client.get(payments))).toBeUndefined();
      expect(await storedRow(await client.post(payments, small))).toMatchObject({
        actorKind: 'person',
        actorId: personOf(acme).actor.id,
        actorName: null,
      });
      await console.close();
    });

    test('nothing for a caller without a valid key, or for an unknown route', async () => {
      const count = async () => {
        await server.requestLog.flush();
        const text = 'select count(*)::integer as n from requests';
        return (await server.database.query<{ n: number }>({ name: '', text }, []))[0]?.n;
      };
      const before = await count();
      await acme.client.get(payments, '', { headers: { authorization: null } });
      await acme.client.get(payments, '', { headers: { authorization: `${acme.key}x` } });
      await acme.client.get('developer_api_nothing');
      await acme.client.get('/healthz');
      expect(await count()).toBe(before);
    });
  });

  test('contains no secret: webhook secrets in requests or responses, keys, card numbers', async () => {
    const org = await tenant(server);
    const secret = `whsec_${Buffer.from('a test webhook secret, long enough').toString('base64')}`;
    const withSecret = await org.client.post(webhooks, { url: webhookUrl, secret });
    const withoutSecret = await org.client.post(webhooks, { url: webhookUrl });
    const rotated = await org.client.post(`${webhooks}/${withoutSecret.body.id}/rotate_secret`);
    const inPath = await org.client.get(`${payments}/${org.key}`, `cursor=${org.key}`);
    await org.client.post(payments, { ...small, card: { number: '4242424242424242', cvc: '987' } });
    await org.client.post(payments, undefined, { raw: `{"secret":"${secret}"` });
    const rows = await allRows(org);
    expect(rows).toHaveLength(6);
    for (const row of rows) {
      expect(row).not.toMatch(/whsec_[A-Za-z0-9]|sbk_sandbox_[0-9A-Za-z]|4242424242|"987"/);
      for (const hidden of [secret, withoutSecret.body.secret, rotated.body.secret, org.key])
        expect(row).not.toContain(String(hidden));
    }
    const shown = await storedRow(withSecret, org);
    expect(JSON.parse(shown?.requestBody ?? '')).toEqual({ url: webhookUrl, secret: '[redacted]' });
    expect(JSON.parse(shown?.responseBody ?? '')).toMatchObject({
      id: withSecret.body.id,
      secret: '[redacted]',
    });
    expect(await storedRow(inPath, org)).toMatchObject({
      path: `/_api/${payments}/sbk_sandbox_[redacted]`,
      query: 'cursor=sbk_sandbox_[redacted]',
    });
  });

  test('records the last use of a key, and does not count a rejected use', async () => {
    const org = await tenant(server, { allowedCidrs: ['192.0.2.0/24'] });
    const useOf = async (holder: KeyHolder) => {
      await server.requestLog.flush();
      const text = `select last_used_at as "lastUsedAt", last_used_ip as "lastUsedIp" from api_key_uses
        where org_id = $1 and id = $2`;
      const [use] = await server.database.query<{ lastUsedAt: number; lastUsedIp: string }>(
        { name: '', text },
        [holder.orgId, holder.keyId],
      );
      return use;
    };
    expect(await useOf(org)).toBeUndefined();
    await org.client.get(payments, '', { remoteAddress: '198.51.100.1' });
    expect(await useOf(org)).toBeUndefined();
    const since = Date.now();
    await org.client.get(payments, '', { remoteAddress: '192.0.2.1' });
    const first = await useOf(org);
    expect(first?.lastUsedIp).toBe('192.0.2.1');
    expect(first?.lastUsedAt).toBeGreaterThanOrEqual(since);
    await org.client.get(`${payments}/nobody`, '', { remoteAddress: '192.0.2.2' });
    const second = await useOf(org);
    expect(second?.lastUsedIp).toBe('192.0.2.2');
    expect(second?.lastUsedAt).toBeGreaterThanOrEqual(first?.lastUsedAt ?? 0);
    // A late write by another node with an earlier use changes nothing.
    const late = { orgId: org.orgId, id: org.keyId, lastUsedAt: since - 1, lastUsedIp: '192.0.2.3' };
    await new RequestJournal(server.database).count({ minutes: [], keyUses: [late] });
    expect(await useOf(org)).toEqual(second);
    const revoked = await org.addKey({ revoked: true });
    await revoked.client.get(payments);
    expect(await useOf(revoked)).toBeUndefined();
  });

  test('above the limit it stores only rejections, and above their limit it only counts requests', async () => {
    const org = await tenant(server);
    let now = Date.now();
    const wallClock = () => now;
    const journal = new RequestJournal(server.database);
    const requestLog = new RequestLog({
      journal,
      wallClock,
      uptime: wallClock,
      onError: () => undefined,
      storedPerSecond: 2,
      storedBurstMax: 3,
    });
    const app = openApp(server, { requestLog, wallClock });
    const client = org.clientOn(app);
    const get = () => client.get(payments);
    const refused = () => client.get(`${payments}/nobody`);
    for (const call of [get, get, get, get, get, refused, refused, refused, refused]) await call();
    await requestLog.flush();
    const count = async () => {
      const rows = await list(org, { limit: 100 });
      return rows.data.map(({ httpStatus }) => httpStatus);
    };
    expect(await count()).toEqual([404, 404, 404, 200, 200, 200]);
    now += 1_000;
    for (const call of [get, get, get, refused, refused, refused]) await call();
    await requestLog.flush();
    expect(await count()).toEqual([404, 404, 200, 200, 404, 404, 404, 200, 200, 200]);
    const minutes = await findRequestMinutes(server.reader, org.orgId, org.appId, now - 120_000, now + 1, 60);
    const sum = (name: 'requests' | 'clientErrors' | 'serverErrors' | 'notKept') =>
      minutes.reduce((total, one) => total + one[name], 0);
    expect([sum('requests'), sum('clientErrors'), sum('serverErrors'), sum('notKept')]).toEqual([
      15, 7, 0, 5,
    ]);
    await app.close();
  });

  test('minute counts add up over nodes and applications, and provide percentiles', async () => {
    const org = await tenant(server);
    const other = await org.addKey({ application: 'other' });
    for (const { client } of [org, org, other]) await client.get(payments);
    await server.requestLog.flush();
    await org.client.get(`${payments}/nobody`);
    await server.requestLog.flush();
    const [from, to] = [Date.now() - 3_600_000, Date.now() + 1];
    const read = async (appId: Id<'application'> | null, orgId = org.orgId) => {
      const rows = await findRequestMinutes(server.reader, orgId, appId, from, to, 120);
      expect(rows.length).toBeLessThanOrEqual(1);
      return rows[0];
    };
    expect(await read(org.appId)).toMatchObject({ minute: from, requests: 3, clientErrors: 1, notKept: 0 });
    expect(await read(other.appId)).toMatchObject({ requests: 1, clientErrors: 0 });
    const all = await read(null);
    expect(all).toMatchObject({ requests: 4, clientErrors: 1, serverErrors: 0 });
    expect(all?.buckets.reduce((sum, count) => sum + count, 0)).toBe(4);
    expect(percentileMs(all?.buckets ?? [], 50)).toBeGreaterThan(0);
    expect(await read(null, (await tenant(server)).orgId)).toBeUndefined();
  });

  describe('can be read', () => {
    let org: Tenant;
    let other: KeyHolder;
    const answers: Record<string, Answer> = {};
    const names = (found: Listed) =>
      found.data.map(({ id }) => Object.entries(answers).find(([, answer]) => idOf(answer) === id)?.[0]);

    beforeAll(async () => {
      org = await tenant(server);
      other = await org.addKey({ application: 'other' });
      const { client } = org;
      answers.listed = await client.get(payments);
      answers.created = await client.post(payments, small);
      const { id } = answers.created.body;
      answers.retrieved = await client.get(`${payments}/${id}`);
      answers.missing = await client.get(`${payments}/nobody`);
      answers.wrong = await client.post(payments, { amount: 0 });
      answers.unsupported = await client.post(payments, { ...small, currency: 'XXX' });
      answers.elsewhere = await other.client.get('developer_api_customers');
    });

    test('newest first, for the application or for the whole organization', async () => {
      const expected = ['unsupported', 'wrong', 'missing', 'retrieved', 'created', 'listed'];
      expect(names(await list(org))).toEqual(expected);
      expect(names(await list(org, { scope: 'organization' }))).toEqual(['elsewhere', ...expected]);
      expect(names(await list(other))).toEqual(['elsewhere']);
      const [newest] = (await list(org)).data;
      expect(newest).toEqual({
        object: 'request',
        sandbox: true,
        status: 'ok',
        id: idOf(answers.unsupported as Answer),
        applicationId: org.appId,
        at: expect.stringMatching(/^\d{4}-.*Z$/),
        method: 'POST',
        path: `/_api/${payments}`,
        query: null,
        route: 'createPayment',
        httpStatus: 422,
        durationMs: expect.any(Number),
        errorCode: 'unsupported_currency',
        actor: { kind: 'api_key', id: org.keyId, name: org.keyName },
        ip: '127.0.0.1',
        idempotencyKey: expect.any(String),
        isReplay: false,
        faultPlanId: null,
      });
    });

    test('in pages', async () => {
      const seen: unknown[] = [];
      let cursor: string | null = null;
      do {
        const found: Listed = await list(org, { limit: 4, ...(cursor === null ? {} : { cursor }) });
        seen.push(...names(found));
        expect(found.hasMore).toBe(found.nextCursor !== null);
        cursor = found.nextCursor;
      } while (cursor !== null);
      expect(seen).toEqual(['unsupported', 'wrong', 'missing', 'retrieved', 'created', 'listed']);
      expect(await list(org, { cursor: 'nonsense' })).toMatchObject({ ok: false, code: 'invalid_cursor' });
    });

    test('by every filter', async () => {
      const whole = (await list(org)).data;
      const middle = String(whole.find(({ id }) => id === idOf(answers.missing as Answer))?.at);
      const later = (await list(org, { after: middle, limit: 100 })).data;
      const earlier = (await list(org, { before: middle, limit: 100 })).data;
      for (const { at } of later) expect(String(at) > middle).toBe(true);
      for (const { at } of earlier) expect(String(at) < middle).toBe(true);
      const same = whole.filter((one) => one.at === middle);
      expect(later.length + earlier.length + same.length).toBe(whole.length);

      const paymentId = (answers.created as Answer).body.id;
      const filters: [Record<string, unknown>, string[]][] = [
        [{ status: '2xx' }, ['retrieved', 'created', 'listed']],
        [{ status: '4xx' }, ['unsupported', 'wrong', 'missing']],
        [{ status: '5xx' }, []],
        [{ status: '201' }, ['created']],
        [{ status: '404' }, ['missing']],
        [{ method: 'POST' }, ['unsupported', 'wrong', 'created']],
        [{ method: 'POST', status: '4xx' }, ['unsupported', 'wrong']],
        [{ errorCode: 'invalid_request' }, ['wrong']],
        [{ errorCode: 'invalid_request', status: '404' }, []],
        [{ path: `${payments}/` }, ['missing', 'retrieved']],
        [{ path: `/_api/${payments}/nobody` }, ['missing']],
        [{ path: '%' }, []],
        [{ resourceId: paymentId }, ['retrieved', 'created']],
        [{ apiKeyId: other.keyId }, []],
        [{ apiKeyId: other.keyId, scope: 'organization' }, ['elsewhere']],
        [{ actorId: org.keyId, status: '404', scope: 'organization' }, ['missing']],
      ];
      for (const [query, expected] of filters)
        expect(names(await list(org, query)), JSON.stringify(query)).toEqual(expected);
    });

    test('one at a time with its bodies, from any application of the organization', async () => {
      const retrieve = (owner: KeyHolder, id: string) =>
        readRoute<Body>(server.reader, 'retrieveRequest', owner, {}, { id });
      await server.requestLog.flush();
      const created = answers.created as Answer;
      expect(await retrieve(other, idOf(created))).toMatchObject({
        id: idOf(created),
        httpStatus: 201,
        requestBody: JSON.stringify(small),
        responseBody: created.text,
      });
      for (const id of ['', 'nonsense', formatId('request', newSuffix()), String(created.body.id)])
        expect(await retrieve(org, id)).toMatchObject({ ok: false, code: 'resource_not_found' });
    });

    test('as error groups', async () => {
      await server.requestLog.flush();
      await org.client.get(`${payments}/nobody`);
      const last = await org.client.get(`${payments}/nobody`);
      await server.requestLog.flush();
      const found = await readRoute<Body>(server.reader, 'listRequestErrors', org);
      expect(found).toMatchObject({ object: 'request_errors', status: 'ok', hours: 24 });
      const groups = found.groups as Body[];
      expect(groups[0]).toEqual({
        code: 'resource_not_found',
        httpStatus: 404,
        route: 'retrievePayment',
        count: 3,
        lastAt: expect.stringMatching(/Z$/),
        lastRequestId: idOf(last),
      });
      expect(groups.map(({ code }) => code).sort()).toEqual([
        'invalid_request',
        'resource_not_found',
        'unsupported_currency',
      ]);
      expect(await readRoute<Body>(server.reader, 'listRequestErrors', other)).toMatchObject({ groups: [] });
    });

    test('only within the organization', async () => {
      const otherOrg = await tenant(server);
      await server.requestLog.flush();
      expect((await list(otherOrg, { scope: 'organization' })).data).toEqual([]);
      const id = idOf(answers.created as Answer);
      const found = await readRoute<Body>(server.reader, 'retrieveRequest', otherOrg, {}, { id });
      expect(found).toMatchObject({ ok: false, code: 'resource_not_found' });
      const errors = await readRoute<Body>(server.reader, 'listRequestErrors', otherOrg, {
        scope: 'organization',
      });
      expect(errors).toMatchObject({ groups: [] });
    });
  });

  describe('for API keys', () => {
    const path = 'developer_api_requests';
    let org: Tenant;
    beforeAll(async () => {
      org = await tenant(server);
    });
    const ids = (answer: Answer) => answer.body.data.map(({ id }) => id);

    test('contains earlier requests at once', async () => {
      const first = await org.client.post(payments, small);
      const second = await org.client.get(`${payments}/nobody`);
      const listed = await org.client.get(path);
      expect(listed.body).toMatchObject({ hasMore: false, nextCursor: null });
      expect(ids(listed)).toEqual([idOf(second), idOf(first)]);
      const one = await org.client.get(`${path}/${idOf(first)}`);
      expect(one.body).toMatchObject({
        object: 'request',
        route: 'createPayment',
        httpStatus: 201,
        actor: { kind: 'api_key', id: org.keyId, name: org.keyName },
        requestBody: JSON.stringify(small),
        responseBody: first.text,
      });
      for (const id of ['nonsense', String(first.body.id), formatId('request', newSuffix())])
        expect((await org.client.get(`${path}/${id}`)).code).toBe('resource_not_found');
      const otherOrg = await tenant(server);
      expect((await otherOrg.client.get(path, 'scope=organization')).body.data).toEqual([]);
      expect((await otherOrg.client.get(`${path}/${idOf(first)}`)).code).toBe('resource_not_found');
    });

    test('requires all four read scopes', async () => {
      const reading = scopes.filter((scope) => scope.endsWith(':read'));
      expect(reading).toHaveLength(4);
      const reader = await org.addKey({ scopes: reading });
      expect((await reader.client.get(path)).status).toBe(200);
      for (const missing of reading) {
        const holder = await org.addKey({ scopes: scopes.filter((scope) => scope !== missing) });
        const refused = await holder.client.get(path);
        expect(refused.body.error).toMatchObject({ code: 'scope_missing', details: { scope: missing } });
      }
    });

    test('does not contain its own reads, except rejected ones', async () => {
      const org = await tenant(server);
      const reads = [await org.client.get(path), await org.client.get(path, 'limit=0')];
      expect(reads.map(({ status }) => status)).toEqual([200, 400]);
      expect(ids(await org.client.get(path))).toEqual([idOf(reads[1] as Answer)]);
      const minutes = await findRequestMinutes(
        server.reader,
        org.orgId,
        org.appId,
        Date.now() - 120_000,
        Date.now() + 1,
        60,
      );
      await server.requestLog.flush();
      expect(minutes.reduce((sum, { requests }) => sum + requests, 0)).toBeGreaterThanOrEqual(2);
    });

    /** Reads like `logs tail`: all new requests, in pages, after the newest one already read. */
    function follow(client: ApiClient, from: string, more = '') {
      let after = from;
      return async () => {
        const found: string[] = [];
        let cursor: string | null = null;
        do {
          const query = `limit=3&after=${after}${more}${cursor === null ? '' : `&cursor=${cursor}`}`;
          const page: Answer = await client.get(path, query);
          expect(page.status, page.text).toBe(200);
          found.push(...ids(page));
          cursor = page.body.nextCursor;
        } while (cursor !== null);
        after = found[0] ?? after;
        return found.reverse();
      };
    }

    test('after returns all later requests once, including slow ones', async () => {
      const org = await tenant(server);
      const start = await org.client.get(payments);
      const next = follow(org.client, idOf(start));
      expect(await next()).toEqual([]);
      const sentIds: string[] = [];
      const seen: string[] = [];
      // A request that starts first and completes last: its id is older than those already read.
      let [release, reach] = [() => {}, () => {}];
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      const reached = new Promise<void>((resolve) => {
        reach = resolve;
      });
      const slow: ApiReadRoute = {
        ...(routes.find((one) => one.operationId === 'listFxRates') as ApiReadRoute),
        path: 'slow',
        read: () => {
          reach();
          return held.then(() => refuse('resource_not_found'));
        },
      };
      const app = openApp(server, { routes: [slow], requestLog: server.requestLog });
      const late = org.clientOn(app).get('slow');
      await reached;
      for (let round = 0; round < 4; round += 1) {
        for (let i = 0; i <= round * 2; i += 1) sentIds.push(idOf(await org.client.get(payments)));
        seen.push(...(await next()));
      }
      expect(seen).toEqual(sentIds);
      release();
      const answer = await late;
      expect(idOf(answer) < (seen[0] ?? '')).toBe(true);
      sentIds.push(idOf(await org.client.get(payments)));
      expect(await next()).toEqual([idOf(answer), sentIds.at(-1)]);
      expect(await next()).toEqual([]);
      await app.close();
    });

    test('after works with filters, and an unknown id counts as its time', async () => {
      const org = await tenant(server);
      const before = await org.client.get(payments);
      const unknown = formatId('request', newSuffix());
      const refused = await org.client.get(`${payments}/nobody`);
      const elsewhere = await (await org.addKey({ application: 'other' })).client.get(payments);
      const after = await org.client.get(payments);
      const list = async (query: string) => ids(await org.client.get(path, query));
      const behind = `after=${idOf(before)}`;
      expect(await list(behind)).toEqual([idOf(after), idOf(refused)]);
      expect(await list(`${behind}&scope=organization`)).toEqual([after, elsewhere, refused].map(idOf));
      expect(await list(`${behind}&status=4xx`)).toEqual([idOf(refused)]);
      expect(await list(`${behind}&before=2020-01-01T00:00:00Z`)).toEqual([]);
      expect(await list(`after=${unknown}`)).toEqual([idOf(after), idOf(refused)]);
      expect(await list(`after=${formatId('request', newSuffix())}`)).toEqual([]);
      for (const wrong of ['after=x', 'after=', `after=${unknown.toUpperCase()}`, 'after=pay_1'])
        expect((await org.client.get(path, wrong)).code, wrong).toBe('invalid_request');
    });
  });

  test('finds a rare request among many page by page, with a limit per page', async () => {
    const org = await tenant(server);
    const rare = await org.client.post(payments, small);
    await server.requestLog.flush();
    const template = (await storedRow(rare, org)) as RequestRow;
    const journal = new RequestJournal(server.database);
    for (let batch = 0; batch < 5; batch += 1) {
      const requests = Array.from({ length: 2_200 }, () => ({
        ...template,
        id: formatId('request', newSuffix()),
        method: 'GET',
      }));
      await journal.write(requests);
    }
    for (const query of [{ method: 'POST' }, { method: 'POST', scope: 'organization' }]) {
      const first = await list(org, query);
      expect(first).toMatchObject({ data: [], hasMore: true });
      const second = await list(org, { ...query, cursor: first.nextCursor });
      expect(second).toMatchObject({ data: [{ id: idOf(rare) }], hasMore: false, nextCursor: null });
    }
  });

  test('deletes expired requests, and their counts later', async () => {
    const org = await tenant(server);
    const journal = new RequestJournal(server.database);
    const template = (await storedRow(await org.client.get(payments), org)) as RequestRow;
    const longAgo = Date.UTC(2001, 0, 1);
    const old = (days: number) => {
      const at = longAgo + days * dayMs;
      return { ...template, at, id: firstIdAt('request', at) };
    };
    const [count] = await findRequestMinutes(
      server.reader,
      org.orgId,
      org.appId,
      Date.now() - dayMs,
      Date.now(),
    );
    expect(count).toBeDefined();
    const minute = (days: number) => ({
      orgId: org.orgId,
      appId: org.appId,
      minute: longAgo + days * dayMs,
      ...{ requests: 1, clientErrors: 0, serverErrors: 0, notKept: 0 },
      ...{ us500: 1, ms1: 0, ms2: 0, ms5: 0, ms10: 0, ms20: 0, ms50: 0, ms100: 0, ms200: 0 },
      ...{ ms500: 0, s1: 0, s5: 0, beyond: 0 },
    });
    await journal.write([0, 1, 2].map(old));
    await journal.count({ minutes: [0, 1, 2].map(minute), keyUses: [] });
    expect(await journal.reap(longAgo + dayMs)).toBe(1);
    expect(await journal.reap(longAgo + dayMs + 1)).toBe(1);
    expect(await journal.reapMinutes(longAgo + dayMs + 1)).toBe(2);
    const left = await findRequestMinutes(server.reader, org.orgId, org.appId, longAgo, longAgo + 9 * dayMs);
    expect(left.map((one) => one.minute)).toEqual([longAgo + 2 * dayMs]);
    expect((await list(org, { before: '2002-01-01T00:00:00Z' })).data).toHaveLength(1);
    expect((await list(org)).data).toHaveLength(2);
  });

  test('a database failure loses log rows, but fails no request', async () => {
    const gone = await openPglite({ dataDirectory: undefined, onCrash: () => undefined });
    await gone.close();
    const problems: string[] = [];
    const requestLog = new RequestLog({
      journal: new RequestJournal(gone),
      wallClock: Date.now,
      uptime: Date.now,
      onError: (_error, what) => problems.push(what),
    });
    const app = openApp(server, { requestLog });
    for (const _time of [1, 2]) {
      expect((await acme.clientOn(app).post(payments, small)).status).toBe(201);
      await requestLog.flush();
    }
    const parts = ['counts', 'log'];
    expect(problems.sort()).toEqual(parts.map((part) => `the request ${part} cannot be written`));
    await requestLog.close();
    await app.close();
  });

  test('a closing server writes its pending rows', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'sandbank-requests-'));
    const settings =
      kind === 'pglite'
        ? { dataDirectory: folder }
        : { databaseUrl: await migratedDatabase(inject('postgresUrl')), secret: 's'.repeat(32) };
    const before = await openServer(kind, settings);
    const org = await tenant(before);
    const answer = await org.client.post(payments, small);
    await before.close();
    const after = await openServer(kind, settings);
    const row = await findRequest(after.reader, org.orgId, idOf(answer));
    await after.close();
    await rm(folder, { recursive: true, force: true });
    expect(row).toMatchObject({ httpStatus: 201, responseBody: answer.text });
  });
});

test('after returns the requests of all nodes, each once', async () => {
  const databaseUrl = await migratedDatabase(inject('postgresUrl'));
  const nodes = await Promise.all(
    [1, 2].map(() => openServer('postgres', { databaseUrl, secret: 's'.repeat(32) })),
  );
  const [one, two] = nodes as [Server, Server];
  const org = await tenant(one);
  const there = org.clientOn(two.app);
  let after = idOf(await org.client.get(payments));
  await one.requestLog.flush();
  const sentIds = new Set<string>();
  const seen: string[] = [];
  const readNew = async () => {
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: string = `limit=100&after=${after}${cursor === '' ? '' : `&cursor=${cursor}`}`;
      const page: Answer = await org.client.get('developer_api_requests', query);
      seen.push(...page.body.data.map(({ id }) => id));
      cursor = page.body.nextCursor;
      if (cursor === null) after = page.body.data[0]?.id ?? after;
    }
  };
  for (let round = 0; round < 20; round += 1) {
    const answers = await Promise.all(
      [org.client, there, org.client, there].map((client) => client.get(payments)),
    );
    for (const answer of answers) sentIds.add(idOf(answer));
    // The other node writes at any time; here it writes while this node reads.
    await Promise.all([two.requestLog.flush(), readNew()]);
  }
  await two.requestLog.flush();
  await readNew();
  expect(seen).toHaveLength(sentIds.size);
  expect(new Set(seen)).toEqual(sentIds);
  await Promise.all(nodes.map((node) => node.close()));
});
