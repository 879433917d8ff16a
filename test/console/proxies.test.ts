import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import { openApp, openServer } from '../support/server.ts';
import { tenant } from '../support/tenant.ts';
import { auditOf, goodPassword, newPerson, ok, Visitor } from '../support/visitor.ts';

const proxy = '10.1.2.3';
const client = '198.51.100.7';
const status = '/_api/developer_api_status';

/** One setting decides for all features whether `X-Forwarded-For` is trusted. */
let server: Server;
let plain: Server['app'];

beforeAll(async () => {
  server = await openServer('pglite', { trustedProxies: ['10.0.0.0/8'] });
  plain = openApp(server);
});
afterAll(() => server?.close());

const from = (address: string, forwarded: string, app = server.app) => {
  const visitor = Object.assign(new Visitor(app), { address });
  visitor.headers = { ...visitor.headers, 'x-forwarded-for': forwarded };
  return visitor;
};

test('the allowed networks of a key are matched against the client behind a trusted proxy', async () => {
  const acme = await tenant(server, { allowedCidrs: [`${client}/32`] });
  const statusFrom = (remoteAddress: string, forwarded: string, app = server.app) =>
    acme.clientOn(app).get(status, '', { remoteAddress, headers: { 'x-forwarded-for': forwarded } });
  expect((await statusFrom(proxy, client)).status).toBe(200);
  expect((await statusFrom(proxy, `203.0.113.9, ${client}`)).status).toBe(200);
  expect((await statusFrom(proxy, `${client}, 203.0.113.9`)).code, 'the client claims another address').toBe(
    'ip_not_allowed',
  );
  expect((await statusFrom('192.0.2.1', client)).code, 'not a trusted proxy').toBe('ip_not_allowed');
  expect((await statusFrom(proxy, 'unknown')).code).toBe('ip_not_allowed');
  expect((await statusFrom(proxy, client, plain)).code, 'the server trusts no proxy').toBe('ip_not_allowed');
});

test('the audit trail, the request log and the list of sessions name the client', async () => {
  const acme = await tenant(server);
  const headers = { 'x-forwarded-for': `203.0.113.9, ${client}` };
  const body = { name: 'Ada' };
  const created = await acme.client.post('/_api/developer_api_customers', body, {
    remoteAddress: proxy,
    headers,
  });
  expect(created.status, created.text).toBe(201);
  expect((await auditOf(server, created)).map(({ ip }) => ip)).toEqual([client]);
  await server.requestLog.flush();
  const rows = await server.database.query<{ ip: string }>(
    { name: '', text: 'select ip from requests where id = $1' },
    [created.headers['request-id']],
  );
  expect(rows).toEqual([{ ip: client }]);

  const person = from(proxy, client);
  const { email } = await newPerson(server, 'Ada');
  ok(await person.post('session/sign_in', { email, password: goodPassword }));
  const devices = (await person.get('session/devices')).body.data;
  expect(devices.find(({ isCurrent }) => isCurrent)?.ip).toBe(client);
});

test('people behind one proxy do not share the sign-in budget', async () => {
  const { email } = await newPerson(server, 'Grace');
  const attacker = from(proxy, '203.0.113.66');
  for (let i = 0; i < 10; i += 1)
    expect((await attacker.post('session/sign_in', { email, password: 'a wrong horse' })).code).toBe(
      'sign_in_failed',
    );
  const spoofed = from(proxy, '203.0.113.67, 203.0.113.66');
  expect((await spoofed.post('session/sign_in', { email, password: goodPassword })).code).toBe(
    'rate_limited',
  );
  expect((await from(proxy, client).post('session/sign_in', { email, password: goodPassword })).status).toBe(
    200,
  );
});
