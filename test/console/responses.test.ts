import { beforeAll, describe, expect, test } from 'vitest';
import { consolePrefix } from '../../src/http/console-routes.ts';
import { routes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import { Authenticator, origin } from '../support/authenticator.ts';
import { consoleFaultsOf, itemFaultsOf } from '../support/console-check.ts';
import { metInConsole } from '../support/contract-tally.ts';
import { servedRoutes } from '../support/served-routes.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import {
  createTeam,
  goodPassword,
  invite,
  join,
  newPerson,
  ok,
  type Team,
  tokenOf,
  totp,
  Visitor,
} from '../support/visitor.ts';

const newPassword = 'a new horse battery';
const scopes = ['payments:read', 'payments:write'];

/**
 * Successful responses of every route that only the console has. As in all tests, each response is compared with the declared
 * schema; here the list of routes is complete.
 */
describe.each(databaseKinds)('on %s, the declared schema describes the response', (kind) => {
  let server: Server;
  let acme: Team;
  let org: string;
  let app: string;

  beforeAll(async () => {
    metInConsole.clear();
    server = await sharedServer(kind);
    acme = await createTeam(server);
    org = acme.orgId;
    app = `${org}/${acme.appId}`;
  });

  test('to account requests', async () => {
    const ada = await newPerson(server);
    ok(await ada.get('session'));
    ok(await ada.post('session/profile', { name: 'Ada Lovelace' }));
    ok(await ada.post('session/password', { currentPassword: goodPassword, newPassword }));
    const other = new Visitor(server.app);
    ok(await other.post('session/sign_in', { email: ada.email, password: newPassword }));
    const { data } = ok(await ada.get('session/devices'));
    const others = data.filter(({ isCurrent }) => isCurrent === false);
    expect(others).toHaveLength(1);
    ok(await ada.post(`session/devices/${others[0]?.id}/revoke`));
    ok(await ada.post('session/devices/revoke_others'));

    const { secret } = ok(await ada.post('session/two_factor/enable', { password: newPassword }));
    const earlier = totp(String(secret), Date.now() - 30_000);
    ok(await ada.post('session/two_factor/confirm', { code: earlier }));
    const waiting = await other.post('session/sign_in', { email: ada.email, password: newPassword });
    expect(waiting.body.status).toBe('two_factor_required');
    ok(await other.post('session/two_factor', { code: totp(String(secret)) }));
    ada.headers = { ...ada.headers, host: 'localhost', origin };
    const authenticator = new Authenticator();
    const created = ok(await ada.post('session/passkeys/options', { password: newPassword })).options;
    const passkey = { name: 'Laptop', response: authenticator.create(created as never) };
    ok(await ada.post('session/passkeys', passkey));
    const [stored] = ok(await ada.get('session/passkeys')).data;
    const signingIn = new Visitor(server.app);
    signingIn.headers = { ...signingIn.headers, host: 'localhost', origin };
    const requested = ok(await signingIn.post('session/passkey_options')).options;
    ok(await signingIn.post('session/passkey', { response: authenticator.get(requested as never) }));
    ok(await ada.post(`session/passkeys/${stored?.id}/remove`));

    ok(await ada.post('session/two_factor/backup_codes', { password: newPassword }));
    ok(await ada.post('session/two_factor/disable', { password: newPassword }));
    ok(await ada.post('session/email', { email: `new.${ada.email}`, password: newPassword }));
    expect(ok(await ada.get('session/history')).data).not.toEqual([]);
    ok(await ada.post('session/sign_out'));
    expect(ok(await ada.get('session')).person).toBeNull();
  });

  test('to requests about people', async () => {
    const { owner } = acme;
    const { id } = await invite(owner, org, 'viewer', 'grace@example.test');
    ok(await owner.get(`${org}/invitations`));
    ok(await owner.post(`${org}/invitations/${id}/revoke`));
    const { token } = await invite(owner, org, 'viewer');
    ok(await new Visitor(server.app).get(`session/invitations/${token}`));
    const joined = await newPerson(server, 'Joan', { invitation: token });
    const linus = await newPerson(server, 'Linus');
    await join(linus, owner, org, 'viewer');
    ok(await owner.get(`${org}/members`));
    ok(await owner.post(`${org}/members/${linus.memberId}/role`, { role: 'developer' }));
    const { url } = ok(await owner.post(`${org}/members/${joined.memberId}/reset_link`));
    ok(await new Visitor(server.app).post('session/password_reset', { token: tokenOf(url), newPassword }));
    ok(await owner.post(`${org}/members/${linus.memberId}/remove`));
  });

  test('to requests about applications and API keys', async () => {
    const { owner } = acme;
    const { id } = ok(await owner.post(`${org}/applications`, { name: 'mobile' }));
    const settings = { provider: 'meridian', fx: { rates: { 'EUR/USD': '1.25' } } };
    ok(await owner.post(`${org}/applications/${id}/update`, settings));
    ok(await owner.get(`${org}/applications`));
    ok(await owner.get(`${org}/applications/${id}`));
    ok(await owner.post(`${org}/applications/${id}/archive`));
    ok(await owner.post(`${org}/applications/${id}/restore`));

    const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
    const key = ok(await owner.post(`${app}/api_keys`, { name: 'ci', scopes, expiresAt }));
    ok(await owner.post(`${app}/api_keys/${key.id}/update`, { allowedCidrs: ['10.0.0.0/8'] }));
    const rotated = ok(await owner.post(`${app}/api_keys/${key.id}/rotate`, {}));
    ok(await owner.get(`${app}/api_keys`));
    ok(await owner.post(`${app}/api_keys/${rotated.id}/revoke`));
  });

  test('to requests for views', async () => {
    const { owner } = acme;
    const payment = { amount: 1_250, currency: 'EUR', reference: 'order-1', scenario: 'refund_pending' };
    const { id } = ok(await owner.post(`${app}/developer_api_payments`, payment));
    ok(await owner.post(`${app}/developer_api_payments/${id}/advance`, { to: 'captured' }));
    const refund = ok(await owner.post(`${app}/developer_api_payments/${id}/refund`, { amount: 100 }));
    await owner.get(`${app}/developer_api_payments/missing`);
    for (const subject of [id, refund.id])
      expect(ok(await owner.get(`${app}/timeline/${subject}`)).items).not.toEqual([]);
    for (const q of [id, 'order-1', acme.appId]) ok(await owner.get(`${app}/search?q=${q}`));
    for (const resource of ['payment', 'refund', 'dispute', 'transfer', 'customer'])
      ok(await owner.get(`${app}/counts?resource=${resource}`));
    const customer = ok(await owner.post(`${app}/developer_api_customers`, { name: 'Ada' }));
    ok(await owner.get(`${app}/customer_names?ids=${customer.id}`));
    ok(await owner.get(`${app}/next_actions?ids=${id}`));
    const pair = 'sourceCurrency=EUR&targetCurrency=JPY';
    for (const query of ['fixedSide=source&amount=25000', 'fixedSide=target&amount=44645'])
      expect(ok(await owner.get(`${app}/transfer_preview?${pair}&${query}`))).toMatchObject({
        ...{ sourceAmount: 25_000, feeAmount: 125, totalAmount: 25_125, targetAmount: 44_645 },
      });
    for (const query of ['', '?range=1h', '?range=30d&time=sandbox', '?time=real'])
      ok(await owner.get(`${app}/overview${query}`));
    ok(await owner.get(`${app}/attention`));
    expect(ok(await owner.get(`${app}/schedule`)).items).not.toEqual([]);
    ok(await owner.get(`${app}/request_errors`));
    const webhook = ok(await owner.post(`${app}/developer_api_webhook_inbox`));
    ok(await owner.post(`${app}/developer_api_webhooks/${webhook.id}/test`));
    expect(ok(await owner.get(`${app}/deliveries?webhookId=${webhook.id}`)).data).toHaveLength(1);
    const cases = ['valid_signature'];
    ok(await owner.post(`${app}/developer_api_webhooks/${webhook.id}/examine`, { cases }));
    expect(ok(await owner.get(`${app}/webhooks/${webhook.id}/examinations`)).report).not.toBeNull();
    for (const query of ['', '?kind=change', '?kind=read']) ok(await owner.get(`${org}/audit${query}`));
    ok(await owner.get(`${org}/audit/values?kind=change`));
    ok(await owner.get(`${org}/audit/verification`));
  });

  test('to requests about the organization', async () => {
    const { owner } = acme;
    ok(await owner.post(`${org}/organization/rename`, { name: 'Acme' }));
    ok(await owner.get(`${org}/organization`));
    const webhooks = `${app}/developer_api_webhooks`;
    const webhook = ok(await owner.post(webhooks, { url: 'https://127.0.0.1:9/hooks' }));
    ok(await owner.post(`${webhooks}/${webhook.id}/reveal_secret`, { password: goodPassword }));
    ok(await owner.get(`${app}/webhooks/${webhook.id}/statistics?range=1h`));
    const fork = ok(await owner.post(`${org}/fork`, { name: 'Copy' }));
    expect(fork.apiKeys).not.toEqual([]);
    ok(await owner.post(`${org}/reset`, { name: 'Acme' }));
    ok(await owner.post(`${org}/organization/two_factor`, { isRequired: false }));
    // The file is not JSON, which the visitor expects.
    const cookie = [...owner.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...owner.headers, cookie };
    const url = `${consolePrefix}${org}/snapshot`;
    const snapshot = await server.app.inject({ url, headers });
    expect(snapshot.statusCode).toBe(200);
    const restored = await server.app.inject({
      ...{ method: 'POST', url, query: { into: 'new', name: 'Restored' }, payload: snapshot.body },
      headers: { ...headers, 'content-type': 'application/jsonl' },
    });
    expect(restored.statusCode, restored.body).toBe(201);
    const { organization } = fork as unknown as { organization: { id: string } };
    ok(await owner.post(`${organization.id}/organization/delete`, { name: 'Copy' }));
  });

  test('to every other request: no route is missing above', () => {
    const inApi = new Set(routes.map(({ method, path }) => `${method} :orgId/:appId/${withColons(path)}`));
    const own = servedRoutes(server.app, consolePrefix)
      .map(({ method, path }) => `${method} ${path}`)
      .filter((route) => !inApi.has(route));
    // A stream has no end; test/console/streams.test.ts compares its events.
    const expected = own.filter((route) => !route.endsWith('/event_stream'));
    expect(expected.length).toBeGreaterThan(40);
    expect([...metInConsole].filter((route) => !route.startsWith('HEAD ')).sort()).toEqual(expected.sort());
  });
});

function withColons(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

describe('the comparison reports', () => {
  const requestId = 'req_01kd3rn3c0e008000000000001';
  const organization = {
    ...{ object: 'organization', sandbox: true, requestId, status: 'active' },
    ...{ id: 'org_01kd3rn3c0e008000000000001', name: 'Acme' },
    requiresTwoFactor: false,
    ...{ createdAt: '2026-11-15T09:30:00.000Z', updatedAt: '2026-11-15T09:30:00.000Z' },
  };
  const declared = { responseName: 'Organization' };
  const faults = (more: object, status = 200) =>
    consoleFaultsOf(declared, status, JSON.stringify({ ...organization, ...more })).join('\n');

  test('nothing for a correct response', () => {
    expect(faults({})).toBe('');
  });

  test.each<[string, object, string]>([
    ['an undeclared field', { colour: 'red' }, 'additional properties (colour)'],
    ['a missing field', { name: undefined }, "'name'"],
    ['another status', { status: 'deleted' }, '/status'],
    ['an instant in another format', { createdAt: '2026-11-15T09:30:00Z' }, '/createdAt'],
    ['a body without requestId', { requestId: undefined }, 'no requestId'],
  ])('%s', (_name, more, fault) => {
    expect(faults(more)).toContain(fault);
  });

  test('an error code of another status', () => {
    expect(faults({ error: { code: 'role_missing' } }, 409)).toContain('role_missing is not an error');
  });

  test('an undeclared field of an item', () => {
    const list = { object: 'list', sandbox: true, requestId, status: 'ok', hasMore: false, nextCursor: null };
    const data = [{ object: 'device_session', colour: 'red' }];
    expect(itemFaultsOf('DeviceSessionList', { ...list, data }).join()).toContain('colour');
  });
});
