import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DeliveryQueue } from '../../src/delivery/queue.ts';
import type { Server } from '../../src/server.ts';
import { openReceiver } from '../support/receiver.ts';
import { databaseKinds, openServer } from '../support/server.ts';
import { tenant } from '../support/tenant.ts';

describe.each(databaseKinds)('stored attempt bodies, on %s', (kind) => {
  let server: Server;
  beforeAll(async () => {
    // A separate server: the test clears the bodies of all organizations.
    server = await openServer(kind);
  });
  afterAll(() => server?.close());

  it('are cleared once they are old enough; the attempt and its outcome remain', async () => {
    const receiver = await openReceiver((_received, response) =>
      response.writeHead(500).end('no, thank you'),
    );
    const { client } = await tenant(server);
    const { id } = (await client.post('developer_api_webhooks', { url: receiver.url })).body;
    const tested = (await client.post(`developer_api_webhooks/${id}/test`)).body;
    const read = async () => {
      const { attempts, ...delivery } = (await client.get(`developer_api_webhook_deliveries/${tested.id}`))
        .body;
      return { delivery, attempt: (attempts as Record<string, unknown>[])[0] };
    };
    const before = await read();
    expect(before.attempt).toMatchObject({ responseBody: 'no, thank you', bodiesCleared: false });

    const queue = new DeliveryQueue(server.database, 'a test');
    const sentAt = Date.parse(String(before.attempt?.sentAt));
    expect(await queue.clearBodies(sentAt)).toBe(0);
    expect((await read()).attempt).toEqual(before.attempt);
    expect(await queue.clearBodies(sentAt + 1)).toBe(1);
    expect(await queue.clearBodies(sentAt + 1)).toBe(0);
    const { attempt, delivery } = await read();
    expect(attempt).toEqual({
      ...before.attempt,
      requestHeaders: null,
      responseHeaders: null,
      responseBody: null,
      bodiesCleared: true,
    });
    expect(delivery).toMatchObject({
      requestBody: before.delivery.requestBody,
      lastError: expect.stringMatching(/^Status 500/),
    });
    await receiver.close();
  });
});
