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
import { createTeam, ok } from '../support/visitor.ts';
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
  const expectConsistent = async () => {
    await server.sealer.stop();
    const { checks } = await verify(server.database);
    expect(checks.flatMap(({ name, differences }) => differences.map((one) => ({ name, ...one })))).toEqual(
      [],
    );
  };

  test('by the operator removes every row except the audit trail, which names the actor', async () => {
    const target = await create();
    const other = await create({ name: 'Other' });
    await populate(target.client, receiver.url);
    await populate(other.client, receiver.url);
    const before = await rowsOf(other.orgId);
    const answer = await remove(target.orgId);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({
      object: 'organization',
      status: 'deleted',
      id: target.orgId,
      name: 'Doomed',
    });
    expect((answer.body.deleted as Record<string, number>).payments).toBeGreaterThan(5);

    const left = (await rowsOf(target.orgId)).map(([name]) => name);
    expect(left.filter((name) => deletedTables.includes(name))).toEqual([]);
    const [last] = await server.database.query<{ action: string; actor: string; request: string }>(
      {
        name: '',
        text: `select action, actor_id as actor, request_id as request from audit where org_id = $1 order by id desc limit 1`,
      },
      [target.orgId],
    );
    expect(last).toEqual({
      action: 'organizations.delete',
      actor: 'operator',
      request: answer.headers['request-id'],
    });

    expect((await target.client.get('developer_api_status')).code).toBe('api_key_invalid');
    expect((await target.client.post('developer_api_payments', { amount: 1, currency: 'EUR' })).code).toBe(
      'api_key_invalid',
    );
    expect((await remove(target.orgId)).code).toBe('resource_not_found');
    const listed = (await operator().get('/_operator/organizations', 'limit=100')).body.data;
    expect(listed.map(({ id }) => id)).not.toContain(target.orgId);
    // The other organization's rows may only grow, because its deliveries continue.
    for (const [name, count] of before)
      expect((await countRows(server, other.orgId, [name]))[name]).toBeGreaterThanOrEqual(count);
  });

  test('ends its event streams and sweeps rows that a node wrote afterwards', async () => {
    const target = await create();
    const request = get(`${url}/_api/developer_api_webhook_events/stream`, {
      headers: { authorization: `Bearer ${target.key}`, accept: 'text/event-stream' },
    });
    const [stream] = (await once(request, 'response')) as [IncomingMessage];
    expect(stream.statusCode).toBe(200);
    stream.resume();
    const ended = once(stream, 'end');
    expect((await remove(target.orgId)).status).toBe(200);
    await ended;
    // A node with a stale cache may still write a coverage row.
    await server.database.query(
      { name: '', text: `insert into coverage (org_id, kind, name, met) values ($1, 'event', 'late', 1)` },
      [target.orgId],
    );
    expect(await sweepDeleted(server.database, 0)).toBeGreaterThanOrEqual(1);
    expect((await countRows(server, target.orgId, ['coverage'])).coverage).toBe(0);
  });

  test('a concurrent write is either committed before it or rejected: no row remains', async () => {
    for (let round = 0; round < 5; round += 1) {
      const target = await create();
      const writes = Array.from({ length: 20 }, () =>
        target.client.post('developer_api_payments', { amount: 1, currency: 'EUR' }),
      );
      const [deleted, ...answers] = await Promise.all([remove(target.orgId), ...writes]);
      expect(deleted.status, deleted.text).toBe(200);
      for (const { status } of answers) expect([201, 401, 503]).toContain(status);
      expect((await countRows(server, target.orgId, ['payments', 'ledger_entries', 'events'])).payments).toBe(
        0,
      );
    }
  });

  test('another node that has cached the key writes nothing and drops it within a second', async () => {
    const target = await create();
    const node = openApp(server, { engine: openEngine(server.database) });
    const elsewhere = new ApiClient(node, target.key);
    expect((await elsewhere.get('developer_api_status')).status).toBe(200);
    expect((await remove(target.orgId)).status).toBe(200);
    const deletedAt = performance.now();
    const late = await elsewhere.post('developer_api_payments', { amount: 1, currency: 'EUR' });
    expect([401, 503]).toContain(late.status);
    await expect
      .poll(async () => (await elsewhere.get('developer_api_status')).code, { interval: 50 })
      .toBe('api_key_invalid');
    expect(performance.now() - deletedAt).toBeLessThan(10_000);
    expect((await countRows(server, target.orgId, ['payments'])).payments).toBe(0);
    await node.close();
  });

  test('an earlier snapshot restores it with its key', async () => {
    const target = await create();
    await target.client.post('developer_api_payments', { amount: 1, currency: 'EUR' });
    const { body: snapshot } = await server.app.inject({
      url: `/_operator/organizations/${target.orgId}/snapshot`,
      headers: { authorization: `Bearer ${token}` },
    });
    expect((await remove(target.orgId)).status).toBe(200);
    const answer = await operator().send('/_operator/snapshots', {
      ...{ method: 'POST', raw: snapshot, headers: { 'content-type': 'application/jsonl' } },
    });
    expect(answer.status, answer.text).toBe(201);
    await sweepDeleted(server.database, 0);
    // A node may cache for half a second that the key is unknown.
    await expect
      .poll(async () => (await target.client.get('developer_api_payments')).body.data?.length)
      .toBe(1);
    expect((await target.client.post('developer_api_payments', { amount: 2, currency: 'EUR' })).status).toBe(
      201,
    );
  });

  test('a worker deletes expired organizations and forks', async () => {
    const soon = new Date(Date.now() + 60_000).toISOString();
    const [expiring, permanent] = [await create({ expiresAt: soon }), await create()];
    expect([expiring.expiresAt, permanent.expiresAt]).toEqual([soon, null]);
    const fork = await operator().post(`/_operator/organizations/${permanent.orgId}/fork`, {
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
    expect((await expiring.client.get('developer_api_status')).code).toBe('api_key_invalid');
    expect((await remove(forkId)).code).toBe('resource_not_found');
    expect((await permanent.client.get('developer_api_status')).status).toBe(200);
    const [row] = await server.database.query<{ actor: string }>(
      {
        name: '',
        text: `select actor_id as actor from audit where org_id = $1 and action = 'organizations.delete'`,
      },
      [expiring.orgId],
    );
    expect(row).toEqual({ actor: 'expiry' });
  });

  test('the audit trail of an expired organization is deleted after a week; any other stays', async () => {
    // The server's own rounds would seal the first rows separately.
    await server.sealer.stop();
    const soon = new Date(Date.now() + 60_000).toISOString();
    const [expired, deleted] = [await create({ expiresAt: soon }), await create()];
    for (const { client } of [expired, deleted])
      expect((await client.post('developer_api_payments', { amount: 1, currency: 'EUR' })).status).toBe(201);
    for (const { orgId } of [expired, deleted]) expect((await remove(orgId)).status).toBe(200);
    // As after a kill: no process remembers that it has written to these organizations.
    await new Sealer({ seals: new Seals(server.database), wallClock: Date.now, onError: unexpected }).seal();
    const trailOf = ({ orgId }: { orgId: string }) => countRows(server, orgId, ['audit', 'audit_seals']);
    const [before, other] = [await trailOf(expired), await trailOf(deleted)];
    expect([before.audit_seals, other.audit_seals]).toEqual([1, 1]);
    const { heads } = await verify(server.database);
    expect(heads.map(({ orgId }) => orgId)).toContain(deleted.orgId);
    expect(heads.map(({ orgId }) => orgId)).not.toContain(expired.orgId);

    expect(await forgetTrails(server.database, Date.now() + 6 * dayMs)).toBe(0);
    // The trigger checks the database clock, so a later application time alone deletes nothing.
    await expect(forgetTrails(server.database, Date.now() + 8 * dayMs)).rejects.toThrow(/append-only/);
    expect(await trailOf(expired)).toEqual(before);
    await run(`update deleted_organizations set audit_until = now() where audit_until is not null`);
    expect(await forgetTrails(server.database, Date.now() + 1_000)).toBeGreaterThanOrEqual(before.audit ?? 1);
    expect(await rowsOf(expired.orgId)).toEqual([]);
    expect(await trailOf(deleted)).toEqual(other);
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

  test('by an owner requires the typed name; members lose access, and ledger and seals stay consistent', async () => {
    const acme = await createTeam(server);
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
    await expectConsistent();
  });
});
