import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiWriteRoute, isStream, type Route } from '../../src/kernel/route.ts';
import { routes } from '../../src/resources/index.ts';
import { resetRoute } from '../../src/resources/organizations/reset-api.ts';
import type { Server } from '../../src/server.ts';
import { type Answer, type Body, expectEnvelope, expectOk } from '../support/api-client.ts';
import { effort } from '../support/effort.ts';
import {
  createPopulatedTenant,
  idlePlan,
  type PopulatedTenant,
  pathOf,
  rowDigestsOf,
  tablesExcept,
  traces,
} from '../support/populated-tenant.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { RouteRecords } from '../support/route-records.ts';
import {
  type ExampleValues,
  invalidValues,
  type JsonSchema,
  jsonSchema,
  matchesSchema,
  validValues,
} from '../support/schema-values.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

/** Requests of one run are sent concurrently, so that they share batches: this is faster and also the harder case. */
const requestsInRun = 20;
// Each run of the suite draws new values, so that later runs cover the cases that one run misses.
const runs = effort(3, 25);
const payments = 'developer_api_payments';
const transfers = 'developer_api_transfers';
const webhooks = 'developer_api_webhooks';
const webhookEvents = 'developer_api_webhook_events';
const faultPlans = 'developer_api_fault_plans';
const unknownId = 'cus_01m7epxwjmf7za77rhky2f93cc';
/** Documented rejections of a valid body. */
const documented = [404, 409, 422];

const writes = routes.filter((route) => route.method === 'POST');
const reads = routes.filter((route) => route.method === 'GET' && !isStream(route));
const named = <R extends Route>(selected: readonly R[]) =>
  selected.map((route) => [`${route.method} ${route.path}`, route] as const);
const bodySchema = (route: ApiWriteRoute): JsonSchema =>
  route.body ? jsonSchema(route.body) : { type: 'object', additionalProperties: false };
const querySchema = (route: Route): JsonSchema => {
  const query = route.method === 'GET' ? route.query : undefined;
  return query ? jsonSchema(query) : { type: 'object', additionalProperties: false };
};

describe.each(databaseKinds)('any request on %s', (kind) => {
  let server: Server;
  let acme: PopulatedTenant;
  /** For tests that create many records, so that the before and after snapshots of `acme` stay small. */
  let busy: Tenant;
  let records: RouteRecords;
  let receiver: Receiver;
  /** Each webhook route has a separate organization, so that events of one are not sent to the endpoints of another. */
  const webhookTenants = new Map<string, Promise<WebhookTenant>>();
  let tables: readonly string[];

  beforeAll(async () => {
    server = await sharedServer(kind);
    acme = await createPopulatedTenant(server);
    busy = await tenant(server);
    records = new RouteRecords({
      post: async (path, body) => expectOk(await busy.client.post(path, body)),
      get: async (path, query) => expectOk(await busy.client.get(path, query)),
    });
    receiver = await openReceiver();
    // A rejection is audited, and one by `decide` is stored for its idempotency key; otherwise only the request log
    // has a row.
    tables = await tablesExcept(server, [...traces, 'audit_seals']);
  });
  afterAll(async () => {
    await receiver?.close();
  });

  const exampleValues = (): ExampleValues => ({
    currency: ['EUR', 'jpy'],
    customerId: [acme.ids.customers, acme.ids.customers, unknownId],
    paymentId: [acme.ids.payments],
    transferId: [acme.ids.transfers],
    amount: [1, 400, 1_000],
    seconds: [1, 60, 86_400],
    date: [acme.ids.settlements],
    sourceCurrency: ['EUR', 'usd', 'JPY', 'kwd'],
    targetCurrency: ['USD', 'krw', 'EUR', 'BHD'],
    sourceAmount: [1, 1_000],
    targetAmount: [1, 1_000],
    webhookId: [acme.ids.webhooks],
    eventId: [acme.ids.webhook_events],
    resourceId: [acme.ids.payments],
    url: [receiver.url],
    from: ['2026-01-01T00:00:00Z'],
    to: ['2100-01-01T00:00:00Z'],
  });

  interface WebhookTenant extends Tenant {
    /** Alternately enabled and disabled. */
    readonly webhookIds: readonly string[];
    readonly eventId: string;
  }

  async function openWebhookTenant(): Promise<WebhookTenant> {
    const holder = await tenant(server);
    const webhookIds: string[] = [];
    for (let i = 0; i < 4; i += 1) {
      const { id } = expectOk(
        await holder.client.post(webhooks, { url: receiver.url, retryProfile: 'none' }),
      );
      if (i % 2 === 1) expectOk(await holder.client.post(`${webhooks}/${id}/disable`));
      webhookIds.push(id);
    }
    const event = expectOk(await holder.client.post(webhookEvents, { type: 'payment.created' }));
    return { ...holder, webhookIds, eventId: event.id };
  }

  const webhookTenantFor = ({ operationId }: Route): Promise<WebhookTenant> => {
    const holder = webhookTenants.get(operationId) ?? openWebhookTenant();
    webhookTenants.set(operationId, holder);
    return holder;
  };

  async function newPayment({ client }: Tenant, scenario: string, to: string): Promise<string> {
    const body = { amount: 1_000, currency: 'EUR', scenario };
    const { id } = (await client.post(payments, body)).body;
    if (to !== 'pending') {
      const reached = await client.post(`${payments}/${id}/advance`, { to });
      expect(reached.status, reached.text).toBe(200);
    }
    return id;
  }

  async function newTransfer({ client }: Tenant, to: string): Promise<string> {
    const beneficiary = { name: 'Grace' };
    const body = { sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 10_000, beneficiary };
    const { id } = (await client.post(transfers, body)).body;
    if (to !== 'quoted') {
      const reached = await client.post(`${transfers}/${id}/advance`, { to });
      expect(reached.status, reached.text).toBe(200);
    }
    return id;
  }

  /** A new record in the given state for each request, so that not all requests reach a final one. */
  async function newRecord(route: Route, state: string): Promise<string> {
    const { path } = route;
    if (!path.includes('{')) return '';
    if (path.startsWith('developer_api_webhook')) {
      const { webhookIds, eventId: webhookEventId } = await webhookTenantFor(route);
      return path.startsWith(webhookEvents)
        ? webhookEventId
        : (webhookIds[state.length % webhookIds.length] ?? '');
    }
    if (path.startsWith(faultPlans)) {
      const { client } = await webhookTenantFor(route);
      return (await client.post(faultPlans, idlePlan)).body.id;
    }
    if (path.startsWith(payments)) return newPayment(busy, 'approve', state);
    if (path.startsWith(transfers)) return newTransfer(busy, transferStates[state] ?? 'quoted');
    return records.idFor(path);
  }

  const snapshot = () => rowDigestsOf(server, acme.orgId, tables);

  const check = <T>(
    values: fc.Arbitrary<T>,
    send: (value: T) => Promise<void>,
    options = { mustNotChange: false },
  ) =>
    fc.assert(
      fc.asyncProperty(
        fc.array(values, { minLength: requestsInRun, maxLength: requestsInRun }),
        async (batch) => {
          const before = options.mustNotChange ? await snapshot() : [];
          await Promise.all(batch.map(send));
          if (options.mustNotChange) expect(await snapshot()).toEqual(before);
        },
      ),
      // Shrinking takes many requests. The limit ends it before the test times out, so that the seed is always
      // printed.
      { numRuns: runs, interruptAfterTimeLimit: 200_000 },
    );

  const pathWith = (route: Route, id: string) => route.path.replace(/\{\w+\}/, id);

  describe.each(named(writes))('%s:', (_name, route) => {
    const schema = bodySchema(route);
    const response = jsonSchema(route.response);

    test('a valid body succeeds or is rejected by a documented rule, and the response matches the schema', async () => {
      await check(
        fc.record({
          body: validValues(schema, exampleValues()),
          isKnown: fc.boolean(),
          isExpanded: fc.boolean(),
          state: fc.constantFrom('pending', 'authorized', 'captured', 'settled', 'failed', 'disputed'),
        }),
        async ({ body, isKnown, isExpanded, state }) => {
          const id = isKnown ? await newRecord(route, state) : unknownId;
          const query = isExpanded && route.expandsEntries ? 'expand=ledgerEntries' : '';
          // Random webhooks and fault plans would affect later requests of the same application.
          const { client } = ['Webhooks', 'Faults'].includes(route.tag)
            ? await webhookTenantFor(route)
            : busy;
          const answer = await client.post(pathWith(route, id), body, { query });
          // Rules between two fields that the schema does not express: the order of two times, methods that fit
          // operations.
          const between: Readonly<Record<string, string>> = {
            replayWebhookDeliveries: '/to',
            createFaultPlan: '/methods',
          };
          const param = answer.status === 400 ? between[route.operationId] : undefined;
          if (param) return expect(answer.body.error, excerpt(answer.text)).toMatchObject({ param });
          if (answer.status < 300 && query !== '') expect(answer.body).toHaveProperty('ledgerEntries');
          if (answer.status < 300)
            expect(matchesSchema(response, answer.body), excerpt(answer.text)).toBe(true);
          else expect(documented, excerpt(answer.text)).toContain(answer.status);
        },
      );
    });

    test('an invalid body gets 400 and changes nothing', async () => {
      await check(
        invalidValues(schema, exampleValues()),
        async (body) => {
          const raw = JSON.stringify(body);
          const answer = await acme.client.post(pathOf(route, acme.ids), undefined, { raw });
          expect(answer.status, excerpt(raw)).toBe(400);
        },
        { mustNotChange: true },
      );
    });

    // An unknown record or an unsupported currency: rules that the schema does not express.
    const { currency, sourceCurrency } = schema.properties ?? {};
    const isRefusable = route.path.includes('{') || (currency ?? sourceCurrency) !== undefined;

    test.runIf(isRefusable)('a valid body that is rejected changes nothing', async () => {
      const refused = validValues(schema, exampleValues()).map((body) => {
        const fields = body as Record<string, unknown>;
        if ('sourceCurrency' in fields) return { ...fields, sourceCurrency: 'XXX' };
        return 'currency' in fields ? { ...fields, currency: 'XXX' } : body;
      });
      await check(
        refused,
        async (body) => {
          const answer = await acme.client.post(pathWith(route, unknownId), body);
          expect(documented, excerpt(answer.text)).toContain(answer.status);
        },
        { mustNotChange: true },
      );
    });

    test("any query other than the route's own gets 400 and changes nothing", async () => {
      const queries = fc.constantFrom(
        'expand=',
        'expand=all',
        'expand=ledgerEntries&expand=ledgerEntries',
        'x=1',
      );
      await check(
        fc.record({ query: queries, body: validValues(schema, exampleValues()) }),
        async ({ query, body }) => {
          const answer = await acme.client.post(pathOf(route, acme.ids), body, { query });
          expect(answer.status, query).toBe(400);
        },
        { mustNotChange: true },
      );
    });

    test('any JSON and any bytes get a response below 500', async () => {
      const bodies = fc.oneof(
        fc.json(),
        fc
          .jsonValue()
          .map((value) => JSON.stringify({ amount: 1, currency: 'EUR', name: 'Ada', metadata: value })),
        fc.string({ unit: 'binary' }),
        fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
        fc
          .array(fc.constantFrom(...'{}[]",:\\u0e-.19tfn \n'), { maxLength: 60 })
          .map((signs) => signs.join('')),
      );
      // An empty body is valid for a reset, and it would delete the records of later requests.
      const { client } = route === resetRoute ? busy : acme;
      await check(bodies, async (raw) => {
        const answer = await client.post(pathWith(route, unknownId), undefined, { raw });
        expect(answer.status, excerpt(String(raw))).toBeLessThan(500);
      });
    });
  });

  describe.each(named(reads))('%s:', (_name, route) => {
    const schema = querySchema(route);
    const response = jsonSchema(route.response);

    test('a valid query gets a response that matches the schema', async () => {
      await check(validValues(schema, exampleValues()), async (query) => {
        const answer = await acme.client.get(pathOf(route, acme.ids), written(query));
        // The balances filter requires exactly one record id; everywhere else the id is an optional filter.
        const named = query as { paymentId?: string; transferId?: string };
        const isBalances = route.operationId === 'getBalances';
        const { payments: paymentId, transfers: transferId } = acme.ids;
        const isMissing =
          (named.paymentId ?? paymentId) !== paymentId || (named.transferId ?? transferId) !== transferId;
        if (isBalances && named.paymentId !== undefined && named.transferId !== undefined)
          expect(answer.body.error, excerpt(answer.text)).toMatchObject({ param: 'transferId' });
        else if (isBalances && isMissing) expect(answer.status, excerpt(answer.text)).toBe(404);
        // The schema accepts any three letters; it does not know which currencies have a rate.
        else if (route.operationId === 'listFxRates' && answer.status !== 200)
          expect(answer.body.error, excerpt(answer.text)).toMatchObject({
            code: 'invalid_request',
            param: expect.stringMatching(/^(source|target)Currency$/),
          });
        else if (answer.code !== 'invalid_cursor') expect(answer.status, excerpt(answer.text)).toBe(200);
        if (answer.status === 200)
          expect(matchesSchema(response, answer.body), excerpt(answer.text)).toBe(true);
      });
    });

    test('a query with an unknown, repeated or out-of-range parameter gets 400', async () => {
      const invalidQueries = fc.oneof(
        fc.tuple(fc.string(), fc.string()).map(([name, value]) => written({ [`x${name}`]: value })),
        fc.constantFrom('limit=0', 'limit=101', 'limit=-1', 'limit=1.5', 'limit=%20', 'status=', 'cursor='),
        fc.constantFrom(
          'limit=1&limit=1',
          'status=a&status=b',
          'createdAfter=x',
          'createdBefore=2026-13-01T00:00:00Z',
        ),
      );
      await check(invalidQueries, async (query) => {
        const answer = await acme.client.get(pathOf(route, acme.ids), query);
        expect(answer.status, query).toBe(400);
      });
    });
  });

  describe.each(named(routes))('%s:', (_name, route) => {
    test('any id, query and headers get the response envelope and a status below 500', async () => {
      const requests = fc.record({ id: ids, query: queries, headers: headerSets, hasKey: fc.boolean() });
      await check(requests, async ({ id, query, headers, hasKey }) => {
        const response = await server.app.inject({
          // A stream does not end; a HEAD request uses the same route and does.
          method: isStream(route) ? 'HEAD' : route.method,
          url: `/_api/${pathWith(route, id)}${query}`,
          headers: {
            ...(hasKey ? { authorization: `Bearer ${acme.key}` } : {}),
            ...(route.method === 'POST' ? { 'idempotency-key': randomUUID() } : {}),
            ...headers,
          },
          ...(route.method === 'POST' ? { payload: '{}' } : {}),
        });
        expect(response.statusCode, excerpt(response.body)).toBeLessThan(500);
        const isJson = String(response.headers['content-type']).startsWith('application/json');
        if (isJson && !isStream(route)) {
          const answer = {
            status: response.statusCode,
            headers: response.headers as Answer['headers'],
            text: '',
          };
          expectEnvelope(answer, JSON.parse(response.body) as Body);
        }
      });
    });
  });

  test('any bytes on the connection get the response envelope', async () => {
    const { port } = new URL(await server.listen());
    const bytes = fc
      .uint8Array({ minLength: 1, maxLength: 60 })
      .map((bytes) => Buffer.from(bytes).toString('latin1'));
    const requests = fc.oneof(
      bytes,
      bytes.map((path) => `GET /_api/developer_api_payments/${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`),
      bytes.map((name) => `GET /_api/developer_api_status HTTP/1.1\r\nHost: localhost\r\n${name}: x\r\n\r\n`),
      bytes.map(
        (value) =>
          `GET /_api/developer_api_status HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${value}\r\n\r\n`,
      ),
    );
    await check(requests, async (request) => {
      const socket = connect(Number(port), '127.0.0.1');
      await once(socket, 'connect');
      socket.end(Buffer.from(request, 'latin1'));
      const answer = await text(socket);
      // Line breaks alone are not a request yet, so there is no response.
      if (answer === '' && /^[\r\n]*$/.test(request)) return;
      expect(answer, JSON.stringify(request)).toMatch(/^HTTP\/1\.1 4\d\d /);
      expect(answer.toLowerCase()).toMatch(/\r\nrequest-id: req_/);
      expect(answer.toLowerCase()).toMatch(/\r\napi-version: \d{4}-/);
      expect(answer).toMatch(/\r\n\r\n\{"object":"error","sandbox":true,"requestId":"req_/);
    });
  });
});

/** The transfer state that corresponds to a payment state. */
const transferStates: Readonly<Record<string, string>> = {
  authorized: 'accepted',
  captured: 'funded',
  settled: 'completed',
  failed: 'failed',
  disputed: 'returned',
};

/** The beginning of a text for a failure message: a whole list page would be too long. */
function excerpt(text: string): string {
  return text.slice(0, 500);
}

function written(query: unknown): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query as Record<string, unknown>))
    parameters.set(name, String(value));
  return parameters.toString();
}

const ids = fc.oneof(
  fc.constant(unknownId),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }).map(encodeURIComponent),
  fc
    .array(
      fc.constantFrom('%', '/', '.', '..', '?', '#', ';', '\\', '%00', '%2F', '%ff', '%E0%A4', 'a', '0', '+'),
      {
        minLength: 1,
        maxLength: 12,
      },
    )
    .map((parts) => parts.join('')),
  fc.integer({ min: 1_000, max: 9_000 }).map((length) => 'a'.repeat(length)),
);

const queries = fc.oneof(
  fc.constant(''),
  fc.webQueryParameters().map((query) => `?${query}`),
  fc.string({ unit: 'binary', maxLength: 40 }).map((query) => `?${encodeURIComponent(query)}`),
  fc
    .tuple(
      fc.constantFrom('limit', 'cursor', 'status', 'customerId', 'createdAfter'),
      fc.string({ unit: 'binary' }),
    )
    .map(([name, value]) => `?${name}=${encodeURIComponent(value)}`),
  fc
    .array(fc.constantFrom('&', '=', '%', '%00', 'limit', '[', ']', '1', '+', 'ä'))
    .map((parts) => `?${parts.join('')}`),
);

/** Any bytes that a header can carry, as Node passes them. */
const headerValues = fc.oneof(
  fc
    .uint8Array({ maxLength: 60 })
    .map((bytes) =>
      Buffer.from(bytes.map((byte) => (byte < 0x20 || byte === 0x7f ? 0x20 : byte))).toString('latin1'),
    ),
  fc.constantFrom(
    '',
    '0',
    '-1',
    '1e9',
    'application/json',
    'Bearer',
    'Bearer x',
    '"',
    '""',
    'identity',
    '*/*',
  ),
);

const headerSets = fc.dictionary(
  fc.constantFrom(
    ...['authorization', 'idempotency-key', 'api-version', 'sandbank-organization', 'content-type', 'accept'],
    ...['content-encoding', 'content-length', 'x-forwarded-for', 'host', 'cookie', 'range', 'x-request-id'],
  ),
  headerValues,
  { maxKeys: 4, noNullPrototype: true },
);
