import { beforeAll, describe, expect, test } from 'vitest';
import { scopes } from '../../src/kernel/permissions.ts';
import type { Server } from '../../src/server.ts';
import { ApiClient, type Body } from '../support/api-client.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { createTeam, ok, type Team } from '../support/visitor.ts';

const requests = 'developer_api_requests';
const invited = 'carol@example.test';

interface Logged extends Body {
  readonly actor: { readonly kind: string; readonly id: string; readonly name: string | null };
}

/** The request log contains names, IP addresses and e-mail addresses, which an API key with read scopes must not see. */
describe.each(databaseKinds)('console requests in the request log on %s', (kind) => {
  let server: Server;
  let acme: Team;
  let place: string;
  let client: ApiClient;
  let inviting: string;
  let ownRequest: string;

  beforeAll(async () => {
    server = await sharedServer(kind);
    acme = await createTeam(server);
    place = `${acme.orgId}/${acme.appId}`;
    const { key } = ok(await acme.owner.post(`${place}/api_keys`, { name: 'reader', scopes: [...scopes] }));
    client = new ApiClient(server.app, String(key));
    ownRequest = ok(await client.post('developer_api_customers', { name: 'Ada' })).requestId;
    const invitation = await acme.owner.post(`${acme.orgId}/invitations`, { role: 'viewer', email: invited });
    inviting = ok(invitation).requestId;
    ok(await acme.owner.post(`${place}/developer_api_customers`, { name: 'Bob' }));
    expect((await acme.viewer.post(`${place}/developer_api_customers`, { name: 'X' })).code).toBe(
      'role_missing',
    );
  });

  test.each([
    'scope=organization&limit=100',
    'limit=100',
    'scope=organization&status=4xx&limit=100',
    'scope=organization&errorCode=role_missing',
  ])('an API key does not list them: %s', async (query) => {
    const answer = await client.get(requests, query);
    expect(answer.status, answer.text).toBe(200);
    for (const { actor } of answer.body.data as readonly Logged[]) expect(actor.kind).toBe('api_key');
    for (const hidden of [invited, 'Olga', 'Vera', acme.owner.address, acme.owner.personId])
      expect(answer.text).not.toContain(hidden);
  });

  test('an API key lists requests sent with keys, also when newer console requests precede them', async () => {
    const listed = ok(await client.get(requests, 'scope=organization')).data.map(({ id }) => id);
    expect(listed).toContain(ownRequest);
    const ofPerson = `scope=organization&actorId=${acme.owner.personId}`;
    expect(ok(await client.get(requests, ofPerson)).data).toEqual([]);
    const behind = ok(await client.get(requests, `scope=organization&after=${inviting}`))
      .data as readonly Logged[];
    expect(behind.every(({ actor }) => actor.kind === 'api_key')).toBe(true);
  });

  test('an API key cannot retrieve a console request', async () => {
    expect((await client.get(`${requests}/${inviting}`)).code).toBe('resource_not_found');
    expect(ok(await client.get(`${requests}/${ownRequest}`)).id).toBe(ownRequest);
  });

  test('people see console requests and requests sent with keys', async () => {
    const listed = ok(await acme.viewer.get(`${place}/${requests}?scope=organization&limit=100`))
      .data as readonly Logged[];
    expect(new Set(listed.map(({ actor }) => actor.kind))).toEqual(new Set(['api_key', 'person']));
    expect(ok(await acme.viewer.get(`${place}/${requests}/${inviting}`)).requestBody).toContain(invited);
  });
});
