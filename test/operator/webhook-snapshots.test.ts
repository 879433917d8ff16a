// Inboxes, deleted endpoints and custom headers in snapshots and forks.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import { ApiClient, type Body, expectOk } from '../support/api-client.ts';
import { type Merchant, openMerchant } from '../support/merchant.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { databaseKinds, openServer } from '../support/server.ts';
import { webhooks } from '../support/webhooks.ts';

const token = 'x'.repeat(40);
const value = 'hunter2-hunter2';
const otherKind = { pglite: 'postgres', postgres: 'pglite' } as const;

interface ImportBody extends Body {
  readonly apiKeys: readonly { readonly key?: string }[];
  readonly webhooks: readonly { readonly id: string; readonly url: string; readonly secret?: string }[];
}

describe.each(databaseKinds)('endpoints in a snapshot of %s', (kind) => {
  let source: Server;
  let target: Server;
  let receiver: Receiver;
  let shop: Merchant;
  let [inboxId, deletedId, plainId] = ['', '', ''];

  beforeAll(async () => {
    receiver = await openReceiver();
    source = await openServer(kind, { operatorToken: token });
    target = await openServer(otherKind[kind], { operatorToken: token });
    await Promise.all([source.listen(), target.listen()]);
    shop = await openMerchant(source);
    const post = async (path: string, body?: object) => expectOk(await shop.client.post(path, body));
    ({ id: inboxId } = await post('developer_api_webhook_inbox', {
      inbox: { type: 'respond', responseStatus: 202 },
    }));
    ({ id: deletedId } = await post(webhooks, { url: receiver.url }));
    ({ id: plainId } = await post(webhooks, { url: receiver.url, headers: { 'X-Key': value } }));
    await post(`${webhooks}/${deletedId}/delete`);
  });
  afterAll(async () => {
    await source?.close();
    await target?.close();
    await receiver?.close();
  });

  const exported = async (query: string) => {
    const response = await source.app.inject({
      url: `/_operator/organizations/${shop.orgId}/snapshot?${query}`,
      headers: { authorization: `Bearer ${token}` },
    });
    return response.body;
  };
  const importInto = async (server: Server, snapshot: string, query = '') => {
    const headers = { 'content-type': 'application/jsonl' };
    const operator = new ApiClient(server.app, token);
    const answer = await operator.send('/_operator/snapshots', {
      method: 'POST',
      query,
      raw: snapshot,
      headers,
    });
    return expectOk(answer) as ImportBody;
  };

  test('with secrets work on another server as before', async () => {
    const snapshot = await exported('secrets=true');
    expect(snapshot).toContain(value);
    await importInto(target, snapshot);
    const client = shop.clientOn(target.app);
    expect(expectOk(await client.post(`${webhooks}/${inboxId}/test`))).toMatchObject({
      status: 'succeeded',
      attempts: [{ responseStatus: 202 }],
    });
    const before = receiver.received.length;
    expectOk(await client.post(`${webhooks}/${plainId}/test`));
    expect(receiver.received[before]?.headers).toMatchObject({ 'x-key': value });
    expect(expectOk(await client.get(`${webhooks}/${deletedId}`))).toMatchObject({ status: 'deleted' });
  });

  test('without secrets have no custom headers, and a fork has its own inbox', async () => {
    const snapshot = await exported('secrets=false');
    expect(snapshot).not.toContain(value);
    const copy = await importInto(source, snapshot, 'fork=true');
    const client = new ApiClient(source.app, copy.apiKeys[0]?.key ?? '');
    const inbox = expectOk(await client.post('developer_api_webhook_inbox'));
    expect(inbox).toMatchObject({ status: 'disabled', inbox: { responseStatus: 202 } });
    expect(inbox.id).not.toBe(inboxId);
    expect(copy.webhooks.map(({ url }) => url)).toContainEqual(
      expect.stringMatching(new RegExp(`/inbox/${inbox.id}$`)),
    );
    expect(expectOk(await client.post(`${webhooks}/${inbox.id}/test`))).toMatchObject({
      status: 'succeeded',
    });
    const { data } = expectOk(await client.get(webhooks));
    expect(data).toMatchObject([{ headerNames: [] }, { headerNames: [] }]);
    expect(copy.webhooks.filter(({ secret }) => secret !== undefined)).toHaveLength(2);
  });
});
