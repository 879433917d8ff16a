import { once } from 'node:events';
import http from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { verify } from '../../src/admin/verify.ts';
import type { Server } from '../../src/server.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { databaseKinds, openServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';
import { newPerson } from '../support/visitor.ts';
import { replaceClock, restoreClock, setClock } from './support/wall-clock.ts';

const hourMs = 3_600_000;
const payments = 'developer_api_payments';
/** Correct, an hour ahead, correct again, an hour behind, and correct. */
const jumps = [0, hourMs, 0, -hourMs, 0];

describe.each(databaseKinds)('the wall clock jumps forward and back by an hour on %s', (kind) => {
  let server: Server;
  let acme: Tenant;
  let receiver: Receiver;
  let stream: http.ClientRequest;
  let streamed = '';

  beforeAll(async () => {
    replaceClock();
    setClock(0);
    server = await openServer(kind);
    const url = await server.listen();
    acme = await tenant(server);
    receiver = await openReceiver();
    const { status } = await acme.client.post('developer_api_webhooks', {
      url: receiver.url,
      eventTypes: ['payment.created'],
    });
    expect(status).toBe(201);
    stream = http.get(`${url}/_api/developer_api_webhook_events/stream`, {
      headers: { authorization: `Bearer ${acme.key}` },
      agent: false,
    });
    stream.on('error', () => undefined);
    const [response] = (await once(stream, 'response')) as [http.IncomingMessage];
    expect(response.statusCode).toBe(200);
    response.setEncoding('utf8').on('data', (text: string) => {
      streamed += text;
    });
    response.on('error', () => undefined);
  });
  afterAll(async () => {
    stream?.destroy();
    await server?.close();
    await receiver?.close();
    setClock(0);
    restoreClock();
  });

  it('without lost, duplicate or stuck work', async () => {
    const shortLived = await acme.addKey({ expiresAt: new Date(Date.now() + hourMs / 2).toISOString() });
    const person = await newPerson(server);
    const first = { amount: 500, currency: 'EUR', reference: 'first' };
    const created = await acme.client.post(payments, first, { idempotencyKey: 'first' });
    const ids: string[] = [created.body.id];

    for (const [i, jump] of jumps.entries()) {
      setClock(jump);
      const { status, body, text } = await acme.client.post(payments, { amount: 700, currency: 'EUR' });
      expect(status, text).toBe(201);
      ids.push(body.id);
      // Records of every earlier time can still advance, also when their last change is in the future.
      const moved = await acme.client.post(`${payments}/${ids[i]}/advance`, { to: 'settled' });
      expect(moved.status, moved.text).toBe(200);
      const again = await acme.client.post(payments, first, { idempotencyKey: 'first' });
      expect(again.text).toBe(created.text);
      const { code } = await shortLived.client.get(payments);
      expect(code).toBe(jump > 0 ? 'api_key_expired' : null);
      expect((await person.get('session/devices')).status).toBe(200);
      await receiver.waitFor(ids.length);
      await vi.waitUntil(() => streamed.includes(body.id), { interval: 20 });
    }

    const listed = await acme.client.get(payments, 'limit=100');
    expect(listed.body.data.map(({ id }) => id).sort()).toEqual([...ids].sort());
    const sent = receiver.received.map(({ body }) => (JSON.parse(body) as { data: { id: string } }).data.id);
    expect(sent.sort()).toEqual([...ids].sort());
    await server.sealer.seal();
    const found = await verify(server.database);
    // The seals cannot distinguish a wrong clock from a row that was inserted later, and say so; the ledger is consistent.
    const complaints = found.checks.flatMap(({ differences }) => differences);
    for (const { found: message } of complaints) expect(message).toMatch(/clock (of a server )?was wrong/);
  });
});
