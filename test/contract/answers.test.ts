import { beforeAll, describe, expect, test } from 'vitest';
import { pendingStatus } from '../../src/engine/answers.ts';
import { claim } from '../../src/http/idempotency.ts';
import { openApiDocument } from '../../src/http/openapi.ts';
import { readExamples } from '../../src/http/openapi-examples.ts';
import { createRateLimiter } from '../../src/http/rate-limit.ts';
import { isStream, type Route } from '../../src/kernel/route.ts';
import { eventCatalogue, routes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import { type Answer, ApiClient, type Call } from '../support/api-client.ts';
import { met } from '../support/contract-tally.ts';
import { databaseKinds, openApp, openServer, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';
import { runExamples } from './walk.ts';

interface Operations {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<Record<string, { operationId: string; responses: Readonly<Record<string, unknown>> }>>
    >
  >;
}

const { paths } = openApiDocument(routes, eventCatalogue, '') as unknown as Operations;
const declared = Object.values(paths)
  .flatMap((methods) => Object.values(methods))
  .flatMap(({ operationId, responses }) =>
    Object.keys(responses).map((status) => `${operationId} ${status}`),
  );

const writes = routes.filter(({ method }) => method === 'POST');
/** The query that names a missing record, for operations without an id in the path. */
const absent: Readonly<Record<string, string>> = { getBalances: 'paymentId=pay_01m7epxwjmf7za77rhky2f93cc' };
const onRecords = routes.filter(({ path, operationId }) => path.includes('{') || absent[operationId]);

const examples = readExamples();
/** The request of the route's example; ids in the path are of a record that does not exist. */
const pathOf = ({ path }: Route) => path.replace(/\{\w+\}/, 'missing');
const bodyOf = ({ operationId }: Route) => examples[operationId]?.request ?? {};

function send(client: ApiClient, route: Route, call: Call = {}): Promise<Answer> {
  if (route.method === 'GET') return client.send(pathOf(route), { ...call, method: 'GET' });
  return client.send(pathOf(route), { body: bodyOf(route), ...call, method: 'POST' });
}

/**
 * Provokes every declared response of every operation. Like all responses in all tests, each is compared with the document.
 * A declared response that cannot occur would be an error in the document too.
 */
describe.each(databaseKinds)('on %s every operation answers with', (kind) => {
  let server: Server;
  let shop: Tenant;

  beforeAll(async () => {
    server = await sharedServer(kind);
    shop = await tenant(server);
  });

  async function expectAll(
    some: readonly Route[],
    status: number,
    request: (route: Route) => Promise<Answer>,
  ) {
    for (const route of some) {
      const answer = await request(route);
      expect([answer.status, route.operationId], answer.text).toEqual([status, route.operationId]);
    }
  }

  test('400 for an unknown API version', () =>
    expectAll(routes, 400, (route) =>
      send(shop.client, route, { headers: { 'api-version': '1999-01-01' } }),
    ));

  test('401 without a key', () =>
    expectAll(routes, 401, (route) => send(new ApiClient(server.app, null), route)));

  test('403 for the header of another organization', () => {
    const headers = { 'sandbank-organization': 'org_01m7epxwjmf7za77rhky2f93cc' };
    return expectAll(routes, 403, (route) => send(shop.client, route, { headers }));
  });

  test('404 for a missing record', () =>
    expectAll(onRecords, 404, (route) =>
      send(shop.client, route, { query: absent[route.operationId] ?? '' }),
    ));

  test('409 while a request with the same key is in progress', () =>
    expectAll(writes, 409, async (route) => {
      const key = `in progress: ${route.operationId}`.replaceAll(' ', '-');
      const { fingerprint } = claim(key, 'POST', `/_api/${pathOf(route)}`, bodyOf(route));
      await server.database.query(
        {
          name: '',
          text: `insert into idempotency (org_id, app_id, key, fingerprint, status, body, created_at)
            values ($1, $2, $3, $4, $5, '', now())`,
        },
        [shop.orgId, shop.appId, key, fingerprint, pendingStatus],
      );
      return send(shop.client, route, { idempotencyKey: key });
    }));

  test('413 for a body that is too large', () =>
    expectAll(writes, 413, (route) => send(shop.client, route, { raw: `{"a":"${'x'.repeat(300_000)}"}` })));

  test('415 for a body that is not JSON', () =>
    expectAll(writes, 415, (route) =>
      send(shop.client, route, { headers: { 'content-type': 'text/plain' } }),
    ));

  test('421 for an unknown host', () =>
    expectAll(routes, 421, (route) => send(shop.client, route, { headers: { host: 'evil.test' } })));

  test('422 for a key used with another request', async () => {
    const idempotencyKey = 'used';
    await shop.client.post('developer_api_customers', { name: 'Ada' }, { idempotencyKey });
    await expectAll(writes, 422, (route) => send(shop.client, route, { idempotencyKey }));
  });

  test('429 above the rate limit', async () => {
    const app = openApp(server, { rateLimiter: createRateLimiter(1), wallClock: () => 0 });
    const client = shop.clientOn(app);
    for (const _token of [1, 2]) await client.get('developer_api_clock');
    await expectAll(routes, 429, (route) => send(client, route));
  });

  test('500 after an unexpected error', async () => {
    const failing = () => {
      throw new Error('unexpected error');
    };
    const app = openApp(server, { reader: { rows: failing, first: failing, byKey: failing, page: failing } });
    await expectAll(routes, 500, (route) => send(shop.clientOn(app), route));
  });

  test('503 without a database connection', async () => {
    const lost = await openServer(kind);
    const { client } = await tenant(lost);
    await lost.database.close();
    await expectAll(routes, 503, (route) => send(client, route));
    await lost.app.close();
  });
});

test('no other response is declared, apart from the one in the example', async () => {
  await runExamples();
  // Streams never end and are not compared here: test/api/event-stream-keys.test.ts covers them.
  const streams = routes.filter(isStream).map(({ operationId }) => `${operationId} 200`);
  expect(declared.filter((answer) => !met.has(answer))).toEqual(streams);
});
