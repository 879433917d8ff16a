import { beforeAll, describe, expect, test } from 'vitest';
import { pendingStatus } from '../../src/engine/answers.ts';
import { claim } from '../../src/http/idempotency.ts';
import { openApiDocument } from '../../src/http/openapi.ts';
import { operationExamples } from '../../src/http/openapi-examples.ts';
import { createRateLimiter } from '../../src/http/rate-limit.ts';
import { isStream, type Route } from '../../src/kernel/route.ts';
import { eventCatalogue, routes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import { type Answer, ApiClient, type Call } from '../support/api-client.ts';
import { met } from '../support/contract-tally.ts';
import { databaseKinds, openApp, openServer, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';
import { playExamples } from './walk.ts';

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
/** Where a record that is not there is named, for those that take none in their path. */
const absent: Readonly<Record<string, string>> = { getBalances: 'paymentId=pay_01m7epxwjmf7za77rhky2f93cc' };
const onRecords = routes.filter(({ path, operationId }) => path.includes('{') || absent[operationId]);

/** What a route was asked in its example; a record that nobody has, where it takes one. */
const pathOf = ({ path }: Route) => path.replace(/\{\w+\}/, 'nobody');
const bodyOf = ({ operationId }: Route) => operationExamples()[operationId]?.request ?? {};

function ask(client: ApiClient, route: Route, call: Call = {}): Promise<Answer> {
  if (route.method === 'GET') return client.send(pathOf(route), { ...call, method: 'GET' });
  return client.send(pathOf(route), { body: bodyOf(route), ...call, method: 'POST' });
}

/**
 * Every answer that the document declares is brought about here, for every operation, and is compared with the document
 * like all answers of all tests. What it declares and nobody can get would be an untruth as well.
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
    asking: (route: Route) => Promise<Answer>,
  ) {
    for (const route of some) {
      const answer = await asking(route);
      expect([answer.status, route.operationId], answer.text).toEqual([status, route.operationId]);
    }
  }

  test('400 to a version that is not known', () =>
    expectAll(routes, 400, (route) => ask(shop.client, route, { headers: { 'api-version': '1999-01-01' } })));

  test('401 without a key', () =>
    expectAll(routes, 401, (route) => ask(new ApiClient(server.app, null), route)));

  test('403 to a claim to be of another organization', () => {
    const headers = { 'sandbank-organization': 'org_01m7epxwjmf7za77rhky2f93cc' };
    return expectAll(routes, 403, (route) => ask(shop.client, route, { headers }));
  });

  test('404 for a record that is not there', () =>
    expectAll(onRecords, 404, (route) =>
      ask(shop.client, route, { query: absent[route.operationId] ?? '' }),
    ));

  test('409 while a request with the same key is under way', () =>
    expectAll(writes, 409, async (route) => {
      const key = `under way: ${route.operationId}`.replaceAll(' ', '-');
      const { fingerprint } = claim(key, 'POST', `/_api/${pathOf(route)}`, bodyOf(route));
      await server.database.query(
        {
          name: '',
          text: `insert into idempotency (org_id, app_id, key, fingerprint, status, body, created_at)
            values ($1, $2, $3, $4, $5, '', now())`,
        },
        [shop.orgId, shop.appId, key, fingerprint, pendingStatus],
      );
      return ask(shop.client, route, { idempotencyKey: key });
    }));

  test('413 to a body that is too large', () =>
    expectAll(writes, 413, (route) => ask(shop.client, route, { raw: `{"a":"${'x'.repeat(300_000)}"}` })));

  test('415 to what is no JSON', () =>
    expectAll(writes, 415, (route) =>
      ask(shop.client, route, { headers: { 'content-type': 'text/plain' } }),
    ));

  test('421 to a host that is not served', () =>
    expectAll(routes, 421, (route) => ask(shop.client, route, { headers: { host: 'evil.test' } })));

  test('422 to a key that was used for something else', async () => {
    const idempotencyKey = 'used';
    await shop.client.post('developer_api_customers', { name: 'Ada' }, { idempotencyKey });
    await expectAll(writes, 422, (route) => ask(shop.client, route, { idempotencyKey }));
  });

  test('429 when there were too many', async () => {
    const app = openApp(server, { rateLimiter: createRateLimiter(1), wallClock: () => 0 });
    const client = shop.clientOn(app);
    for (const _token of [1, 2]) await client.get('developer_api_clock');
    await expectAll(routes, 429, (route) => ask(client, route));
  });

  test('500 when the server has a fault', async () => {
    const fault = () => {
      throw new Error('a fault of ours');
    };
    const app = openApp(server, { reader: { rows: fault, byKey: fault } });
    await expectAll(routes, 500, (route) => ask(shop.clientOn(app), route));
  });

  test('503 when the database is gone', async () => {
    const lost = await openServer(kind);
    const { client } = await tenant(lost);
    await lost.database.close();
    await expectAll(routes, 503, (route) => ask(client, route));
    await lost.app.close();
  });
});

test('no other answer is declared than those and the one of the example', async () => {
  await playExamples();
  // What has no end is no answer of the kind that is compared here: test/api/event-stream-keys.test.ts is about it.
  const endless = routes.filter(isStream).map(({ operationId }) => `${operationId} 200`);
  expect(declared.filter((answer) => !met.has(answer))).toEqual(endless);
});
