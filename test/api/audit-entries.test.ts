import { beforeAll, describe, expect, test } from 'vitest';
import { scopes } from '../../src/kernel/permissions.ts';
import type { Server } from '../../src/server.ts';
import { ApiClient } from '../support/api-client.ts';
import { databaseKinds, openApp, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';
import { createTeam, invite, ok, type Team } from '../support/visitor.ts';

const path = 'developer_api_audit_entries';
const readScopes = scopes.filter((scope) => scope.endsWith(':read'));

interface Entry {
  readonly id: string;
  readonly at: string;
  readonly actor: { readonly kind: string; readonly id: string; readonly name: string | null };
  readonly action: string;
  readonly resource: string | null;
  readonly resourceId: string | null;
  readonly requestId: string;
  readonly applicationId: string | null;
  readonly ip: string | null;
  readonly outcome: string;
}

describe.each(databaseKinds)('the audit log over the API on %s', (kind) => {
  let server: Server;
  let acme: Tenant;
  let paymentId: string;

  beforeAll(async () => {
    server = await sharedServer(kind);
    acme = await tenant(server);
    paymentId = ok(await acme.client.post('developer_api_payments', { amount: 100, currency: 'EUR' })).id;
    await acme.client.post(`developer_api_payments/${paymentId}/advance`, { action: 'refund', amount: 1 });
    const other = await acme.addKey({ application: 'mobile' });
    ok(await other.client.post('developer_api_customers', { name: 'Ada' }));
  });

  const list = async (query = '', { client }: Pick<Tenant, 'client'> = acme) => {
    const { data, ...rest } = ok(await client.get(path, query));
    return { ...rest, data: data as unknown as readonly Entry[] };
  };

  test('200: lists all entries of the organization, newest first', async () => {
    const { data } = await list();
    expect(data[0]?.action).toBe('customers.create');
    expect(data.map(({ id }) => id)).toEqual(
      data
        .map(({ id }) => id)
        .sort()
        .reverse(),
    );
    expect(data.find(({ action }) => action === 'payments.advance')).toEqual({
      object: 'audit_entry',
      sandbox: true,
      status: 'refused',
      id: expect.stringMatching(/^aud_/),
      at: expect.any(String),
      actor: { kind: 'api_key', id: acme.keyId, name: acme.keyName },
      applicationId: acme.appId,
      action: 'payments.advance',
      resource: 'payment',
      resourceId: paymentId,
      requestId: expect.stringMatching(/^req_/),
      ip: '127.0.0.1',
      outcome: 'refused',
      code: 'invalid_state_transition',
    });
    expect(data.at(-1)?.actor).toEqual({ kind: 'system', id: 'seed', name: 'seed' });
  });

  test('200: filters by actor, action, resource, record, request, application, outcome and time', async () => {
    const { data: all } = await list('limit=100');
    const refused = all.find(({ action }) => action === 'payments.advance');
    const cases: [query: string, isFit: (entry: Entry) => boolean][] = [
      [`actorId=${acme.keyId}`, ({ actor }) => actor.id === acme.keyId],
      ['action=payments.create', ({ action }) => action === 'payments.create'],
      ['resource=payment', ({ resource }) => resource === 'payment'],
      [`resourceId=${paymentId}`, ({ resourceId }) => resourceId === paymentId],
      [`requestId=${refused?.requestId}`, ({ requestId }) => requestId === refused?.requestId],
      [`applicationId=${acme.appId}`, ({ applicationId }) => applicationId === acme.appId],
      ['outcome=refused', ({ outcome }) => outcome === 'refused'],
      [
        `resource=payment&outcome=accepted`,
        (one) => one.resource === 'payment' && one.outcome === 'accepted',
      ],
      [`after=${refused?.at}`, ({ at }) => at > (refused?.at ?? '')],
      [`before=${refused?.at}`, ({ at }) => at < (refused?.at ?? '')],
      ['action=nothing', () => false],
    ];
    for (const [query, matches] of cases) {
      const expected = all.filter(matches);
      if (!query.includes('nothing')) expect(expected.length, query).toBeGreaterThan(0);
      expect(expected.length, query).toBeLessThan(all.length);
      expect((await list(`${query}&limit=100`)).data, query).toEqual(expected);
    }
  });

  test('200: pages by cursor; 400: an invalid cursor or filter', async () => {
    const { data: all } = await list('limit=100');
    const paged: Entry[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await list(`limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      expect(page.hasMore).toBe(page.nextCursor !== null);
      paged.push(...page.data);
      cursor = (page.nextCursor as string | null) ?? null;
    }
    expect(paged).toEqual(all);
    expect((await acme.client.get(path, 'cursor=x')).code).toBe('invalid_cursor');
    for (const query of ['limit=0', 'outcome=maybe', 'after=yesterday', 'who=me'])
      expect((await acme.client.get(path, query)).code, query).toBe('invalid_request');
  });

  test('403: listing and verifying require all four read scopes', async () => {
    const reader = await acme.addKey({ scopes: readScopes });
    expect((await list('', reader)).data.length).toBeGreaterThan(0);
    for (const missing of readScopes) {
      const { client } = await acme.addKey({ scopes: readScopes.filter((scope) => scope !== missing) });
      for (const one of [path, `${path}/verify`])
        expect((await client.get(one)).code, missing).toBe('scope_missing');
    }
  });

  test('200: verifies the seals', async () => {
    const answer = await acme.client.get(`${path}/verify`);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({
      object: 'audit_verification',
      status: 'intact',
      problems: [],
      isWhole: true,
    });
  });

  test('concurrent verifications of one organization run once', async () => {
    let now = Date.now();
    const app = openApp(server, { wallClock: () => (now += 1_000) });
    const other = await tenant(server);
    const verify = (key: string) => new ApiClient(app, key).get(`${path}/verify`);
    const [first, second, third] = await Promise.all([verify(acme.key), verify(acme.key), verify(other.key)]);
    expect(first.body.checkedAt).toBe(second.body.checkedAt);
    expect(third.body.checkedAt).not.toBe(first.body.checkedAt);
    expect((await verify(acme.key)).body.checkedAt).not.toBe(first.body.checkedAt);
    await app.close();
  });

  describe('for people', () => {
    let people: Team;
    let client: ApiClient;

    beforeAll(async () => {
      people = await createTeam(server);
      const { owner, orgId, appId } = people;
      await invite(owner, orgId, 'viewer', 'guest@example.test');
      const apiKey = ok(await owner.post(`${orgId}/${appId}/api_keys`, { name: 'ci', scopes: readScopes }));
      client = new ApiClient(server.app, String(apiKey.key));
    });

    test('an API key sees only actor ids: no name, no e-mail address, no IP address', async () => {
      const { data } = await list('limit=100', { client });
      const byPeople = data.filter(({ actor }) => actor.kind === 'person');
      expect(byPeople.map(({ action }) => action)).toContain('invitations.create');
      for (const { actor, ip } of byPeople)
        expect({ name: actor.name, ip }).toEqual({ name: null, ip: null });
      const text = JSON.stringify(data);
      for (const person of [people.owner, people.viewer]) {
        expect(text).not.toContain(person.email);
        expect(text).not.toContain(person.address);
      }
      expect(text).not.toMatch(/@example\.test|Olga/);
    });

    test('a signed-in person sees names and addresses at the same route in the console', async () => {
      const { viewer, owner, orgId, appId } = people;
      const { data } = ok(await viewer.get(`${orgId}/${appId}/${path}?action=invitations.create&limit=1`));
      expect(data[0]).toMatchObject({
        actor: { kind: 'person', id: owner.personId, name: 'Olga' },
        ip: owner.address,
      });
    });
  });
});
