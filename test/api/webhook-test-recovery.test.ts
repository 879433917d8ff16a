import { beforeAll, describe, expect, it } from 'vitest';
import { newSuffix } from '../../src/engine/ids.ts';
import { claim } from '../../src/http/idempotency.ts';
import { defaultApplicationSettings } from '../../src/kernel/application-settings.ts';
import { formatId, idFrom } from '../../src/kernel/ids.ts';
import { beginTest } from '../../src/resources/webhooks/test-event-commands.ts';
import type { Server } from '../../src/server.ts';
import { openReceiver } from '../support/receiver.ts';
import { databaseKinds, openApp, sharedServer } from '../support/server.ts';
import { tenant } from '../support/tenant.ts';

describe.each(databaseKinds)('an endpoint test whose process crashed, on %s', (kind) => {
  let server: Server;
  beforeAll(async () => {
    server = await sharedServer(kind);
  });

  it('is in progress for a minute; then the same request sends again, and its response is stored', async () => {
    const receiver = await openReceiver();
    const shop = await tenant(server);
    const { id } = (await shop.client.post('developer_api_webhooks', { url: receiver.url })).body;
    const path = `developer_api_webhooks/${id}/test`;
    const idempotencyKey = 'the-one-that-died';
    const suffix = newSuffix();
    const begun = await server.engine.submit({
      kind: beginTest,
      input: { id: idFrom('webhook', id), event: null, leaseUntil: Date.now() + 25_000 },
      idempotency: claim(idempotencyKey, 'POST', `/_api/${path}`, {}),
      wallNow: Date.now(),
      context: {
        ...{ orgId: shop.orgId, appId: shop.appId, actor: { kind: 'api_key', id: shop.keyId } },
        ...{ requestId: formatId('request', suffix), ip: null, settings: defaultApplicationSettings, suffix },
      },
    });
    expect(begun.code).toBeNull();
    const early = await shop.client.post(path, undefined, { idempotencyKey });
    expect([early.status, early.code]).toEqual([409, 'idempotency_in_progress']);
    expect(receiver.received).toHaveLength(0);

    const later = shop.clientOn(openApp(server, { wallClock: () => Date.now() + 60_500 }));
    const done = await later.post(path, undefined, { idempotencyKey });
    expect(done.body).toMatchObject({ object: 'delivery', status: 'succeeded' });
    expect(receiver.received).toHaveLength(1);
    const again = await shop.client.post(path, undefined, { idempotencyKey });
    expect([again.text, again.headers['idempotent-replayed']]).toEqual([done.text, 'true']);
    const other = await shop.client.post(path, { type: 'payment.created' }, { idempotencyKey });
    expect(other.code).toBe('idempotency_key_reused');
    expect(receiver.received).toHaveLength(1);
    await receiver.close();
  });
});
