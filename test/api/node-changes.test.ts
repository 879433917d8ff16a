import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { scopes } from '../../src/kernel/permissions.ts';
import type { Server } from '../../src/server.ts';
import { ApiClient } from '../support/api-client.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { openReceiver } from '../support/receiver.ts';
import { openServer } from '../support/server.ts';
import { expectVisibleInTime, promisedMs } from '../support/visible-in-time.ts';
import {
  createApplication,
  createOrganization,
  join,
  newPerson,
  ok,
  type Person,
} from '../support/visitor.ts';

const payments = 'developer_api_payments';
const small = { amount: 10_000, currency: 'EUR' };

/** An application with a key, and clients on both nodes. Each case changes one thing through node A. */
interface Shop {
  readonly orgId: string;
  readonly appId: string;
  readonly keyId: string;
  readonly onA: ApiClient;
  readonly onB: ApiClient;
}

describe('changes on one node, on PostgreSQL', () => {
  let [a, b, worker]: Server[] = [];
  let owner: Person;
  let orgId = '';

  beforeAll(async () => {
    const settings = {
      databaseUrl: await migratedDatabase(inject('postgresUrl')),
      secret: randomBytes(32).toString('hex'),
    };
    a = await openServer('postgres', { ...settings, role: 'api' });
    b = await openServer('postgres', { ...settings, role: 'api' });
    worker = await openServer('postgres', { ...settings, role: 'worker' });
    owner = await newPerson(a, 'Olga');
    orgId = await createOrganization(owner);
  });
  afterAll(async () => {
    for (const server of [a, b, worker]) await server?.close();
  });

  const nodes = () => {
    if (!a || !b) throw new Error('the nodes are not running');
    return { a, b };
  };

  async function shop(name: string): Promise<Shop> {
    const appId = await createApplication(owner, orgId, name);
    const keyInput = { name, scopes: [...scopes] };
    const apiKey = ok(await owner.post(`${orgId}/${appId}/api_keys`, keyInput)) as unknown as {
      id: string;
      key: string;
    };
    const clients = {
      onA: new ApiClient(nodes().a.app, apiKey.key),
      onB: new ApiClient(nodes().b.app, apiKey.key),
    };
    return { orgId, appId, keyId: apiKey.id, ...clients };
  }

  const isRefused =
    (code: string, client: ApiClient, path = payments) =>
    async () =>
      (await client.get(path, 'limit=1')).code === code;

  test('revoking, rotating or restricting a key applies on the other nodes within a second', async () => {
    const cases: readonly (readonly [string, (shop: Shop) => Promise<unknown>])[] = [
      ['api_key_revoked', ({ appId, keyId }) => owner.post(`${orgId}/${appId}/api_keys/${keyId}/revoke`)],
      [
        'api_key_expired',
        ({ appId, keyId }) => owner.post(`${orgId}/${appId}/api_keys/${keyId}/rotate`, { overlapSeconds: 0 }),
      ],
      [
        'scope_missing',
        ({ appId, keyId }) =>
          owner.post(`${orgId}/${appId}/api_keys/${keyId}/update`, { scopes: ['customers:read'] }),
      ],
      [
        'ip_not_allowed',
        ({ appId, keyId }) =>
          owner.post(`${orgId}/${appId}/api_keys/${keyId}/update`, { allowedCidrs: ['10.9.8.7/32'] }),
      ],
      ['api_key_revoked', ({ appId }) => owner.post(`${orgId}/applications/${appId}/archive`)],
    ];
    const delays = await Promise.all(
      cases.map(async ([code, change], i) => {
        const one = await shop(`case ${i}`);
        return expectVisibleInTime(isRefused(code, one.onB), async () => {
          ok((await change(one)) as Parameters<typeof ok>[0]);
          // The node that received the change applies it at once.
          expect((await one.onA.get(payments)).code).toBe(code);
        });
      }),
    );
    console.log(`the last stale responses began ${delays.map(Math.round).join(', ')} ms after the change`);
  });

  test('settings and fault plans apply on the other nodes within a second, clocks at once', async () => {
    const [fees, faults, times] = [await shop('fees'), await shop('faults'), await shop('times')];
    await Promise.all([
      expectVisibleInTime(
        async () => {
          const { body } = await fees.onB.post(payments, small);
          const moved = await fees.onB.post(`${payments}/${body.id}/advance`, { to: 'captured' });
          return moved.body.feeAmount === 777;
        },
        () =>
          owner
            .post(`${orgId}/applications/${fees.appId}/update`, { fee: { basisPoints: 0, fixedAmount: 777 } })
            .then(ok),
      ),
      (async () => {
        let id = '';
        const isHit = async () => (await faults.onB.get(payments, 'limit=1')).status === 503;
        await expectVisibleInTime(isHit, async () => {
          const fault = { type: 'error', code: 'service_unavailable' };
          const plan = { on: 'requests', fault, share: 100, operations: ['listPayments'] };
          id = ok(await faults.onA.post('developer_api_fault_plans', plan)).id;
        });
        await expectVisibleInTime(
          async () => !(await isHit()),
          () => faults.onA.post(`developer_api_fault_plans/${id}/cancel`).then(ok),
        );
      })(),
      (async () => {
        ok(await times.onB.post(payments, small));
        for (let day = 1; day <= 3; day += 1) {
          const { body } = await times.onA.post('developer_api_clock/advance', { seconds: 86_400 });
          const created = ok(await times.onB.post(payments, small));
          expect(Date.parse(String(created.createdAt))).toBeGreaterThanOrEqual(Date.parse(String(body.now)));
          const [onA, onB] = [
            ok(await times.onA.get('developer_api_clock')),
            ok(await times.onB.get('developer_api_clock')),
          ];
          expect(Number(onB.offsetSeconds)).toBeGreaterThan(day * 86_400 - 60);
          // Whole seconds of a running clock, rounded at two different times.
          expect(Math.abs(Number(onB.offsetSeconds) - Number(onA.offsetSeconds))).toBeLessThanOrEqual(1);
        }
      })(),
    ]);
  });

  test('after a URL change or a disable, the worker sends nothing to the old endpoint within a second', async () => {
    const one = await shop('hooks');
    const [first, second] = [await openReceiver(), await openReceiver()];
    const { id } = ok(await one.onA.post('developer_api_webhooks', { url: first.url, eventTypes: ['*'] }));
    const arrivesAt = (receiver: typeof first) => async () => {
      const before = receiver.received.length;
      ok(await one.onB.post(payments, small));
      await vi.waitUntil(() => first.received.length + second.received.length > counted, { interval: 5 });
      counted += 1;
      return receiver.received.length > before;
    };
    let counted = 0;
    await expectVisibleInTime(arrivesAt(second), () =>
      one.onA.post(`developer_api_webhooks/${id}/update`, { url: second.url }).then(ok),
    );
    // A backlog of four seconds, sent one at a time.
    ok(await one.onA.post(`developer_api_webhooks/${id}/update`, { maxConcurrency: 1 }));
    second.answer((_received, response) => setTimeout(() => response.writeHead(204).end(), 100));
    await Promise.all(Array.from({ length: 40 }, () => one.onB.post(payments, small).then(ok)));
    ok(await one.onA.post(`developer_api_webhooks/${id}/disable`));
    const disabledAt = performance.now();
    await vi.waitUntil(() => performance.now() > disabledAt + promisedMs + 300, { interval: 50 });
    expect(second.received.filter(({ at }) => at > disabledAt + promisedMs)).toEqual([]);
    expect(second.received.length).toBeLessThan(40);
    await Promise.all([first.close(), second.close()]);
  });

  test('removing a member or changing a role applies on the other nodes at once', async () => {
    const member = await newPerson(nodes().a, 'Mia');
    await join(member, owner, orgId, 'developer');
    const onB = member.at(nodes().b.app);
    ok(await onB.post(`${orgId}/applications`, { name: 'by a developer' }));
    ok(await owner.post(`${orgId}/members/${member.memberId}/role`, { role: 'viewer' }));
    expect((await onB.post(`${orgId}/applications`, { name: 'by a viewer' })).status).toBe(403);
    ok(await onB.get(`${orgId}/applications`));
    ok(await owner.post(`${orgId}/members/${member.memberId}/remove`));
    expect((await onB.get(`${orgId}/applications`)).status).toBe(404);
    ok(await member.post('session/sign_out'));
    expect((await onB.post('session/organizations', { name: 'Later' })).code).toBe('session_missing');
  });
});
