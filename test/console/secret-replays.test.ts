import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { DeliveryQueue } from '../../src/delivery/queue.ts';
import { RequestJournal } from '../../src/engine/request-journal.ts';
import { scopes } from '../../src/kernel/permissions.ts';
import type { Server } from '../../src/server.ts';
import { reapOnce } from '../../src/workers/reaper.ts';
import { type Answer, ApiClient } from '../support/api-client.ts';
import { databaseKinds, openApp, sharedServer } from '../support/server.ts';
import {
  auditOf,
  createTeam,
  join,
  newPerson,
  ok,
  type Person,
  type Team,
  type Visitor,
} from '../support/visitor.ts';

const anySecret = /sbk_sandbox_[0-9A-Za-z]{32}|whsec_|\/console\/(invitation|reset)\//;
const nowhere = 'http://127.0.0.1:9/';

interface LoggedRequest {
  readonly id: string;
  readonly route: string;
  readonly idempotencyKey: string | null;
}

describe.each(databaseKinds)('replayed responses with secrets on %s', (kind) => {
  let server: Server;
  let acme: Team;
  let secondOwner: Person;

  beforeAll(async () => {
    server = await sharedServer(kind);
    [acme, secondOwner] = await Promise.all([createTeam(server), newPerson(server, 'Otto')]);
    await join(secondOwner, acme.owner, acme.orgId, 'owner');
  });

  const repeat = (key: string, path: string, body: object) => (by: Visitor) =>
    by.post(path, body, { 'idempotency-key': key });

  function expectWithSecret(answer: Answer, first: Answer): void {
    expect(answer.headers['idempotent-replayed']).toBe('true');
    expect(answer.text, 'the same bytes').toBe(first.text);
    expect(answer.text).toMatch(anySecret);
  }

  function expectWithoutSecret(answer: Answer, first: Answer, ...omitted: readonly string[]): void {
    expect(answer.status, answer.text).toBe(first.status);
    expect(answer.headers['idempotent-replayed']).toBe('true');
    expect(answer.text).not.toMatch(anySecret);
    const left = Object.keys(first.body).filter((name) => !omitted.includes(name));
    expect(Object.keys(answer.body)).toEqual(left);
    expect(answer.body.id).toBe(first.body.id);
  }

  test('an admin cannot replay an invitation that only an owner may create', async () => {
    const send = repeat(randomUUID(), `${acme.orgId}/invitations`, { role: 'owner' });
    const first = await send(acme.owner);
    expect(first.status, first.text).toBe(201);
    const foreign = await send(acme.admin);
    expect(foreign.code, foreign.text).toBe('role_missing');
    expect(foreign.headers['idempotent-replayed']).toBeUndefined();
    const [row] = await auditOf(server, foreign);
    expect(row, 'the rejection is audited').toMatchObject({
      action: 'invitations.create',
      outcome: 'refused',
    });
    expectWithSecret(await send(acme.owner), first);
  });

  test('the owner loses the replay together with the role', async () => {
    const demoted = await newPerson(server, 'Dan');
    await join(demoted, acme.owner, acme.orgId, 'owner');
    const send = repeat(randomUUID(), `${acme.orgId}/invitations`, { role: 'owner' });
    ok(await send(demoted));
    ok(await acme.owner.post(`${acme.orgId}/members/${demoted.memberId}/role`, { role: 'admin' }));
    expect((await send(demoted)).code).toBe('role_missing');
  });

  test('a viewer cannot replay the removal of a member', async () => {
    const member = await newPerson(server, 'Lena');
    await join(member, acme.owner, acme.orgId, 'viewer');
    const send = repeat(randomUUID(), `${acme.orgId}/members/${member.memberId}/remove`, {});
    const first = await send(acme.admin);
    expect(first.status, first.text).toBe(200);
    expect((await send(acme.viewer)).code).toBe('role_missing');
    expect((await send(acme.admin)).text).toBe(first.text);
  });

  test('a role change to owner cannot be replayed by an admin', async () => {
    const member = await newPerson(server, 'Rose');
    await join(member, acme.owner, acme.orgId, 'viewer');
    const send = repeat(randomUUID(), `${acme.orgId}/members/${member.memberId}/role`, { role: 'owner' });
    ok(await send(acme.owner));
    expect((await send(acme.admin)).code).toBe('role_missing');
  });

  test('an invitation link is replayed only to the person who created it', async () => {
    const send = repeat(randomUUID(), `${acme.orgId}/invitations`, { role: 'viewer' });
    const first = await send(acme.owner);
    expectWithoutSecret(await send(acme.admin), first, 'url');
    expectWithSecret(await send(acme.owner), first);
  });

  test('an API key is replayed only to the person who created or rotated it', async () => {
    const place = `${acme.orgId}/${acme.appId}/api_keys`;
    const create = repeat(randomUUID(), place, { name: 'ci', scopes: [...scopes] });
    const created = await create(acme.developer);
    expectWithoutSecret(await create(acme.owner), created, 'key');
    expectWithSecret(await create(acme.developer), created);
    const rotate = repeat(randomUUID(), `${place}/${created.body.id}/rotate`, {});
    const rotated = await rotate(acme.owner);
    expectWithoutSecret(await rotate(acme.developer), rotated, 'key');
    expectWithSecret(await rotate(acme.owner), rotated);
  });

  test('a password reset link is replayed only to the owner who created it', async () => {
    const send = repeat(randomUUID(), `${acme.orgId}/members/${acme.viewer.memberId}/reset_link`, {});
    const first = await send(acme.owner);
    expect(first.status, first.text).toBe(201);
    expectWithoutSecret(await send(secondOwner), first, 'url');
    expectWithSecret(await send(acme.owner), first);
  });

  test('the keys and webhook secrets of a fork are replayed only to the person who forked', async () => {
    ok(await acme.owner.post(`${acme.orgId}/${acme.appId}/developer_api_webhooks`, { url: nowhere }));
    ok(await acme.owner.post(`${acme.orgId}/${acme.appId}/api_keys`, { name: 'ci', scopes: [...scopes] }));
    const send = repeat(randomUUID(), `${acme.orgId}/fork`, { name: 'Copy' });
    const first = await send(acme.owner);
    expect(first.status, first.text).toBe(201);
    expect(first.text).toMatch(/sbk_sandbox_/);
    expect(first.text).toMatch(/whsec_/);
    const foreign = await send(acme.admin);
    expectWithoutSecret(foreign, first);
    const idsOf = (list: unknown) => (list as readonly { id: string }[]).map(({ id }) => id);
    expect(idsOf(foreign.body.apiKeys)).toEqual(idsOf(first.body.apiKeys));
    expect(idsOf(foreign.body.webhooks)).toEqual(idsOf(first.body.webhooks));
    expectWithSecret(await send(acme.owner), first);
  });

  test('a webhook secret is replayed to the API key that created it and to its rotation successor', async () => {
    const place = `${acme.orgId}/${acme.appId}/api_keys`;
    const newKey = async (name: string) => ok(await acme.owner.post(place, { name, scopes: [...scopes] }));
    const [own, other] = [await newKey('own'), await newKey('other')];
    const client = (key: unknown) => new ApiClient(server.app, String(key));
    const idempotencyKey = randomUUID();
    const send = (
      key: unknown,
      body: object = { url: nowhere },
      path = 'developer_api_webhooks',
      sent = idempotencyKey,
    ) => client(key).post(path, body, { idempotencyKey: sent });
    const first = await send(own.key);
    expect(first.status, first.text).toBe(201);
    expectWithSecret(await send(own.key), first);
    expectWithoutSecret(await send(other.key), first, 'secret');
    const rotation = [randomUUID(), { overlapSeconds: 60 }] as const;
    const rotated = await send(
      own.key,
      rotation[1],
      `developer_api_webhooks/${first.body.id}/rotate_secret`,
      rotation[0],
    );
    const path = `developer_api_webhooks/${first.body.id}/rotate_secret`;
    expectWithoutSecret(await send(other.key, rotation[1], path, rotation[0]), rotated, 'secret');
    const successor = ok(await acme.owner.post(`${place}/${own.id}/rotate`, {}));
    expectWithSecret(await send(successor.key), first);
    const unrelated = ok(await acme.owner.post(`${place}/${other.id}/rotate`, {}));
    expectWithoutSecret(await send(unrelated.key), first, 'secret');

    const payment = [{ amount: 100, currency: 'EUR' }, 'developer_api_payments', randomUUID()] as const;
    const paid = await send(own.key, ...payment);
    expect(
      (await send(other.key, ...payment)).text,
      'a response without a secret is replayed to any key',
    ).toBe(paid.text);
  });

  test('a secret is replayed for 30 minutes by the wall clock, and the stored copy is gone within the hour', async () => {
    const minutes = (n: number) => () => Date.now() + n * 60_000;
    const key = randomUUID();
    const keyBody = { name: 'hour', scopes: ['payments:read'] };
    const place = `${acme.orgId}/${acme.appId}`;
    const send = (wallClock: () => number) =>
      repeat(key, `${place}/api_keys`, keyBody)(acme.owner.at(openApp(server, { wallClock })));
    const frozen = ok(await acme.owner.post(`${place}/developer_api_clock/freeze`));
    expect(frozen.status, 'the application clock does not matter').toBe('frozen');
    const first = await send(Date.now);
    expect(first.status, first.text).toBe(201);
    expectWithSecret(await send(minutes(29)), first);
    expectWithoutSecret(await send(minutes(31)), first, 'key');

    const stored = async () => {
      const text = `select body as text from idempotency where org_id = $1 and key = $2 union all
        select sealed_body from idempotency_secrets where org_id = $1 and key = $2`;
      const rows = await server.database.query<{ text: string }>({ name: '', text }, [acme.orgId, key]);
      return rows.map((row) => row.text);
    };
    expect(await stored(), 'with and without the secret').toHaveLength(2);
    const problems: unknown[] = [];
    const { engine, people, database } = server;
    await reapOnce({
      ...{
        engine,
        people,
        queue: new DeliveryQueue(database, 'a test'),
        journal: new RequestJournal(database),
      },
      ...{
        organizations: { expire: async () => 0, sweep: async () => 0, forgetTrails: async () => 0 },
        attemptDays: 30,
        requestDays: 7,
        wallClock: minutes(60),
        onError: (error) => problems.push(error),
      },
    });
    expect(problems).toEqual([]);
    const left = await stored();
    expect(left).toHaveLength(1);
    expect(left[0]).not.toMatch(/sealed|sbk_sandbox_/);
    expectWithoutSecret(await send(Date.now), first, 'key');
  });

  test('a response stored by the previous release, which names no actor, is replayed without its secret', async () => {
    const idempotencyKey = randomUUID();
    const send = repeat(idempotencyKey, `${acme.orgId}/${acme.appId}/api_keys`, {
      ...{ name: 'before', scopes: ['payments:read'] },
    });
    const first = await send(acme.owner);
    const sealed = server.vault.seal(first.text, `${acme.appId} ${idempotencyKey}`);
    const text = 'update idempotency set body = $3 where org_id = $1 and key = $2';
    await server.database.query({ name: '', text }, [acme.orgId, idempotencyKey, sealed]);
    expectWithoutSecret(await send(acme.owner), first, 'key');
  });

  test('the request log does not show the Idempotency-Key of requests whose response has a secret', async () => {
    const place = `${acme.orgId}/${acme.appId}`;
    const sent = {
      createInvitation: repeat('log-invitation', `${acme.orgId}/invitations`, { role: 'owner' }),
      createApiKey: repeat('log-key', `${place}/api_keys`, { name: 'log', scopes: ['payments:read'] }),
      createResetLink: repeat('log-reset', `${acme.orgId}/members/${acme.viewer.memberId}/reset_link`, {}),
      forkOrganization: repeat('log-fork', `${acme.orgId}/fork`, { name: 'Logged' }),
      createWebhook: repeat('log-webhook', `${place}/developer_api_webhooks`, { url: nowhere }),
      createCustomer: repeat('log-customer', `${place}/developer_api_customers`, { name: 'Ada' }),
    };
    // A rejected request has the same key as the later retry that succeeds.
    expect((await sent.createInvitation(acme.admin)).code).toBe('role_missing');
    for (const send of Object.values(sent)) ok(await send(acme.owner));
    const listed = ok(
      await acme.viewer.get(
        `${place}/developer_api_requests?scope=organization&limit=100&actorId=${acme.owner.personId}`,
      ),
    );
    const refused = ok(
      await acme.viewer.get(
        `${place}/developer_api_requests?scope=organization&limit=100&actorId=${acme.admin.personId}`,
      ),
    );
    const ids = [...listed.data, ...refused.data].map(({ id }) => id);
    const logged: LoggedRequest[] = [];
    for (const id of ids)
      logged.push(
        ok(await acme.viewer.get(`${place}/developer_api_requests/${id}`)) as unknown as LoggedRequest,
      );
    expect(logged.filter(({ idempotencyKey }) => idempotencyKey?.startsWith('log-'))).toMatchObject([
      { route: 'createCustomer', idempotencyKey: 'log-customer' },
    ]);
    for (const route of Object.keys(sent))
      expect(
        logged.some((one) => one.route === route),
        route,
      ).toBe(true);
  });
});
