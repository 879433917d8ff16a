import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { consoleRoutes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import { readConsole } from '../support/principal.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

interface Attention {
  readonly webhooks: readonly { readonly id: string; readonly status: string; readonly url: string }[];
  readonly disputes: readonly { readonly id: string; readonly respondBy: string }[];
  readonly disputeCount: number;
  readonly mismatchCount: number;
}

describe.each(databaseKinds)('what needs attention on %s', (kind) => {
  let server: Server;
  let receiver: Receiver;

  beforeAll(async () => {
    server = await sharedServer(kind);
    receiver = await openReceiver();
  });
  afterAll(async () => {
    await receiver?.close();
  });

  const read = (holder: Tenant) => readConsole<Attention>(server, consoleRoutes, 'attention', holder);
  const pay = async ({ client }: Tenant, to: string, body: object = {}) => {
    const payment = { amount: 1_250, currency: 'EUR', ...body };
    const { id } = (await client.post('developer_api_payments', payment)).body;
    await client.post(`developer_api_payments/${id}/advance`, { to });
    return id;
  };

  test('is nothing in a new organization', async () => {
    expect(await read(await tenant(server))).toMatchObject({
      webhooks: [],
      hasMoreWebhooks: false,
      disputes: [],
      disputeCount: 0,
      mismatchCount: 0,
    });
  });

  test('lists disputes by their deadline, for this organization only', async () => {
    const [acme, other] = [await tenant(server), await tenant(server)];
    await pay(other, 'disputed');
    await pay(acme, 'disputed');
    await acme.client.post('developer_api_clock/advance', { seconds: 3_600 });
    await pay(acme, 'disputed');
    const disputes = (await acme.client.get('developer_api_disputes')).body
      .data as unknown as Attention['disputes'];
    const [newest, oldest] = disputes;
    const found = await read(acme);
    expect(found.disputes.map(({ id }) => id)).toEqual([oldest?.id, newest?.id]);
    expect(found.disputes[0]?.respondBy).toBe(oldest?.respondBy);
    expect(found.disputeCount).toBe(2);
    await acme.client.post(`developer_api_disputes/${oldest?.id}/advance`, { action: 'accept' });
    expect((await read(acme)).disputes.map(({ id }) => id)).toEqual([newest?.id]);
  });

  test('lists failing and disabled endpoints, but not those that a person disabled', async () => {
    const acme = await tenant(server);
    receiver.answer((_received, response) => response.writeHead(500).end());
    const { id } = (await acme.client.post('developer_api_webhooks', { url: receiver.url })).body;
    await pay(acme, 'authorized');
    await vi.waitFor(async () =>
      expect((await read(acme)).webhooks).toEqual([
        expect.objectContaining({ id, status: 'enabled', url: receiver.url, applicationId: acme.appId }),
      ]),
    );
    await acme.client.post(`developer_api_webhooks/${id}/disable`, {});
    expect((await read(acme)).webhooks).toEqual([]);
    await server.database.script(
      `update webhooks set disabled_reason = 'failing' where org_id = '${acme.orgId}' and id = '${id}'`,
    );
    expect((await read(acme)).webhooks).toMatchObject([
      { id, status: 'disabled', disabledReason: 'failing' },
    ]);
  });

  test('counts settlement lines that differ from the ledger', async () => {
    const acme = await tenant(server);
    await pay(acme, 'settled');
    await pay(acme, 'settled', { scenario: 'settle_short' });
    expect((await read(acme)).mismatchCount).toBe(1);
  });
});
