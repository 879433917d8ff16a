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
import { type Answer, type Body, expectEnvelope } from '../support/api-client.ts';
import { effort } from '../support/effort.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
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

/** Requests of one run go out together, so that they share batches: it is both faster and the harder case. */
const requestsInRun = 20;
// Every run of the suite draws others, so that what one leaves out the next ones meet.
const runs = effort(3, 25);
const payments = 'developer_api_payments';
const transfers = 'developer_api_transfers';
const webhooks = 'developer_api_webhooks';
const webhookEvents = 'developer_api_webhook_events';
const faultPlans = 'developer_api_fault_plans';
/** A fault plan that hits nothing: no event of this type comes but by a test, and tests are spared. */
const idlePlan = { on: 'webhooks', fault: { type: 'drop' }, count: 1, eventTypes: ['webhook.tested'] };
const unknownId = 'cus_01m7epxwjmf7za77rhky2f93cc';
/** What a right body may be answered with when it is not done. */
const documented = [404, 409, 422];

const writes = routes.filter((route) => route.method === 'POST');
const reads = routes.filter((route) => route.method === 'GET' && !isStream(route));
const named = <R extends Route>(some: readonly R[]) =>
  some.map((route) => [`${route.method} ${route.path}`, route] as const);
const bodySchema = (route: ApiWriteRoute): JsonSchema =>
  route.body ? jsonSchema(route.body) : { type: 'object', additionalProperties: false };
const querySchema = (route: Route): JsonSchema => {
  const query = route.method === 'GET' ? route.query : undefined;
  return query ? jsonSchema(query) : { type: 'object', additionalProperties: false };
};

describe.each(databaseKinds)('any request on %s', (kind) => {
  let server: Server;
  let acme: Tenant;
  /** Where much is made. What is compared before and after stays small. */
  let busy: Tenant;
  let customerId: string;
  let paymentId: string;
  let refundId: string;
  let disputeId: string;
  let settledOn: string;
  let transferId: string;
  let webhookId: string;
  let eventId: string;
  let deliveryId: string;
  let replayId: string;
  let requestId: string;
  let receiver: Receiver;
  let faultPlanId: string;
  /** Routes of webhooks have an organization each: what one of them makes is not sent to the endpoints of another. */
  const hooked = new Map<string, Promise<Hooked>>();
  let tables: readonly string[];

  beforeAll(async () => {
    server = await sharedServer(kind);
    acme = await tenant(server);
    busy = await tenant(server);
    customerId = (await acme.client.post('developer_api_customers', { name: 'Ada' })).body.id;
    paymentId = await newPayment(acme, 'refund_pending', 'captured');
    refundId = (await acme.client.post(`${payments}/${paymentId}/refund`, { amount: 1 })).body.id;
    const disputed = await acme.client.post(`${payments}/${paymentId}/advance`, { to: 'disputed' });
    disputeId = String(disputed.body.disputeId);
    const settled = await newPayment(acme, 'approve', 'settled');
    settledOn = String((await acme.client.get(`${payments}/${settled}`)).body.settledAt).slice(0, 10);
    transferId = await newTransfer(acme, 'sent');
    receiver = await openReceiver();
    ({ webhookId, eventId, deliveryId, replayId } = await stillWebhook());
    requestId = String((await acme.client.get('developer_api_status')).headers['request-id']);
    faultPlanId = (await acme.client.post(faultPlans, idlePlan)).body.id;
    const named = await server.database.query<{ name: string }>(
      {
        name: '',
        text: `select table_name::text as name from information_schema.columns
          where table_schema = 'public' and column_name = 'org_id' order by 1`,
      },
      [],
    );
    // A refusal is audited, and one by `decide` is kept for its key; besides that it leaves no trace but in the logs of requests.
    const logs = [
      'audit',
      'audit_seals',
      'idempotency',
      'requests',
      'request_minutes',
      'api_key_uses',
      'coverage',
    ];
    tables = named.map(({ name }) => name).filter((name) => !logs.includes(name));
    expect(tables).toContain('payments');
  });
  afterAll(async () => {
    await receiver?.close();
  });

  const likely = (): ExampleValues => ({
    currency: ['EUR', 'jpy'],
    customerId: [customerId, customerId, unknownId],
    paymentId: [paymentId],
    transferId: [transferId],
    amount: [1, 400, 1_000],
    seconds: [1, 60, 86_400],
    date: [settledOn],
    sourceCurrency: ['EUR', 'usd', 'JPY', 'kwd'],
    targetCurrency: ['USD', 'krw', 'EUR', 'BHD'],
    sourceAmount: [1, 1_000],
    targetAmount: [1, 1_000],
    webhookId: [webhookId],
    eventId: [eventId],
    resourceId: [paymentId],
    url: [receiver.url],
    from: ['2026-01-01T00:00:00Z'],
    to: ['2100-01-01T00:00:00Z'],
  });

  const done = async (answer: Promise<Answer>): Promise<Body> => {
    const { status, body, text: words } = await answer;
    expect(status, words).toBeLessThan(300);
    return body;
  };

  /** All that webhooks leave behind, of an endpoint that is disabled: nothing of it moves by itself. */
  async function stillWebhook() {
    const { client } = acme;
    const hook = await done(client.post(webhooks, { url: receiver.url }));
    await done(client.post(`${webhooks}/${hook.id}/disable`));
    const event = await done(client.post(`${webhookEvents}`, { type: 'payment.created' }));
    const window = { from: '2026-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z', select: 'all' };
    const replay = await done(client.post('developer_api_webhook_deliveries/replay', window));
    const [delivery] = (await done(client.get('developer_api_webhook_deliveries'))).data;
    return {
      webhookId: hook.id,
      eventId: event.id,
      deliveryId: delivery?.id ?? '',
      replayId: replay.id,
    };
  }

  interface Hooked extends Tenant {
    /** In turn, enabled ones and disabled ones. */
    readonly hookIds: readonly string[];
    readonly eventId: string;
  }

  async function openHooked(): Promise<Hooked> {
    const holder = await tenant(server);
    const hookIds: string[] = [];
    for (let i = 0; i < 4; i += 1) {
      const { id } = await done(holder.client.post(webhooks, { url: receiver.url, retryProfile: 'none' }));
      if (i % 2 === 1) await done(holder.client.post(`${webhooks}/${id}/disable`));
      hookIds.push(id);
    }
    const event = await done(holder.client.post(webhookEvents, { type: 'payment.created' }));
    return { ...holder, hookIds, eventId: event.id };
  }

  const hookedFor = ({ operationId }: Route): Promise<Hooked> => {
    const holder = hooked.get(operationId) ?? openHooked();
    hooked.set(operationId, holder);
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

  /** A record in a state of its own for each request, so that not all meet one that has ended. */
  async function newRecord(route: Route, state: string): Promise<string> {
    const { path } = route;
    if (!path.includes('{')) return '';
    if (path.startsWith('developer_api_webhook')) {
      const { hookIds, eventId: told } = await hookedFor(route);
      return path.startsWith(webhookEvents) ? told : (hookIds[state.length % hookIds.length] ?? '');
    }
    if (path.startsWith(faultPlans)) {
      const { client } = await hookedFor(route);
      return (await client.post(faultPlans, idlePlan)).body.id;
    }
    if (path.startsWith('developer_api_customers')) {
      return (await busy.client.post('developer_api_customers', { name: 'Ada' })).body.id;
    }
    if (path.startsWith(payments)) return newPayment(busy, 'approve', state);
    if (path.startsWith(transfers)) return newTransfer(busy, transferStates[state] ?? 'quoted');
    const id = await newPayment(busy, 'refund_pending', 'captured');
    const isRefund = path.startsWith('developer_api_refunds');
    const made = await busy.client.post(
      `${payments}/${id}/${isRefund ? 'refund' : 'advance'}`,
      isRefund ? {} : { to: 'disputed' },
    );
    return isRefund ? made.body.id : String(made.body.disputeId);
  }

  /** Sizes and digests of all business rows of the organization. */
  const snapshot = () =>
    server.database.query<{ name: string; size: number; digest: string }>(
      {
        name: '',
        text: tables
          .map(
            (name) => `select '${name}' as name, count(*)::integer as size,
              md5(coalesce(string_agg(t::text, ' ' order by t::text), '')) as digest from ${name} t where org_id = $1`,
          )
          .join(' union all '),
      },
      [acme.orgId],
    );

  const check = <T>(
    values: fc.Arbitrary<T>,
    send: (value: T) => Promise<void>,
    options = { isStill: false },
  ) =>
    fc.assert(
      fc.asyncProperty(
        fc.array(values, { minLength: requestsInRun, maxLength: requestsInRun }),
        async (batch) => {
          const before = options.isStill ? await snapshot() : [];
          await Promise.all(batch.map(send));
          if (options.isStill) expect(await snapshot()).toEqual(before);
        },
      ),
      // Shrinking takes many requests. It ends before the test times out, so that the seed is always printed.
      { numRuns: runs, interruptAfterTimeLimit: 200_000 },
    );

  const fresh = ({ path }: Route) => {
    if (path.startsWith('developer_api_refunds')) return refundId;
    if (path.startsWith('developer_api_disputes')) return disputeId;
    if (path.startsWith('developer_api_settlements')) return settledOn;
    if (path.startsWith(transfers)) return transferId;
    if (path.startsWith(webhookEvents)) return eventId;
    if (path.startsWith('developer_api_webhook_deliveries')) return deliveryId;
    if (path.startsWith('developer_api_webhook_replays')) return replayId;
    if (path.startsWith(webhooks)) return webhookId;
    if (path.startsWith('developer_api_requests')) return requestId;
    if (path.startsWith(faultPlans)) return faultPlanId;
    return path.startsWith(payments) ? paymentId : customerId;
  };
  const pathOf = (route: Route, id: string) => route.path.replace(/\{\w+\}/, id);

  describe.each(named(writes))('%s:', (_name, route) => {
    const schema = bodySchema(route);
    const response = jsonSchema(route.response);

    test('a right body is done, or refused by a documented rule, and the answer is as documented', async () => {
      await check(
        fc.record({
          body: validValues(schema, likely()),
          isKnown: fc.boolean(),
          isExpanded: fc.boolean(),
          state: fc.constantFrom('pending', 'authorized', 'captured', 'settled', 'failed', 'disputed'),
        }),
        async ({ body, isKnown, isExpanded, state }) => {
          const id = isKnown ? await newRecord(route, state) : unknownId;
          const query = isExpanded && route.expandsEntries ? 'expand=ledgerEntries' : '';
          // What is made at random here may befall whatever its application asks for next.
          const { client } = ['Webhooks', 'Faults'].includes(route.tag) ? await hookedFor(route) : busy;
          const answer = await client.post(pathOf(route, id), body, { query });
          // Rules between two fields, which no schema knows: the order of two times, methods that fit operations.
          const between: Readonly<Record<string, string>> = {
            replayWebhookDeliveries: '/to',
            createFaultPlan: '/methods',
          };
          const param = answer.status === 400 ? between[route.operationId] : undefined;
          if (param) return expect(answer.body.error, shown(answer.text)).toMatchObject({ param });
          if (answer.status < 300 && query !== '') expect(answer.body).toHaveProperty('ledgerEntries');
          if (answer.status < 300)
            expect(matchesSchema(response, answer.body), shown(answer.text)).toBe(true);
          else expect(documented, shown(answer.text)).toContain(answer.status);
        },
      );
    });

    test('a wrong body is 400, and nothing changes', async () => {
      await check(
        invalidValues(schema, likely()),
        async (body) => {
          const raw = JSON.stringify(body);
          const answer = await acme.client.post(pathOf(route, fresh(route)), undefined, { raw });
          expect(answer.status, shown(raw)).toBe(400);
        },
        { isStill: true },
      );
    });

    // A record that is not there, or a currency that is none: rules that no schema knows.
    const { currency, sourceCurrency } = schema.properties ?? {};
    const isRefusable = route.path.includes('{') || (currency ?? sourceCurrency) !== undefined;

    test.runIf(isRefusable)('a right body that is refused changes nothing either', async () => {
      const refused = validValues(schema, likely()).map((body) => {
        const fields = body as Record<string, unknown>;
        if ('sourceCurrency' in fields) return { ...fields, sourceCurrency: 'XXX' };
        return 'currency' in fields ? { ...fields, currency: 'XXX' } : body;
      });
      await check(
        refused,
        async (body) => {
          const answer = await acme.client.post(pathOf(route, unknownId), body);
          expect(documented, shown(answer.text)).toContain(answer.status);
        },
        { isStill: true },
      );
    });

    test('a query is 400 unless it is the one that the route takes, and nothing changes', async () => {
      const queries = fc.constantFrom(
        'expand=',
        'expand=all',
        'expand=ledgerEntries&expand=ledgerEntries',
        'x=1',
      );
      await check(
        fc.record({ query: queries, body: validValues(schema, likely()) }),
        async ({ query, body }) => {
          const answer = await acme.client.post(pathOf(route, fresh(route)), body, { query });
          expect(answer.status, query).toBe(400);
        },
        { isStill: true },
      );
    });

    test('any JSON and any bytes are answered, and never as our fault', async () => {
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
      // An empty body is right for a reset, and what it deletes is needed by those behind it.
      const { client } = route === resetRoute ? busy : acme;
      await check(bodies, async (raw) => {
        const answer = await client.post(pathOf(route, unknownId), undefined, { raw });
        expect(answer.status, shown(String(raw))).toBeLessThan(500);
      });
    });
  });

  describe.each(named(reads))('%s:', (_name, route) => {
    const schema = querySchema(route);
    const response = jsonSchema(route.response);

    test('a right query is answered as documented', async () => {
      await check(validValues(schema, likely()), async (query) => {
        const answer = await acme.client.get(pathOf(route, fresh(route)), written(query));
        // The balances of a record need the record, and one alone; everywhere else its id is a filter.
        const named = query as { paymentId?: string; transferId?: string };
        const isBalances = route.operationId === 'getBalances';
        const isMissing =
          (named.paymentId ?? paymentId) !== paymentId || (named.transferId ?? transferId) !== transferId;
        if (isBalances && named.paymentId !== undefined && named.transferId !== undefined)
          expect(answer.body.error, shown(answer.text)).toMatchObject({ param: 'transferId' });
        else if (isBalances && isMissing) expect(answer.status, shown(answer.text)).toBe(404);
        // Three letters are a code; which of them are currencies with a rate is no matter of the schema.
        else if (route.operationId === 'listFxRates' && answer.status !== 200)
          expect(answer.body.error, shown(answer.text)).toMatchObject({
            code: 'invalid_request',
            param: expect.stringMatching(/^(source|target)Currency$/),
          });
        else if (answer.code !== 'invalid_cursor') expect(answer.status, shown(answer.text)).toBe(200);
        if (answer.status === 200)
          expect(matchesSchema(response, answer.body), shown(answer.text)).toBe(true);
      });
    });

    test('a query with an unknown or a repeated parameter, or one out of bounds, is 400', async () => {
      const wrong = fc.oneof(
        fc.tuple(fc.string(), fc.string()).map(([name, value]) => written({ [`x${name}`]: value })),
        fc.constantFrom('limit=0', 'limit=101', 'limit=-1', 'limit=1.5', 'limit=%20', 'status=', 'cursor='),
        fc.constantFrom(
          'limit=1&limit=1',
          'status=a&status=b',
          'createdAfter=x',
          'createdBefore=2026-13-01T00:00:00Z',
        ),
      );
      await check(wrong, async (query) => {
        const answer = await acme.client.get(pathOf(route, fresh(route)), query);
        expect(answer.status, query).toBe(400);
      });
    });
  });

  describe.each(named(routes))('%s:', (_name, route) => {
    test('any id, query and headers are answered with the envelope, and never as our fault', async () => {
      const requests = fc.record({ id: ids, query: queries, headers: headerSets, hasKey: fc.boolean() });
      await check(requests, async ({ id, query, headers, hasKey }) => {
        const response = await server.app.inject({
          // A stream does not end; its head is asked for in the same way, and does.
          method: isStream(route) ? 'HEAD' : route.method,
          url: `/_api/${pathOf(route, id)}${query}`,
          headers: {
            ...(hasKey ? { authorization: `Bearer ${acme.key}` } : {}),
            ...(route.method === 'POST' ? { 'idempotency-key': randomUUID() } : {}),
            ...headers,
          },
          ...(route.method === 'POST' ? { payload: '{}' } : {}),
        });
        expect(response.statusCode, shown(response.body)).toBeLessThan(500);
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

  test('any bytes on the wire are answered with the envelope', async () => {
    const { port } = new URL(await server.listen());
    const bytes = fc
      .uint8Array({ minLength: 1, maxLength: 60 })
      .map((some) => Buffer.from(some).toString('latin1'));
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
      // Line breaks alone are no request yet, so there is nothing to answer.
      if (answer === '' && /^[\r\n]*$/.test(request)) return;
      expect(answer, JSON.stringify(request)).toMatch(/^HTTP\/1\.1 4\d\d /);
      expect(answer.toLowerCase()).toMatch(/\r\nrequest-id: req_/);
      expect(answer.toLowerCase()).toMatch(/\r\napi-version: \d{4}-/);
      expect(answer).toMatch(/\r\n\r\n\{"object":"error","sandbox":true,"requestId":"req_/);
    });
  });
});

/** Where transfers are met that stand beside payments in a state. */
const transferStates: Readonly<Record<string, string>> = {
  authorized: 'accepted',
  captured: 'funded',
  settled: 'completed',
  failed: 'failed',
  disputed: 'returned',
};

/** The beginning of a text, for the message of a failure: the whole of it can be a page of a list. */
function shown(text: string): string {
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

/** Any bytes that a header can carry, as Node hands them over. */
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
