import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verify } from '../../src/admin/verify.ts';
import { forgetTrails, sweepDeleted } from '../../src/engine/deletion.ts';
import { deletedTables, organizationTables } from '../../src/engine/organization-tables.ts';
import { Seals } from '../../src/engine/seals.ts';
import type { Server } from '../../src/server.ts';
import { Sealer } from '../../src/workers/sealer.ts';
import { ApiClient, type Body } from '../support/api-client.ts';
import { openReceiver, type Receiver, withStatus } from '../support/receiver.ts';
import { databaseKinds, openApp, openEngine, openServer } from '../support/server.ts';
import { house, ok } from '../support/visitor.ts';
import { countRows, populate } from './populate.ts';

const token = 'x'.repeat(40);
const dayMs = 86_400_000;
const unexpected = (error: unknown) => {
  throw error;
};

interface Created extends Body {
  readonly organization: { readonly id: string; readonly name: string };
  readonly expiresAt: string | null;
  readonly apiKey: { readonly id: string; readonly key: string };
}

describe.each(databaseKinds)('deleting an organization on %s', (kind) => {
  let server: Server;
  let url: string;
  let receiver: Receiver;
  beforeAll(async () => {
    server = await openServer(kind, { operatorToken: token });
    url = await server.listen();
    receiver = await openReceiver(withStatus(500));
  });
  afterAll(async () => {
    await server?.close();
    await receiver?.close();
  });

  const operator = () => new ApiClient(server.app, token);
  const create = async (body: object = {}) => {
    const answer = await operator().post('/_operator/organizations', { name: 'Doomed', ...body });
    expect(answer.status, answer.text).toBe(201);
    const { organization, apiKey, expiresAt } = answer.body as Created;
    return {
      expiresAt,
      orgId: organization.id,
      client: new ApiClient(server.app, apiKey.key),
      key: apiKey.key,
    };
  };
  const run = (text: string) => server.database.query({ name: '', text }, []);
  const remove = (orgId: string) => operator().post(`/_operator/organizations/${orgId}/delete`);
  const everyTable = organizationTables.map(({ name }) => name);
  const rowsOf = async (orgId: string) =>
    Object.entries(await countRows(server, orgId, everyTable)).filter(([, count]) => count > 0);
  const expectSound = async () => {
    await server.sealer.stop();
    const { checks } = await verify(server.database);
    expect(checks.flatMap(({ name, differences }) => differences.map((one) => ({ name, ...one })))).toEqual(
      [],
    );
  };

  test('by the operator: every row goes except for the audit trail, which says who did it', async () => {
    const doomed = await create();
    const other = await create({ name: 'Other' });
    await populate(doomed.client, receiver.url);
    await populate(other.client, receiver.url);
    const before = await rowsOf(other.orgId);
    const answer = await remove(doomed.orgId);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({
      object: 'organization',
      status: 'deleted',
      id: doomed.orgId,
      name: 'Doomed',
    });
    expect((answer.body.deleted as Record<string, number>).payments).toBeGreaterThan(5);

    const left = (await rowsOf(doomed.orgId)).map(([name]) => name);
    expect(left.filter((name) => deletedTables.includes(name))).toEqual([]);
    const [last] = await server.database.query<{ action: string; actor: string; request: string }>(
      {
        name: '',
        text: `select action, actor_id as actor, request_id as request from audit where org_id = $1 order by id desc limit 1`,
      },
      [doomed.orgId],
    );
    expect(last).toEqual({
      action: 'organizations.delete',
      actor: 'operator',
      request: answer.headers['request-id'],
    });

    expect((await doomed.client.get('developer_api_status')).code).toBe('api_key_invalid');
    expect((await doomed.client.post('developer_api_payments', { amount: 1, currency: 'EUR' })).code).toBe(
      'api_key_invalid',
    );
    expect((await remove(doomed.orgId)).code).toBe('resource_not_found');
    const listed = (await operator().get('/_operator/organizations', 'limit=100')).body.data;
    expect(listed.map(({ id }) => id)).not.toContain(doomed.orgId);
    // What the neighbour has may only grow: its deliveries go on.
    for (const [name, count] of before)
      expect((await countRows(server, other.orgId, [name]))[name]).toBeGreaterThanOrEqual(count);
  });

  test('streams of its keys end, and what a node wrote afterwards is swept', async () => {
    const doomed = await create();
    const request = get(`${url}/_api/developer_api_webhook_events/stream`, {
      headers: { authorization: `Bearer ${doomed.key}`, accept: 'text/event-stream' },
    });
    const [stream] = (await once(request, 'response')) as [IncomingMessage];
    expect(stream.statusCode).toBe(200);
    stream.resume();
    const ended = once(stream, 'end');
    expect((await remove(doomed.orgId)).status).toBe(200);
    await ended;
    // As a node does that counts for a moment longer.
    await server.database.query(
      { name: '', text: `insert into coverage (org_id, kind, name, met) values ($1, 'event', 'late', 1)` },
      [doomed.orgId],
    );
    expect(await sweepDeleted(server.database, 0)).toBeGreaterThanOrEqual(1);
    expect((await countRows(server, doomed.orgId, ['coverage'])).coverage).toBe(0);
  });

  test('a write that is on its way comes before it, or is refused: no row comes back', async () => {
    for (let round = 0; round < 5; round += 1) {
      const doomed = await create();
      const writes = Array.from({ length: 20 }, () =>
        doomed.client.post('developer_api_payments', { amount: 1, currency: 'EUR' }),
      );
      const [deleted, ...answers] = await Promise.all([remove(doomed.orgId), ...writes]);
      expect(deleted.status, deleted.text).toBe(200);
      for (const { status } of answers) expect([201, 401, 503]).toContain(status);
      expect((await countRows(server, doomed.orgId, ['payments', 'ledger_entries', 'events'])).payments).toBe(
        0,
      );
    }
  });

  test('another node, which still remembers the key, writes nothing and forgets it within a second', async () => {
    const doomed = await create();
    const node = openApp(server, { engine: openEngine(server.database) });
    const elsewhere = new ApiClient(node, doomed.key);
    expect((await elsewhere.get('developer_api_status')).status).toBe(200);
    expect((await remove(doomed.orgId)).status).toBe(200);
    const deletedAt = performance.now();
    const late = await elsewhere.post('developer_api_payments', { amount: 1, currency: 'EUR' });
    expect([401, 503]).toContain(late.status);
    await expect
      .poll(async () => (await elsewhere.get('developer_api_status')).code, { interval: 50 })
      .toBe('api_key_invalid');
    expect(performance.now() - deletedAt).toBeLessThan(10_000);
    expect((await countRows(server, doomed.orgId, ['payments'])).payments).toBe(0);
    await node.close();
  });

  test('a snapshot from before brings it back, with its key', async () => {
    const doomed = await create();
    await doomed.client.post('developer_api_payments', { amount: 1, currency: 'EUR' });
    const { body: snapshot } = await server.app.inject({
      url: `/_operator/organizations/${doomed.orgId}/snapshot`,
      headers: { authorization: `Bearer ${token}` },
    });
    expect((await remove(doomed.orgId)).status).toBe(200);
    const answer = await operator().send('/_operator/snapshots', {
      ...{ method: 'POST', raw: snapshot, headers: { 'content-type': 'application/jsonl' } },
    });
    expect(answer.status, answer.text).toBe(201);
    await sweepDeleted(server.database, 0);
    // A node may remember for half a second that the key is unknown.
    await expect
      .poll(async () => (await doomed.client.get('developer_api_payments')).body.data?.length)
      .toBe(1);
    expect((await doomed.client.post('developer_api_payments', { amount: 2, currency: 'EUR' })).status).toBe(
      201,
    );
  });

  test('organizations may expire, and so may forks: a worker deletes them', async () => {
    const soon = new Date(Date.now() + 60_000).toISOString();
    const [mortal, lasting] = [await create({ expiresAt: soon }), await create()];
    expect([mortal.expiresAt, lasting.expiresAt]).toEqual([soon, null]);
    const fork = await operator().post(`/_operator/organizations/${lasting.orgId}/fork`, {
      name: 'Copy',
      expiresAt: soon,
    });
    const forkId = (fork.body as Created).organization.id;
    expect(await server.operator.expire()).toBe(0);
    await server.database.query(
      {
        name: '',
        text: `update organizations set expires_at = now() - interval '1 second' where expires_at is not null`,
      },
      [],
    );
    expect(await server.operator.expire()).toBe(2);
    expect((await mortal.client.get('developer_api_status')).code).toBe('api_key_invalid');
    expect((await remove(forkId)).code).toBe('resource_not_found');
    expect((await lasting.client.get('developer_api_status')).status).toBe(200);
    const [row] = await server.database.query<{ actor: string }>(
      {
        name: '',
        text: `select actor_id as actor from audit where org_id = $1 and action = 'organizations.delete'`,
      },
      [mortal.orgId],
    );
    expect(row).toEqual({ actor: 'expiry' });
  });

  test('the trail of an expired organization goes after a week, and that of any other stays', async () => {
    const soon = new Date(Date.now() + 60_000).toISOString();
    const [expired, deleted] = [await create({ expiresAt: soon }), await create()];
    for (const { client } of [expired, deleted])
      expect((await client.post('developer_api_payments', { amount: 1, currency: 'EUR' })).status).toBe(201);
    for (const { orgId } of [expired, deleted]) expect((await remove(orgId)).status).toBe(200);
    // As after a kill: no process knows any more that it has written to these organizations.
    await new Sealer({ seals: new Seals(server.database), wallClock: Date.now, onError: unexpected }).seal();
    const trailOf = ({ orgId }: { orgId: string }) => countRows(server, orgId, ['audit', 'audit_seals']);
    const [before, kept] = [await trailOf(expired), await trailOf(deleted)];
    expect([before.audit_seals, kept.audit_seals]).toEqual([1, 1]);
    const { heads } = await verify(server.database);
    expect(heads.map(({ orgId }) => orgId)).toContain(deleted.orgId);
    expect(heads.map(({ orgId }) => orgId)).not.toContain(expired.orgId);

    expect(await forgetTrails(server.database, Date.now() + 6 * dayMs)).toBe(0);
    // Not even in a week, as long as the database does not agree that it is over.
    await expect(forgetTrails(server.database, Date.now() + 8 * dayMs)).rejects.toThrow(/append-only/);
    expect(await trailOf(expired)).toEqual(before);
    await run(`update deleted_organizations set audit_until = now() where audit_until is not null`);
    expect(await forgetTrails(server.database, Date.now() + 1_000)).toBeGreaterThanOrEqual(before.audit ?? 1);
    expect(await rowsOf(expired.orgId)).toEqual([]);
    expect(await trailOf(deleted)).toEqual(kept);
    for (const table of ['audit', 'audit_seals'])
      await expect(run(`delete from ${table} where org_id = '${deleted.orgId}'`)).rejects.toThrow(
        /append-only/,
      );
    expect(await forgetTrails(server.database, Date.now() + 1_000)).toBe(0);
  });

  test.each(['2020-01-01T00:00:00Z', '2999-01-01T00:00:00Z', 'tomorrow', ''])(
    '400: expiresAt %j',
    async (expiresAt) => {
      const body = { name: 'x', expiresAt };
      const answer = await operator().post('/_operator/organizations', body);
      expect(answer.code).toBe('invalid_request');
      expect(answer.body.error.param).toBe('/expiresAt');
      const { orgId } = await create();
      expect((await operator().post(`/_operator/organizations/${orgId}/fork`, body)).code).toBe(
        'invalid_request',
      );
    },
  );

  test('404 and 401: an unknown organization, and an API key instead of the token', async () => {
    for (const id of ['org_01m7epxwjmf7za77rhky2f93cc', 'nonsense'])
      expect((await remove(id)).code).toBe('resource_not_found');
    const { client, orgId } = await create();
    expect((await client.post(`/_operator/organizations/${orgId}/delete`)).code).toBe(
      'operator_token_invalid',
    );
  });

  test('by an owner with the name typed; members lose access, and the books and seals stay sound', async () => {
    const acme = await house(server);
    const path = `${acme.orgId}/organization/delete`;
    const { name } = ok(await acme.owner.get(`${acme.orgId}/organization`)) as Body & { name: string };
    expect((await acme.admin.post(path, { name })).code).toBe('role_missing');
    for (const wrong of ['', name.toUpperCase(), `${name} `]) {
      const refused = await acme.owner.post(path, { name: wrong });
      expect(refused.status, refused.text).toBeGreaterThanOrEqual(400);
    }
    expect((await acme.owner.post(path, { name: 'Another' })).code).toBe('organization_name_mismatch');
    expect((await acme.viewer.get(`${acme.orgId}/organization`)).status).toBe(200);
    ok(await acme.owner.post(path, { name }));
    for (const person of [acme.owner, acme.viewer]) {
      expect((await person.get(`${acme.orgId}/organization`)).status).toBe(404);
      const { organizations } = ok(await person.get('session')) as unknown as {
        organizations: { id: string }[];
      };
      expect(organizations.map(({ id }) => id)).not.toContain(acme.orgId);
    }
    await expectSound();
  });
});
