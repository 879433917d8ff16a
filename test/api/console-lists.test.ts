import { beforeAll, describe, expect, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { createTeam, ok, type Team } from '../support/visitor.ts';

const money = { amount: 100, currency: 'EUR' };

describe.each(databaseKinds)('what the lists of the console show in addition, on %s', (kind) => {
  let server: Server;
  let acme: Team;
  let other: Team;
  const inApp = ({ orgId, appId }: Team, path: string) => `${orgId}/${appId}/${path}`;
  const create = async (team: Team, path: string, body: unknown) =>
    ok(await team.owner.post(inApp(team, path), body));

  beforeAll(async () => {
    server = await sharedServer(kind);
    [acme, other] = [await createTeam(server), await createTeam(server)];
  });

  test('the number of records of each state, of the organization only', async () => {
    for (const to of ['captured', 'captured', 'failed', null]) {
      const { id } = await create(acme, 'developer_api_payments', money);
      if (to !== null) await create(acme, `developer_api_payments/${id}/advance`, { to });
    }
    await create(other, 'developer_api_payments', money);
    const { counts } = ok(await acme.owner.get(inApp(acme, 'counts?resource=payment'))) as unknown as {
      counts: readonly { readonly status: string; readonly count: number; readonly isMore: boolean }[];
    };
    expect(counts.filter(({ count }) => count > 0)).toEqual([
      { status: 'pending', count: 1, isMore: false },
      { status: 'captured', count: 2, isMore: false },
      { status: 'failed', count: 1, isMore: false },
    ]);
    expect(counts).toHaveLength(14);
    const unknown = await acme.owner.get(inApp(acme, 'counts?resource=webhook'));
    expect(unknown.code).toBe('invalid_request');
  });

  test('the names of customers, and nothing of customers of others', async () => {
    const ada = await create(acme, 'developer_api_customers', { name: 'Ada', email: 'ada@example.test' });
    const mail = await create(acme, 'developer_api_customers', { email: 'bob@example.test' });
    const eve = await create(other, 'developer_api_customers', { name: 'Eve' });
    const read = (ids: readonly string[]) =>
      acme.owner.get(inApp(acme, `customer_names?ids=${ids.join(',')}`));
    const { names } = ok(await read([ada.id, mail.id, eve.id])) as unknown as {
      names: readonly { readonly id: string; readonly name: string }[];
    };
    expect(new Map(names.map(({ id, name }) => [id, name]))).toEqual(
      new Map([
        [ada.id, 'Ada'],
        [mail.id, 'bob@example.test'],
      ]),
    );
    for (const ids of [['pay_01m7epxwjmf7za77rhky2f93cc'], [''], Array.from({ length: 101 }, () => ada.id)])
      expect((await read(ids)).code).toBe('invalid_request');
  });

  test('the next actions of payments, and nothing of payments of others', async () => {
    const pending = await create(acme, 'developer_api_payments', money);
    const final = await create(acme, 'developer_api_payments', money);
    await create(acme, `developer_api_payments/${final.id}/advance`, { to: 'settled' });
    const foreign = await create(other, 'developer_api_payments', money);
    const read = (ids: readonly unknown[]) =>
      acme.owner.get(inApp(acme, `next_actions?ids=${ids.join(',')}`));
    expect(ok(await read([pending.id, final.id, foreign.id])).payments).toEqual([
      { id: pending.id, nextAction: 'capture' },
      { id: final.id, nextAction: null },
    ]);
    for (const ids of [['cus_01m7epxwjmf7za77rhky2f93cc'], [''], Array.from({ length: 201 }, () => final.id)])
      expect((await read(ids)).code).toBe('invalid_request');
  });

  test.each([
    ['approve', 'automatic', {}, 'capture'],
    ['approve', 'manual', {}, 'authorize'],
    ['decline:expired_card', 'automatic', {}, 'fail'],
    ['approve', 'automatic', { to: 'settled' }, null],
  ])(
    'the next action of a payment with %s and %s capture after %j is %s',
    async (scenario, captureMethod, to, next) => {
      const { id } = await create(acme, 'developer_api_payments', { ...money, scenario, captureMethod });
      if ('to' in to) await create(acme, `developer_api_payments/${id}/advance`, to);
      expect(ok(await acme.owner.get(inApp(acme, `timeline/${id}`))).nextAction).toBe(next);
    },
  );

  test('the next action of a transfer, a refund and a dispute', async () => {
    const nextOf = async (id: unknown) => ok(await acme.owner.get(inApp(acme, `timeline/${id}`))).nextAction;
    const quote = { sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 5_000 };
    const transfer = await create(acme, 'developer_api_transfers', quote);
    expect(await nextOf(transfer.id)).toBe('accept');
    const { id } = await create(acme, 'developer_api_payments', { ...money, scenario: 'refund_pending' });
    await create(acme, `developer_api_payments/${id}/advance`, { to: 'captured' });
    const refund = await create(acme, `developer_api_payments/${id}/refund`, { amount: 10 });
    expect(await nextOf(refund.id)).toBe('succeed');
    const disputed = await create(acme, `developer_api_payments/${id}/advance`, { action: 'dispute' });
    expect(await nextOf(disputed.disputeId)).toBe('submit_evidence');
    expect(await nextOf(id)).toBeNull();
  });
});
