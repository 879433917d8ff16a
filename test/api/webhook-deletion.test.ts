import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { limits } from '../../src/kernel/limits.ts';
import type { Server } from '../../src/server.ts';
import { expectOk } from '../support/api-client.ts';
import { type Merchant, openMerchant } from '../support/merchant.ts';
import { withStatus } from '../support/receiver.ts';
import { databaseKinds, queryRows, sharedServer } from '../support/server.ts';
import { tenant } from '../support/tenant.ts';
import { events, readUntil, receivedTypes, testReceiver, webhooks } from '../support/webhooks.ts';

const ended = 'Not sent: the endpoint was deleted.';

describe.each(databaseKinds)('deleting a webhook on %s', (kind) => {
  let server: Server;
  let shop: Merchant;

  beforeAll(async () => {
    server = await sharedServer(kind);
  });
  beforeEach(async () => {
    shop = await openMerchant(server);
  });

  const remove = (id: string) => shop.client.post(`${webhooks}/${id}/delete`);
  const isFinal = (found: readonly { readonly status: string }[]) =>
    found.length > 0 && found.every(({ status }) => status !== 'pending');

  test('ends it: it stays readable, without a secret, and allows nothing more', async () => {
    const receiver = await testReceiver();
    const { id } = await shop.createWebhook(receiver);
    const deleted = expectOk(await remove(id));
    expect(deleted).toMatchObject({ id, status: 'deleted', version: 2, allowedActions: [], secretHint: '' });
    expect(await shop.readWebhook(id)).toMatchObject({ status: 'deleted' });
    const [row] = await queryRows(server, 'select secrets from webhooks where org_id = $1 and id = $2', [
      shop.orgId,
      id,
    ]);
    expect(row).toEqual({ secrets: [] });
    for (const action of ['delete', 'enable', 'disable', 'rotate_secret', 'test', 'examine'])
      expect((await shop.client.post(`${webhooks}/${id}/${action}`)).code).toBe('invalid_state_transition');
    const updated = await shop.client.post(`${webhooks}/${id}/update`, { description: 'x' });
    expect(updated.code).toBe('invalid_state_transition');
  });

  test('stops deliveries of new events, and notifies the other endpoints', async () => {
    const [receiver, other] = [await testReceiver(), await testReceiver()];
    const { id } = await shop.createWebhook(receiver);
    await shop.createWebhook(other);
    expectOk(await remove(id));
    await shop.payments.create();
    await other.waitFor(2);
    expect([...receivedTypes(other)].sort()).toEqual(['payment.created', 'webhook.deleted']);
    expect(await shop.deliveries(`webhookId=${id}`)).toEqual([]);
    expect(receiver.received).toEqual([]);
  });

  test('ends pending deliveries, whether they wait for a retry or for the endpoint, and keeps their history', async () => {
    const failing = await testReceiver(withStatus(500));
    const { id } = await shop.createWebhook(failing);
    await shop.payments.create();
    await readUntil(
      () => shop.deliveries(`webhookId=${id}`),
      ([first]) => first?.attemptCount === 1,
    );
    await shop.webhookAction(id, 'disable');
    await shop.payments.create();
    expectOk(await remove(id));
    const found = await readUntil(() => shop.deliveries(`webhookId=${id}`), isFinal);
    expect(found.map(({ status, lastError }) => [status, lastError])).toEqual([
      ['failed', ended],
      ['failed', ended],
    ]);
    const retried = await shop.delivery(found.at(-1)?.id ?? '');
    expect(retried.attempts).toMatchObject([
      { number: 1, responseStatus: 500, status: 'pending' },
      { number: 2, responseStatus: null, requestHeaders: null, error: ended, status: 'failed' },
    ]);
    expect(failing.received).toHaveLength(1);
  });

  test('lets an attempt that is in flight be recorded first', async () => {
    let respond: () => void = () => undefined;
    const slow = await testReceiver((_received, response) => {
      respond = () => response.writeHead(500).end();
    });
    const { id } = await shop.createWebhook(slow);
    await shop.payments.create();
    await slow.waitFor(1);
    expectOk(await remove(id));
    respond();
    const [first] = await readUntil(() => shop.deliveries(`webhookId=${id}`), isFinal);
    const { attempts } = await shop.delivery(first?.id ?? '');
    expect(attempts).toMatchObject([{ responseStatus: 500 }, { error: ended }]);
  });

  test('excludes it from replays, from lists without its status, and from the limit', async () => {
    const receiver = await testReceiver();
    const { id } = await shop.createWebhook(receiver, { eventTypes: ['payment.*'] });
    await shop.payments.create();
    const [delivery] = await readUntil(() => shop.deliveries(`webhookId=${id}`), isFinal);
    expectOk(await remove(id));
    const replay = `${events}/${delivery?.eventId}/replay`;
    expect(expectOk(await shop.client.post(replay, {}))).toMatchObject({ matched: 0 });
    expect((await shop.client.post(replay, { webhookId: id })).code).toBe('webhook_not_found');
    expect(expectOk(await shop.client.get(webhooks)).data).toEqual([]);
    expect(expectOk(await shop.client.get(webhooks, 'status=deleted')).data).toMatchObject([{ id }]);
    const url = 'http://127.0.0.1:1/';
    for (let i = 0; i < limits.webhooksPerApplicationMax; i += 1) await shop.createWebhook({ url });
    expect((await shop.client.post(webhooks, { url })).code).toBe('webhook_limit_reached');
  });

  test('of the inbox lets the next call create another one', async () => {
    const { id } = expectOk(await shop.client.post('developer_api_webhook_inbox'));
    expectOk(await remove(id));
    const next = expectOk(await shop.client.post('developer_api_webhook_inbox'));
    expect(next.id).not.toBe(id);
    expect(next).toHaveProperty('secret');
  });

  test('is not possible for other organizations and applications', async () => {
    const { id } = await shop.createWebhook({ url: 'http://127.0.0.1:1/' });
    const sibling = await shop.addKey({ application: 'other' });
    for (const { client } of [await tenant(server), sibling])
      expect((await client.post(`${webhooks}/${id}/delete`)).code).toBe('resource_not_found');
    expect(await shop.readWebhook(id)).toMatchObject({ status: 'enabled' });
  });
});
