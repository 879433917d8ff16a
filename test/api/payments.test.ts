import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { unmeasured } from '../../src/http/metrics.ts';
import { createRateLimiter } from '../../src/http/rate-limit.ts';
import { apiVersion } from '../../src/kernel/envelope.ts';
import { limits } from '../../src/kernel/limits.ts';
import type { ApiWriteRoute } from '../../src/kernel/route.ts';
import { routes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import { type Answer, ApiClient, type Body, seenCodes } from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { databaseKinds, openApp, openEngine, openServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

const payments = 'developer_api_payments';
const customers = 'developer_api_customers';
const small = { amount: 1250, currency: 'EUR' };
const time = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
const unknownCustomer = 'cus_01m7epxwjmf7za77rhky2f93cc';

describe.each(databaseKinds)('payments on %s', (kind) => {
  let server: Server;
  let databaseUrl: string | undefined;
  let acme: Tenant;
  let other: Tenant;

  beforeAll(async () => {
    databaseUrl = kind === 'postgres' ? await migratedDatabase(inject('postgresUrl')) : undefined;
    server = await openServer(kind, { databaseUrl });
    acme = await tenant(server);
    other = await tenant(server);
  });
  afterAll(() => server?.close());

  const create = (body: unknown = small, idempotencyKey: string = randomUUID()) =>
    acme.client.post(payments, body, { idempotencyKey });

  const createCustomer = async (client: ApiClient = acme.client): Promise<string> =>
    (await client.post(customers, { name: 'Ada' })).body.id;

  async function paymentCount(orgId: string = acme.orgId): Promise<number> {
    const [row] = await server.database.query<{ n: number }>(
      { name: '', text: 'select count(*)::integer as n from payments where org_id = $1' },
      [orgId],
    );
    return row?.n ?? -1;
  }

  function expectReplay(replay: Answer, first: Answer): void {
    expect(replay.status).toBe(first.status);
    expect(replay.text).toBe(first.text);
    expect(replay.headers['idempotent-replayed']).toBe('true');
    expect(first.headers).not.toHaveProperty('idempotent-replayed');
    expect(replay.headers['request-id']).not.toBe(first.headers['request-id']);
  }

  describe('201', () => {
    test('a new payment is pending and has every field, with the defaults', async () => {
      const { status, body } = await create();
      expect(status).toBe(201);
      expect(body).toEqual({
        object: 'payment',
        sandbox: true,
        requestId: expect.stringMatching(/^req_[0-9a-z]{26}$/),
        status: 'pending',
        id: expect.stringMatching(/^pay_[0-9a-z]{26}$/),
        amount: 1250,
        currency: 'EUR',
        amountCapturable: 0,
        amountCaptured: 0,
        amountRefunded: 0,
        amountRefundable: 0,
        amountDisputed: 0,
        feeAmount: 0,
        captureMethod: 'automatic',
        paymentMethod: { type: 'card' },
        customerId: null,
        description: null,
        reference: null,
        metadata: {},
        scenario: 'approve',
        autoAdvance: false,
        failure: null,
        attempts: [{ number: 1, scenario: 'approve', failure: null, failedAt: null }],
        disputeId: null,
        allowedActions: ['require_action', 'process', 'authorize', 'capture', 'fail', 'cancel', 'expire'],
        reconciliation: null,
        version: 1,
        createdAt: time,
        updatedAt: body.createdAt,
      });
    });

    test('returns all given fields, on creation and on retrieval', async () => {
      const input = {
        amount: 999_999_999_999,
        currency: 'JPY',
        customerId: await createCustomer(),
        captureMethod: 'manual',
        paymentMethod: { type: 'bank_debit' },
        description: 'Order 7: “two” things, 100 % ünïcode 🎉\n\ttabbed "quoted" \\ back',
        reference: 'order-7',
        metadata: { 'a key': 'a value', order: '7', 'emoji 🎉': '', constructor: 'x' },
        scenario: ['decline:insufficient_funds', 'approve'],
        autoAdvance: true,
      };
      const created = await create(input);
      expect(created.status).toBe(201);
      expect(created.body).toMatchObject(input);
      const { requestId: _first, ...shown } = created.body;
      const { requestId: _second, ...read } = (await acme.client.get(`${payments}/${created.body.id}`)).body;
      expect(read).toEqual(shown);
    });

    test('lower-case currency codes are normalized', async () => {
      expect((await create({ amount: 1, currency: 'usd' })).body.currency).toBe('USD');
      expect((await create({ amount: 1, currency: 'cHf' })).body.currency).toBe('CHF');
    });

    test.each([1, 999_999_999_999])('accepts the amount %d exactly', async (amount) => {
      const { body } = await create({ amount, currency: 'EUR' });
      expect(body.amount).toBe(amount);
      expect((await acme.client.get(`${payments}/${body.id}`)).body.amount).toBe(amount);
    });

    test('accepts an integer written as 1e3 or 5.0', async () => {
      const written = await Promise.all(
        ['1e3', '5.0'].map((amount) =>
          acme.client.post(payments, undefined, { raw: `{"amount":${amount},"currency":"EUR"}` }),
        ),
      );
      expect(written.map(({ body }) => body.amount)).toEqual([1000, 5]);
    });

    test('text and metadata limits count characters, and their maximum is accepted', async () => {
      const metadata = Object.fromEntries(
        Array.from({ length: 50 }, (_, i) => [`${'🎉'.repeat(38)}${i + 10}`, '🎉'.repeat(500)]),
      );
      const input = { ...small, description: 'ä'.repeat(500), reference: '🎉'.repeat(200), metadata };
      const { status, body } = await create(input);
      expect(status).toBe(201);
      expect(body).toMatchObject(input);
    });

    test.each(['card', 'bank_debit', 'bank_transfer', 'wallet'])(
      'accepts the payment method %s',
      async (type) => {
        expect((await create({ ...small, paymentMethod: { type } })).body.paymentMethod).toEqual({ type });
      },
    );

    test.each([
      'application/json',
      'Application/JSON',
      'application/json; charset=utf-8',
      'application/json;charset=UTF-8',
      'application/json; charset="utf-8"',
    ])('accepts the content type %s', async (type) => {
      const headers = { 'content-type': type, 'content-encoding': 'identity' };
      expect((await acme.client.post(payments, small, { headers })).status).toBe(201);
    });

    test('accepts a body of exactly 256 KiB', async () => {
      const text = JSON.stringify(small);
      const raw = text.padEnd(limits.bodyBytesMax, ' ');
      expect((await acme.client.post(payments, undefined, { raw })).status).toBe(201);
    });

    test('accepts headers with the organization and the API version', async () => {
      const headers = { 'sandbank-organization': acme.orgId, 'api-version': apiVersion };
      expect((await acme.client.post(payments, small, { headers })).status).toBe(201);
    });

    test('the same idempotency key and request return the first response byte for byte', async () => {
      const key = randomUUID();
      const first = await create({ ...small, description: 'once', metadata: { a: '1', b: '2' } }, key);
      const before = await paymentCount();
      expectReplay(await create({ ...small, description: 'once', metadata: { a: '1', b: '2' } }, key), first);
      const reordered =
        '{ "metadata": {"b":"2","a":"1"},"description":"\\u006fnce","currency":"EUR","amount":1.25e3 }';
      expectReplay(
        await acme.client.post(payments, undefined, { idempotencyKey: key, raw: reordered }),
        first,
      );
      expect(await paymentCount()).toBe(before);
    });

    test('a hundred identical concurrent requests create one payment', async () => {
      const key = randomUUID();
      const before = await paymentCount();
      const answers = await Promise.all(Array.from({ length: 100 }, () => create(small, key)));
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
      const replays = answers.filter(({ headers }) => headers['idempotent-replayed'] === 'true');
      expect(replays).toHaveLength(99);
      expect(new Set(answers.map(({ headers }) => headers['request-id'])).size).toBe(100);
      expect(await paymentCount()).toBe(before + 1);
    });

    test('a quoted idempotency key equals the unquoted one', async () => {
      const key = randomUUID();
      const first = await create(small, `"${key}"`);
      expect(first.status).toBe(201);
      expectReplay(await create(small, key), first);
    });

    test.each(['!', '~'.repeat(255), `"${'k'.repeat(255)}"`, '"', 'a"b'])(
      'accepts the idempotency key %s',
      async (key) => {
        expect((await create(small, key)).status).toBe(201);
      },
    );

    test('another key of the same application replays the response, a key of another application does not', async () => {
      const key = randomUUID();
      const first = await create(small, key);
      const rotated = await acme.addKey();
      expectReplay(await rotated.client.post(payments, small, { idempotencyKey: key }), first);
      const mobile = await acme.addKey({ application: 'mobile' });
      const independent = await mobile.client.post(payments, small, { idempotencyKey: key });
      expect(independent.status).toBe(201);
      expect(independent.headers).not.toHaveProperty('idempotent-replayed');
      expect(independent.body.id).not.toBe(first.body.id);
    });

    test('the same idempotency key in another organization is independent', async () => {
      const key = randomUUID();
      const first = await create(small, key);
      const foreign = await other.client.post(payments, small, { idempotencyKey: key });
      expect(foreign.status).toBe(201);
      expect(foreign.body.id).not.toBe(first.body.id);
      expect(foreign.headers).not.toHaveProperty('idempotent-replayed');
    });
  });

  describe('200', () => {
    let shop: Tenant;
    let created: readonly Body[];

    const list = (query = '', client: ApiClient = shop.client) => client.get(payments, query);
    const idsOf = ({ body }: Answer) => body.data.map(({ id }) => id);

    beforeAll(async () => {
      shop = await tenant(server);
      const customerId = await createCustomer(shop.client);
      const answers = await Promise.all(
        Array.from({ length: 45 }, (_, i) =>
          shop.client.post(payments, { ...small, amount: i + 1, ...(i % 3 === 0 ? { customerId } : {}) }),
        ),
      );
      // Ids sort by creation time, so newest first is descending id order.
      created = answers.map(({ body }) => body).sort((a, b) => (a.id < b.id ? 1 : -1));
    });

    test('lists the newest twenty by default, each as it was returned on creation', async () => {
      const { status, body } = await list();
      expect(status).toBe(200);
      const { requestId: _requestId, ...rest } = body;
      expect(rest).toEqual({
        object: 'list',
        sandbox: true,
        status: 'ok',
        data: created.slice(0, 20).map(({ requestId, ...payment }) => payment),
        hasMore: true,
        nextCursor: expect.any(String),
      });
      expect(body.data[0]).toMatchObject({ object: 'payment', sandbox: true, status: 'pending' });
    });

    test.each([1, 7, 20, 44, 45, 100])(
      'pages of %d contain each payment once, newest first',
      async (limit) => {
        const seen: string[] = [];
        let query = `limit=${limit}`;
        for (let pages = 0; pages < 46; pages += 1) {
          const page = await list(query);
          seen.push(...idsOf(page));
          expect(page.body.hasMore).toBe(page.body.nextCursor !== null);
          if (page.body.nextCursor === null) break;
          expect(page.body.data).toHaveLength(limit);
          query = `limit=${limit}&cursor=${page.body.nextCursor}`;
        }
        expect(seen).toEqual(created.map(({ id }) => id));
      },
    );

    test('payments created during pagination do not affect it', async () => {
      const org = await tenant(server);
      await Promise.all(Array.from({ length: 4 }, () => org.client.post(payments, small)));
      const first = await list('limit=2', org.client);
      await org.client.post(payments, small);
      const second = await list(`limit=2&cursor=${first.body.nextCursor}`, org.client);
      expect(new Set([...idsOf(first), ...idsOf(second)]).size).toBe(4);
      expect(second.body).toMatchObject({ hasMore: false, nextCursor: null });
    });

    test('filters by status and by customer, also with a cursor', async () => {
      const ofCustomer = created.filter(({ customerId }) => customerId !== null);
      const customerId = String(ofCustomer[0]?.customerId);
      const first = await list(`customerId=${customerId}&limit=10&status=pending`);
      expect(idsOf(first)).toEqual(ofCustomer.slice(0, 10).map(({ id }) => id));
      const second = await list(
        `customerId=${customerId}&limit=10&status=pending&cursor=${first.body.nextCursor}`,
      );
      expect(idsOf(second)).toEqual(ofCustomer.slice(10).map(({ id }) => id));
      expect(second.body.hasMore).toBe(false);
      expect(idsOf(await list(`customerId=${unknownCustomer}`))).toEqual([]);
    });

    test('createdAfter and createdBefore are exclusive, in any time zone', async () => {
      let now = Date.parse('2026-03-01T12:00:00.000Z');
      const app = openApp(server, { wallClock: () => now });
      const org = await tenant(server);
      const client = org.clientOn(app);
      const ids: string[] = [];
      for (let day = 0; day < 3; day += 1) {
        ids.unshift((await client.post(payments, small)).body.id);
        now += 24 * 3_600_000;
      }
      const [third, second, first] = ids;
      expect(idsOf(await list('createdAfter=2026-03-01T12:00:00Z', client))).toEqual([third, second]);
      expect(idsOf(await list('createdAfter=2026-03-01T11:59:59.999Z', client))).toEqual([
        third,
        second,
        first,
      ]);
      expect(idsOf(await list('createdBefore=2026-03-03T12:00:00.000Z', client))).toEqual([second, first]);
      expect(idsOf(await list('createdBefore=2026-03-03T14:00:00.001%2B02:00', client))).toEqual(ids);
      const between = 'createdAfter=2026-03-01T12:00:00Z&createdBefore=2026-03-03T12:00:00Z';
      expect(idsOf(await list(between, client))).toEqual([second]);
      expect(idsOf(await list(`${between}&status=pending&limit=1`, client))).toEqual([second]);
    });

    test.each([
      '2026-03-01T12:00:00%2B16:00',
      '2026-03-01T12:00:00-23:59',
      '0001-01-01T00:00:00%2B14:00',
      '9999-12-31T23:59:59.999999999-14:00',
    ])('the time %s, valid by the schema, never causes a 5xx', async (instant) => {
      const answer = await list(`createdAfter=${instant}`);
      expect([200, 400]).toContain(answer.status);
    });

    test('never shows payments of another organization', async () => {
      const otherOrg = await tenant(server);
      expect((await list('', otherOrg.client)).body).toMatchObject({
        data: [],
        hasMore: false,
        nextCursor: null,
      });
      const customerId = created.find(({ customerId }) => customerId !== null)?.customerId;
      expect(idsOf(await list(`customerId=${customerId}`, otherOrg.client))).toEqual([]);
    });

    test('another application of the organization sees them', async () => {
      const mobile = await shop.addKey({ application: 'mobile' });
      expect(idsOf(await list('limit=5', mobile.client))).toEqual(created.slice(0, 5).map(({ id }) => id));
    });

    test('HEAD responds like GET, without a body', async () => {
      const answer = await shop.client.send(`${payments}/${created[0]?.id}`, { method: 'HEAD' });
      expect(answer).toMatchObject({ status: 200, text: '' });
      expect((await shop.client.send(`${payments}/nothing`, { method: 'HEAD' })).status).toBe(404);
    });
  });

  describe('400', () => {
    test.each<[name: string, change: Record<string, unknown>, param: string]>([
      ['an amount of 0', { amount: 0 }, '/amount'],
      ['a negative amount', { amount: -1 }, '/amount'],
      ['a fraction', { amount: 1.5 }, '/amount'],
      ['an amount of 1e12', { amount: 1e12 }, '/amount'],
      ['an amount as a string', { amount: '1' }, '/amount'],
      ['a null amount', { amount: null }, '/amount'],
      ['a missing amount', { amount: undefined }, '/amount'],
      ['a missing currency', { currency: undefined }, '/currency'],
      ['a currency of two letters', { currency: 'EU' }, '/currency'],
      ['a currency of four letters', { currency: 'EURO' }, '/currency'],
      ['a currency with a digit', { currency: 'EU1' }, '/currency'],
      ['a currency with a line break', { currency: 'EUR\n' }, '/currency'],
      ['a currency that has three letters only in upper case', { currency: 'ßS' }, '/currency'],
      ['a customer id with another prefix', { customerId: 'pay_01m7epxwjmf7za77rhky2f93cc' }, '/customerId'],
      ['a null customer id', { customerId: null }, '/customerId'],
      ['an unknown capture method', { captureMethod: 'later' }, '/captureMethod'],
      ['an unknown payment method', { paymentMethod: { type: 'cash' } }, '/paymentMethod/type'],
      ['a payment method without a type', { paymentMethod: {} }, '/paymentMethod/type'],
      ['an unknown nested field', { paymentMethod: { type: 'card', brand: 'x' } }, '/paymentMethod/brand'],
      ['an unknown field', { amuont: 5 }, '/amuont'],
      ['an unknown field with special characters', { 'a/b~c': 5 }, '/a~1b~0c'],
      ['an empty description', { description: '' }, '/description'],
      ['a description of 501 characters', { description: 'd'.repeat(501) }, '/description'],
      ['a reference of 201 characters', { reference: 'r'.repeat(201) }, '/reference'],
      ['an empty reference', { reference: '' }, '/reference'],
      ['metadata that is a list', { metadata: [] }, '/metadata'],
      ['null metadata', { metadata: null }, '/metadata'],
      ['a number in metadata', { metadata: { order: 7 } }, '/metadata/order'],
      ['an object in metadata', { metadata: { a: {} } }, '/metadata/a'],
      ['an object in metadata under a key with a line break', { metadata: { 'a\nb': {} } }, '/metadata/a\nb'],
      ['a metadata value of 501 characters', { metadata: { a: 'v'.repeat(501) } }, '/metadata/a'],
      ['a metadata key of 41 characters', { metadata: { ['k'.repeat(41)]: 'v' } }, '/metadata'],
      ['an empty metadata key', { metadata: { '': 'v' } }, '/metadata'],
      [
        '51 metadata keys',
        { metadata: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [i, ''])) },
        '/metadata',
      ],
      ['an unknown scenario', { scenario: 'decline:nonsense' }, '/scenario'],
      ['an empty list of scenarios', { scenario: [] }, '/scenario'],
      ['eleven scenarios', { scenario: Array(11).fill('approve') }, '/scenario'],
      ['autoAdvance as a string', { autoAdvance: 'true' }, '/autoAdvance'],
      ['read-only fields', { status: 'settled' }, '/status'],
    ])('rejects %s, and param points at it', async (_name, change, param) => {
      const { code, body } = await create({ ...small, ...change });
      expect(code).toBe('invalid_request');
      expect(body.error.param).toBe(param);
      expect(body.error.message.length).toBeGreaterThan(10);
    });

    const deep = (levels: number) => `${'[['.repeat(levels / 2)}${']]'.repeat(levels / 2)}`;

    test.each<[name: string, raw: string, param: string | undefined]>([
      ['a repeated key', '{"amount":1,"currency":"EUR","amount":2}', '/amount'],
      ['a key repeated with escapes', '{"amount":1,"currency":"EUR","\\u0061mount":2}', '/amount'],
      ['__proto__', '{"amount":1,"currency":"EUR","__proto__":{}}', '/__proto__'],
      [
        '__proto__ inside',
        '{"amount":1,"currency":"EUR","metadata":{"__proto__":"x"}}',
        '/metadata/__proto__',
      ],
      ['an unsafe integer', '{"amount":9007199254740993,"currency":"EUR"}', '/amount'],
      ['an infinite number', '{"amount":1e999,"currency":"EUR"}', '/amount'],
      ['U+0000', '{"amount":1,"currency":"EUR","description":"a\\u0000"}', '/description'],
      ['U+0000 in a key', '{"amount":1,"currency":"EUR","metadata":{"\\u0000":"x"}}', '/metadata'],
      ['an unpaired surrogate', '{"amount":1,"currency":"EUR","description":"\\ud83d"}', '/description'],
      [
        'surrogates in the wrong order',
        '{"amount":1,"currency":"EUR","reference":"\\ude00\\ud83d"}',
        '/reference',
      ],
      ['a list', '[]', ''],
      ['a number', '1', ''],
      ['a text', '"amount"', ''],
      ['null', 'null', ''],
    ])('rejects a body with %s', async (_name, raw, param) => {
      const { code, body } = await acme.client.post(payments, undefined, { raw });
      expect(code).toBe('invalid_request');
      expect(body.error.param).toBe(param);
    });

    test('rejects 33 levels of nesting, and accepts 32', async () => {
      const nested = (levels: number) => `{"amount":1,"currency":"EUR","x":${deep(levels)}}`;
      const tooDeep = await acme.client.post(payments, undefined, { raw: nested(32) });
      expect(tooDeep.code).toBe('invalid_request');
      expect(tooDeep.body.error.message).toContain('32 levels');
      const accepted = await acme.client.post(payments, undefined, { raw: nested(30) });
      expect(accepted.body.error).toMatchObject({ code: 'invalid_request', param: '/x' });
      expect(accepted.body.error.message).toContain('not a known field');
    });

    test.each<[name: string, raw: string | Buffer]>([
      ['truncated', '{"amount":1,"currency":"EUR"'],
      ['two values', '{}{}'],
      ['form encoding', 'amount=1'],
      ['single quotes', "{'amount':1}"],
      ['a trailing comma', '{"amount":1,}'],
      ['a comment', '{/* */}'],
      ['NaN', '{"amount":NaN}'],
      ['a leading zero', '{"amount":01}'],
      ['a raw control character', '{"description":"a\u0001"}'],
      ['a byte order mark', '\ufeff{}'],
      ['only whitespace', '  '],
      [
        'bytes that are not UTF-8',
        Buffer.from('{"amount":1,"currency":"EUR","description":"\xff\xfe"}', 'latin1'),
      ],
      ['an overlong encoding', Buffer.from([0x7b, 0x22, 0xc0, 0x80, 0x22, 0x3a, 0x31, 0x7d])],
      ['an encoded surrogate', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ])('reports a body that is not UTF-8 JSON (%s) as malformed', async (_name, raw) => {
      expect((await acme.client.post(payments, undefined, { raw })).code).toBe('malformed_json');
    });

    test('requires a body', async () => {
      expect((await acme.client.post(payments)).code).toBe('invalid_request');
      const headers = { 'content-type': 'application/json', 'content-length': '0' };
      expect((await acme.client.post(payments, undefined, { headers })).code).toBe('invalid_request');
    });

    test('rejects query parameters on a write', async () => {
      const { body } = await acme.client.send(payments, { method: 'POST', body: small, query: 'amount=5' });
      expect(body.error).toMatchObject({ code: 'invalid_request', param: 'amount' });
    });

    test('requires an idempotency key on a write', async () => {
      for (const headers of [{}, { 'idempotency-key': '' }]) {
        const { code, body } = await acme.client.post(payments, small, { idempotencyKey: null, headers });
        expect(code).toBe('idempotency_key_missing');
        expect(body.error.param).toBe('Idempotency-Key');
      }
    });

    test.each<[name: string, key: string]>([
      ['256 characters', 'k'.repeat(256)],
      ['256 quoted characters', `"${'k'.repeat(256)}"`],
      ['a space', 'a b'],
      ['a tab', 'a\tb'],
      ['a non-ASCII letter', 'clé'],
      ['a control character', 'a\x7f'],
      ['empty quotes', '""'],
      ['two headers', 'one, two'],
    ])('rejects an idempotency key of %s', async (_name, idempotencyKey) => {
      const { code, body } = await acme.client.post(payments, small, { idempotencyKey });
      expect(code).toBe('idempotency_key_invalid');
      expect(body.error.param).toBe('Idempotency-Key');
    });

    test('rejects an unknown API version', async () => {
      const headers = { 'api-version': '1999-01-01' };
      expect((await acme.client.post(payments, small, { headers })).code).toBe('unsupported_api_version');
    });

    test('a rejected body does not consume its idempotency key: the corrected request works with it', async () => {
      const key = randomUUID();
      expect((await create({ ...small, amount: 0 }, key)).status).toBe(400);
      expect((await acme.client.post(payments, undefined, { raw: '{', idempotencyKey: key })).status).toBe(
        400,
      );
      const corrected = await create(small, key);
      expect(corrected.status).toBe(201);
      expect(corrected.headers).not.toHaveProperty('idempotent-replayed');
    });

    test.each<[query: string, param: string]>([
      ['limit=0', 'limit'],
      ['limit=101', 'limit'],
      ['limit=-1', 'limit'],
      ['limit=1.5', 'limit'],
      ['limit=1e1', 'limit'],
      ['limit=', 'limit'],
      ['limit=ten', 'limit'],
      ['limit=9007199254740993', 'limit'],
      ['limit=5&limit=6', 'limit'],
      ['status=settling', 'status'],
      ['status=', 'status'],
      ['status=pending&status=pending', 'status'],
      ['customerId=me', 'customerId'],
      ['customerId=pay_01m7epxwjmf7za77rhky2f93cc', 'customerId'],
      ['createdAfter=yesterday', 'createdAfter'],
      ['createdAfter=2026-02-30T00:00:00Z', 'createdAfter'],
      ['createdAfter=2026-02-01', 'createdAfter'],
      ['createdAfter=2026-02-01T00:00:00', 'createdAfter'],
      ['createdBefore=0000-01-01T00:00:00Z', 'createdBefore'],
      ['createdBefore=2026-02-01T24:00:00Z', 'createdBefore'],
      ['cursor=', 'cursor'],
      [`cursor=${'c'.repeat(201)}`, 'cursor'],
      ['order=asc', 'order'],
      ['Limit=5', 'Limit'],
      ['__proto__=1', '__proto__'],
      ['limit[]=5', 'limit[]'],
    ])('rejects the query %s, and param names the parameter', async (query, param) => {
      const { code, body } = await acme.client.get(payments, query);
      expect(code).toBe('invalid_request');
      expect(body.error.param).toBe(param);
    });

    test('rejects a malformed or modified cursor, and a cursor of another list', async () => {
      await Promise.all([createCustomer(), createCustomer(), create(), create()]);
      const foreign = (await acme.client.get(customers, 'limit=1')).body.nextCursor;
      const ownCursor = (await acme.client.get(payments, 'limit=1')).body.nextCursor;
      expect(ownCursor).not.toBeNull();
      const cursors = [
        'garbage',
        '%00',
        'cGF5Xw',
        foreign,
        `${ownCursor}A`,
        String(ownCursor).slice(0, -1),
        `${ownCursor}%3D`,
      ];
      for (const cursor of cursors) {
        const { code, body } = await acme.client.get(payments, `cursor=${cursor}`);
        expect(code, String(cursor)).toBe('invalid_cursor');
        expect(body.error.param).toBe('cursor');
      }
    });

    test('rejects a body that does not match its Content-Length', async () => {
      const headers = { 'content-length': '5' };
      expect((await acme.client.post(payments, small, { headers })).code).toBe('invalid_request');
    });
  });

  describe('401', () => {
    test('rejects reads and writes without a key', async () => {
      const anonymous = new ApiClient(server.app, null);
      for (const answer of [
        await anonymous.get(payments),
        await anonymous.get(`${payments}/x`),
        await anonymous.post(payments, small),
      ]) {
        expect(answer.code).toBe('api_key_missing');
        expect(answer.headers['www-authenticate']).toBe('Bearer');
      }
    });
  });

  describe('403', () => {
    test('reads and writes each require their own scope, and the error names it', async () => {
      const reader = await acme.addKey({ scopes: ['payments:read', 'customers:write'] });
      const refusedWrite = await reader.client.post(payments, small);
      expect(refusedWrite.body.error).toMatchObject({
        code: 'scope_missing',
        details: { scope: 'payments:write' },
      });
      expect(refusedWrite.body.error.message).toContain('payments:write');
      const writer = await acme.addKey({ scopes: ['payments:write', 'customers:read'] });
      for (const path of [payments, `${payments}/x`]) {
        const refusedRead = await writer.client.get(path);
        expect(refusedRead.body.error).toMatchObject({
          code: 'scope_missing',
          details: { scope: 'payments:read' },
        });
      }
    });

    test('checks authorization again for a replay', async () => {
      const key = randomUUID();
      expect((await create(small, key)).status).toBe(201);
      const reader = await acme.addKey({ scopes: ['payments:read'] });
      const replay = await reader.client.post(payments, small, { idempotencyKey: key });
      expect(replay.code).toBe('scope_missing');
      expect(replay.headers).not.toHaveProperty('idempotent-replayed');
    });
  });

  describe('404', () => {
    test('unknown ids, ids of other organizations or resources, and malformed ids are not found', async () => {
      const foreign = (await other.client.post(payments, small)).body.id;
      const ownId = (await create()).body.id;
      const unknown = 'pay_01m7epxwjmf7za77rhky2f93cc';
      const ids = [unknown, foreign, await createCustomer(), ownId.toUpperCase(), `${ownId}0`, 'x', '%00'];
      for (const id of [...ids, encodeURIComponent("' or 1=1 --"), encodeURIComponent('🎉')]) {
        expect((await acme.client.get(`${payments}/${id}`)).code, id).toBe('resource_not_found');
      }
      expect((await other.client.get(`${payments}/${foreign}`)).status).toBe(200);
    });

    test.each([1_000, 1_025, 8_000])('an id of %d characters is not found', async (length) => {
      expect((await acme.client.get(`${payments}/${'a'.repeat(length)}`)).status).toBe(404);
    });

    test('the same 404 for unknown payments and payments of other organizations', async () => {
      const foreign = (await other.client.post(payments, small)).body.id;
      const answers = await Promise.all(
        [foreign, 'pay_01m7epxwjmf7za77rhky2f93cc'].map((id) => acme.client.get(`${payments}/${id}`)),
      );
      expect(answers[0]?.body.error).toEqual(answers[1]?.body.error);
    });
  });

  describe('405', () => {
    test.each(['PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
      '%s is not allowed, with a key or without',
      async (method) => {
        for (const client of [acme.client, new ApiClient(server.app, null)]) {
          const onList = await client.send(payments, { method });
          expect(onList.code).toBe('method_not_allowed');
          expect(onList.headers.allow?.split(', ').sort()).toEqual(['GET', 'HEAD', 'POST']);
          const onOne = await client.send(`${payments}/x`, { method, body: {} });
          expect(onOne.code).toBe('method_not_allowed');
          expect(onOne.headers.allow).toBe('GET, HEAD');
        }
      },
    );

    test('POST on one payment is not allowed', async () => {
      expect((await acme.client.post(`${payments}/x`, small)).code).toBe('method_not_allowed');
    });
  });

  describe('409', () => {
    test.runIf(kind === 'postgres')(
      'while another node runs a request with the same idempotency key, a second one waits and then gets 409',
      async () => {
        const key = randomUUID();
        const node = new pg.Client({ connectionString: databaseUrl });
        await node.connect();
        await node.query('begin');
        await node.query('insert into idempotency values ($1, $2, $3, $4, 201, $5, now())', [
          acme.orgId,
          acme.appId,
          key,
          Buffer.alloc(32),
          '{}',
        ]);
        const before = await paymentCount();
        const [waiting, unrelated] = await Promise.all([create(small, key), create()]);
        expect(waiting.code).toBe('idempotency_in_progress');
        expect(waiting.headers['retry-after']).toBe('1');
        expect(waiting.body.error).toMatchObject({ retryable: true, param: 'Idempotency-Key' });
        expect(unrelated.status).toBe(201);
        expect(await paymentCount()).toBe(before + 1);
        await node.query('rollback');
        await node.end();
        expect((await create(small, key)).status).toBe(201);
      },
    );
  });

  describe('413', () => {
    const large = JSON.stringify(small).padEnd(limits.bodyBytesMax + 1, ' ');

    test('rejects a body of 256 KiB plus one byte, with and without a declared length', async () => {
      expect((await acme.client.post(payments, undefined, { raw: large })).code).toBe('payload_too_large');
      const chunked = Readable.from(
        [large.slice(0, 1_000), large.slice(1_000)].map((part) => Buffer.from(part)),
      );
      const headers = { 'transfer-encoding': 'chunked' };
      expect((await acme.client.post(payments, undefined, { raw: chunked, headers })).code).toBe(
        'payload_too_large',
      );
    });

    test('does not consume its idempotency key', async () => {
      const idempotencyKey = randomUUID();
      await acme.client.post(payments, undefined, { raw: large, idempotencyKey });
      expect((await create(small, idempotencyKey)).status).toBe(201);
    });
  });

  describe('415', () => {
    test.each([
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonp',
      'application/problem+json',
      'application/json; charset=latin1',
      'application/json; charset=utf-16',
      'application/json; profile=x',
      'application/json, text/plain',
      'json',
      '',
    ])('rejects the content type "%s"', async (type) => {
      const answer = await acme.client.post(payments, small, { headers: { 'content-type': type } });
      expect(answer.code).toBe('unsupported_media_type');
    });

    test('rejects a body without a content type', async () => {
      const answer = await acme.client.post(payments, small, { headers: { 'content-type': null } });
      expect(answer.code).toBe('unsupported_media_type');
    });

    test.each(['gzip', 'br', 'deflate', 'identity, gzip', ''])(
      'rejects the encoding "%s"',
      async (encoding) => {
        const answer = await acme.client.post(payments, small, { headers: { 'content-encoding': encoding } });
        expect(answer.code).toBe('unsupported_media_type');
      },
    );
  });

  describe('422', () => {
    test.each(['XXX', 'DEM', 'XAU', 'zzz'])('rejects the currency %s as unsupported', async (currency) => {
      const { code, body } = await create({ amount: 1, currency });
      expect(code).toBe('unsupported_currency');
      expect(body.error.param).toBe('/currency');
    });

    test('rejects an unknown customer, and one of another organization', async () => {
      const foreign = await createCustomer(other.client);
      for (const customerId of [unknownCustomer, foreign]) {
        const { code, body } = await create({ ...small, customerId });
        expect(code).toBe('customer_not_found');
        expect(body.error.param).toBe('/customerId');
      }
    });

    test('rejects an archived customer', async () => {
      const customerId = await createCustomer();
      expect((await create({ ...small, customerId })).status).toBe(201);
      await acme.client.post(`${customers}/${customerId}/archive`);
      const { code, body } = await create({ ...small, customerId });
      expect(code).toBe('customer_archived');
      expect(body.error.param).toBe('/customerId');
    });

    test('stores the rejection for its idempotency key and returns it byte for byte', async () => {
      const key = randomUUID();
      const first = await create({ amount: 1, currency: 'XXX' }, key);
      expect(first.status).toBe(422);
      expectReplay(await create({ amount: 1, currency: 'XXX' }, key), first);
    });

    test('rejects an idempotency key reused with another body or another path', async () => {
      const key = randomUUID();
      const first = await create(small, key);
      const before = await paymentCount();
      const otherBody = await create({ ...small, amount: 1251 }, key);
      const otherPath = await acme.client.post(customers, { name: 'Ada' }, { idempotencyKey: key });
      for (const answer of [otherBody, otherPath]) {
        expect(answer.code).toBe('idempotency_key_reused');
        expect(answer.body.error.param).toBe('Idempotency-Key');
        expect(answer.headers).not.toHaveProperty('idempotent-replayed');
      }
      expect(await paymentCount()).toBe(before);
      expectReplay(await create(small, key), first);
    });

    test('a stored rejection also reserves its idempotency key', async () => {
      const key = randomUUID();
      await create({ amount: 1, currency: 'XXX' }, key);
      expect((await create(small, key)).code).toBe('idempotency_key_reused');
    });
  });

  describe('429', () => {
    test('a write above the rate limit is not executed, does not consume its idempotency key, and works later', async () => {
      let now = Date.now();
      const app = openApp(server, { rateLimiter: createRateLimiter(5), wallClock: () => now });
      const client = acme.clientOn(app);
      const before = await paymentCount();
      await Promise.all(Array.from({ length: 10 }, () => client.post(payments, small)));
      const idempotencyKey = randomUUID();
      const refused = await client.post(payments, small, { idempotencyKey });
      expect(refused.code).toBe('rate_limited');
      expect(await paymentCount()).toBe(before + 10);
      now += Number(refused.headers['retry-after']) * 1_000;
      expect((await client.post(payments, small, { idempotencyKey })).status).toBe(201);
    });
  });

  describe('500', () => {
    const broken: ApiWriteRoute = {
      operationId: 'breakPayment',
      method: 'POST',
      path: 'developer_api_broken',
      scope: 'payments:write',
      tag: 'Payments',
      summary: 'Fails',
      response: {},
      responseName: 'Broken',
      target: null,
      command: {
        name: 'payments.break',
        success: 'ok',
        reads: () => [],
        decide: () => {
          throw new Error('secret_detail of hidden_table');
        },
      },
      input: () => ({}),
    };

    test('a command that fails with a bug leaks nothing, and other commands in the batch succeed', async () => {
      const bugs: unknown[] = [];
      const sizes: number[] = [];
      const engine = openEngine(server.database, {
        onBug: (error) => bugs.push(error),
        metrics: { ...unmeasured, batch: (size) => sizes.push(size) },
      });
      const client = acme.clientOn(openApp(server, { engine, routes: [...routes, broken] }));
      await client.get(payments, 'limit=1');
      const key = randomUUID();
      const [before, failed, after] = await Promise.all([
        client.post(payments, small),
        client.post(broken.path, {}, { idempotencyKey: key }),
        client.post(payments, small),
      ]);
      expect(failed.code).toBe('internal_error');
      expect(failed.text).not.toMatch(/secret_detail|hidden_table|Error:|\.ts/);
      expect([before.status, after.status]).toEqual([201, 201]);
      expect(bugs).toHaveLength(1);
      expect(Math.max(...sizes)).toBeGreaterThan(1);
      // A failure is not stored: the same idempotency key works again.
      expect((await client.post(payments, small, { idempotencyKey: key })).status).toBe(201);
    });
  });

  describe('503', () => {
    test('rejects a write when the queue is full; nothing is created, and it works later', async () => {
      const full = openEngine(server.database, { queueMax: 0 });
      const client = acme.clientOn(openApp(server, { engine: full }));
      const before = await paymentCount();
      const idempotencyKey = randomUUID();
      const refused = await client.post(payments, small, { idempotencyKey });
      expect(refused.code).toBe('service_unavailable');
      expect(refused.headers['retry-after']).toBe('1');
      expect(await paymentCount()).toBe(before);
      expect((await client.get(payments)).status).toBe(200);
      expect((await create(small, idempotencyKey)).status).toBe(201);
    });
  });

  describe('a request with two errors reports the earlier check:', () => {
    test('route before key', async () => {
      const anonymous = new ApiClient(server.app, null);
      expect((await anonymous.post('developer_api_nothing', small)).code).toBe('route_not_found');
      expect((await anonymous.send(payments, { method: 'DELETE' })).code).toBe('method_not_allowed');
    });

    test('key before scope, headers and body', async () => {
      const anonymous = new ApiClient(server.app, null);
      const headers = { 'api-version': 'x', 'content-type': 'text/plain' };
      const answer = await anonymous.post(payments, undefined, { raw: '{', headers, idempotencyKey: null });
      expect(answer.code).toBe('api_key_missing');
    });

    test('scope before headers', async () => {
      const { client } = await acme.addKey({ scopes: ['payments:read'] });
      const headers = { 'api-version': 'x' };
      expect((await client.post(payments, small, { headers, idempotencyKey: null })).code).toBe(
        'scope_missing',
      );
      const large = 'x'.repeat(limits.bodyBytesMax + 1);
      expect((await client.post(payments, undefined, { raw: large })).code).toBe('scope_missing');
    });

    test('headers before body', async () => {
      const malformed = { raw: '{' };
      const version = { ...malformed, headers: { 'api-version': 'x' } };
      expect((await acme.client.post(payments, undefined, version)).code).toBe('unsupported_api_version');
      const keyless = { ...malformed, idempotencyKey: null };
      expect((await acme.client.post(payments, undefined, keyless)).code).toBe('idempotency_key_missing');
      const typed = { ...malformed, headers: { 'content-type': 'text/plain' } };
      expect((await acme.client.post(payments, undefined, typed)).code).toBe('unsupported_media_type');
    });

    test('body before semantics', async () => {
      expect((await create({ amount: 0, currency: 'XXX' })).code).toBe('invalid_request');
      expect((await create({ amount: 1, currency: 'EUR', customerId: unknownCustomer, x: 1 })).code).toBe(
        'invalid_request',
      );
    });

    test('body before idempotency key reuse, and that before semantics', async () => {
      const key = randomUUID();
      await create(small, key);
      expect((await create({ amount: 0, currency: 'EUR' }, key)).code).toBe('invalid_request');
      expect((await create({ amount: 1, currency: 'XXX' }, key)).code).toBe('idempotency_key_reused');
    });
  });
});

test('covers the error codes listed for this file', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.payments);
});
