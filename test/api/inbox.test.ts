// The inbox of an application, on a server that refuses to send to private addresses: it must reach itself nevertheless.
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { Sandbank, signWebhook } from '../../sdk/client.ts';
import { isErrorCode } from '../../src/kernel/errors.ts';
import { consoleRoutes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import { type Body, expectOk, seenCodes } from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { type Merchant, openMerchant } from '../support/merchant.ts';
import { readConsole } from '../support/principal.ts';
import { databaseKinds, openServer, queryRows } from '../support/server.ts';
import { tenant } from '../support/tenant.ts';
import { readUntil, unknownWebhook, type WebhookBody, webhooks } from '../support/webhooks.ts';

const attemptsPath = 'deliveries';
const inboxPath = 'developer_api_webhook_inbox';
const publicUrl = 'https://sandbank.example/bank';
const shared = { allowsPrivateWebhooks: false, publicUrl };

interface InboxBody extends WebhookBody {
  readonly inbox: object | null;
}

describe.each(databaseKinds)('the inbox on %s', (kind) => {
  let server: Server;
  let address: string;
  let shop: Merchant;

  beforeAll(async () => {
    server = await openServer(kind, shared);
    address = await server.listen();
  });
  afterAll(() => server?.close());
  beforeEach(async () => {
    shop = await openMerchant(server);
  });

  const open = async (body?: object) => expectOk(await shop.client.post(inboxPath, body)) as InboxBody;
  const update = (id: string, body: object) => shop.client.post(`${webhooks}/${id}/update`, body);
  const deliveryAfter = async (webhookId: string, attempts: number) => {
    const [found] = await readUntil(
      () => shop.deliveries(`webhookId=${webhookId}`),
      ([first]) => (first?.attemptCount ?? 0) >= attempts,
    );
    return shop.delivery(found?.id ?? '');
  };
  const received = (id: string, body: string, headers: Record<string, string>) =>
    fetch(`${address}/inbox/${id}`, { method: 'POST', body, headers });
  const storedRows = async () => {
    await server.requestLog.flush();
    return queryRows(
      server,
      `select id from deliveries where org_id = $1 union all select id from audit where org_id = $1
       union all select id from requests where org_id = $1`,
      [shop.orgId],
    );
  };

  test('is created once, with a secret that is shown once', async () => {
    const created = await open();
    expect(created).toMatchObject({
      object: 'webhook',
      status: 'enabled',
      url: `${publicUrl}/inbox/${created.id}`,
      eventTypes: ['*'],
      inbox: { type: 'respond', responseStatus: 200, delayMs: 0 },
    });
    expect(created.secret).toMatch(/^whsec_/);
    const found = await open();
    expect(found).toMatchObject({ id: created.id, version: 1 });
    expect(found).not.toHaveProperty('secret');
    expect(expectOk(await shop.client.get(`${webhooks}/${created.id}`))).toMatchObject({
      inbox: created.inbox,
    });
  });

  test('has a behavior that a second call or an update changes', async () => {
    const { id } = await open({ eventTypes: ['payment.*'], inbox: { type: 'timeout' } });
    expect(await open()).toMatchObject({ id, eventTypes: ['payment.*'], inbox: { type: 'timeout' } });
    const changed = await open({ inbox: { type: 'respond', responseStatus: 500 }, retryProfile: 'none' });
    expect(changed).toMatchObject({
      id,
      version: 2,
      eventTypes: ['payment.*'],
      retryProfile: 'none',
      inbox: { type: 'respond', responseStatus: 500, delayMs: 0 },
    });
    const delayed = await update(id, { inbox: { type: 'respond', delayMs: 20 } });
    expect(expectOk(delayed)).toMatchObject({
      inbox: { type: 'respond', responseStatus: 200, delayMs: 20 },
    });
  });

  test('receives the first event, verified, although this server sends only to public addresses', async () => {
    const { id, secret } = await open();
    const payment = await shop.payments.create();
    const delivery = await deliveryAfter(id, 1);
    const [attempt] = delivery.attempts;
    expect(delivery).toMatchObject({ status: 'succeeded', eventType: 'payment.created' });
    expect(JSON.parse(delivery.requestBody)).toMatchObject({ data: { id: payment.id } });
    expect(attempt).toMatchObject({ responseStatus: 200, error: null });
    expect(JSON.parse(attempt?.responseBody ?? '')).toMatchObject({
      object: 'inbox_receipt',
      status: 'received',
      webhookId: id,
      eventId: delivery.eventId,
      eventType: 'payment.created',
      signatureVerified: true,
      inbox: { type: 'respond', responseStatus: 200, delayMs: 0 },
    });
    // An independent check of the same bytes.
    const event = await Sandbank.webhooks.verify(delivery.requestBody, attempt?.requestHeaders ?? {}, secret);
    expect(event.id).toBe(delivery.eventId);
  });

  test('accepts both secrets during a rotation', async () => {
    const { id, secret: old } = await open();
    const { secret } = await shop.webhookAction(id, 'rotate_secret', { overlapSeconds: 3_600 });
    for (const one of [old, secret]) {
      const { body, headers } = await signWebhook({ id: 'evt_1', type: 'payment.created' }, one);
      expect((await received(id, body, headers)).status).toBe(200);
    }
  });

  test('with 500 is retried, and with 200 again it succeeds', async () => {
    const { id } = await open({ retryProfile: 'fast', inbox: { type: 'respond', responseStatus: 500 } });
    await shop.payments.create();
    const failing = await deliveryAfter(id, 2);
    expect(failing).toMatchObject({ status: 'pending', attempts: [{ responseStatus: 500 }, {}] });
    expectOk(await update(id, { inbox: { type: 'respond' } }));
    const done = await readUntil(
      () => shop.delivery(failing.id),
      ({ status }) => status !== 'pending',
    );
    expect(done.status).toBe('succeeded');
  });

  test('is listed for the console with the result of each attempt and the record of each event', async () => {
    const { id } = await open({ retryProfile: 'fast', inbox: { type: 'respond', responseStatus: 500 } });
    const payment = await shop.payments.create();
    const failing = await deliveryAfter(id, 2);
    const tested = expectOk(await shop.client.post(`${webhooks}/${id}/test`));
    const read = async (webhookId: string, limit = 10) =>
      readConsole<{ data: object[]; hasMore: boolean }>(server, consoleRoutes, attemptsPath, shop, {
        query: { webhookId, limit },
      });
    const { data, hasMore } = await read(id);
    expect(hasMore).toBe(false);
    expect(data).toMatchObject([
      { id: tested.id, trigger: 'test', attempts: [{ number: 1, responseStatus: 500 }] },
      { id: failing.id, eventType: 'payment.created', recordId: payment.id },
    ]);
    const { attempts } = data[1] as { attempts: object[] };
    expect(attempts.slice(-2)).toMatchObject([
      { number: 2, responseStatus: 500, signatureVerified: true, error: expect.stringContaining('500') },
      { number: 1, responseStatus: 500, signatureVerified: true, status: 'pending' },
    ]);
    expect(await read(id, 1)).toMatchObject({ data: [{ id: tested.id }], hasMore: true });
    // Without a receipt there is no result, and other endpoints have none.
    expectOk(await update(id, { inbox: { type: 'timeout' } }));
    expectOk(await shop.client.post(`${webhooks}/${id}/test`));
    expect((await read(id)).data[0]).toMatchObject({ attempts: [{ signatureVerified: null }] });
    const plain = await shop.createWebhook({ url: 'https://1.1.1.1/hook' });
    expect((await read(plain.id)).data).toEqual([]);
    expect((await read(unknownWebhook)).data).toEqual([]);
  });

  test('with 410 is disabled, and a test still reaches it', async () => {
    const { id } = await open({ inbox: { type: 'respond', responseStatus: 410 } });
    await shop.payments.create();
    const disabled = await readUntil(
      () => shop.readWebhook(id),
      ({ status }) => status === 'disabled',
    );
    expect(disabled.disabledReason).toBe('gone');
    expect(await open()).toMatchObject({ id, status: 'disabled' });
    expectOk(await update(id, { inbox: { type: 'respond' } }));
    const tested = expectOk(await shop.client.post(`${webhooks}/${id}/test`));
    expect(tested).toMatchObject({ status: 'succeeded', attempts: [{ responseStatus: 200 }] });
  });

  test('with a delay responds after it', async () => {
    const { id } = await open({ inbox: { type: 'respond', delayMs: 300 } });
    const tested = expectOk(await shop.client.post(`${webhooks}/${id}/test`)) as Body & {
      attempts: { durationMs: number }[];
    };
    expect(tested.attempts[0]?.durationMs).toBeGreaterThanOrEqual(295);
  });

  test('with a timeout fails the attempt', async () => {
    const { id } = await open({ inbox: { type: 'timeout' } });
    const tested = expectOk(await shop.client.post(`${webhooks}/${id}/test`));
    expect(tested).toMatchObject({
      status: 'failed',
      lastResponseStatus: null,
      lastError: 'Timeout: no response within 10 seconds.',
    });
    expect(server.heldRequests.size).toBe(0);
  });

  test('refuses unknown ids, unsigned and forged requests with the same response, and stores nothing', async () => {
    const { id, secret } = await open();
    const event = { id: 'evt_1', type: 'payment.created' };
    const signed = await signWebhook(event, secret);
    const forged = await signWebhook(event, `whsec_${Buffer.alloc(32, 7).toString('base64')}`);
    const { id: plainId } = await shop.createWebhook({ url: 'https://1.1.1.1/hook' });
    const before = await storedRows();
    const answers = await Promise.all([
      received(unknownWebhook, signed.body, signed.headers),
      received('nonsense', signed.body, signed.headers),
      received(plainId, signed.body, signed.headers),
      received(id, signed.body, {}),
      received(id, forged.body, forged.headers),
      received(id, `${signed.body} `, signed.headers),
    ]);
    const texts = await Promise.all(
      answers.map(async (answer) => (await answer.text()).replace(/req_\w+/, 'req')),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 401));
    expect(new Set(texts).size).toBe(1);
    const { code } = (JSON.parse(texts[0] ?? '') as { error: { code: string } }).error;
    expect(code).toBe('webhook_signature_invalid');
    if (isErrorCode(code)) seenCodes.add(code);
    expect(await storedRows()).toEqual(before);
    expect((await received(id, signed.body, signed.headers)).status).toBe(200);
    expect(await storedRows()).toEqual(before);
  });

  test('refuses a body above 1 MiB', async () => {
    const { id, secret } = await open();
    const { body, headers } = await signWebhook({ id: 'evt_1', pad: 'x'.repeat(2 ** 20) }, secret);
    expect((await received(id, body, headers)).status).toBe(413);
  });

  test('belongs to its application: other keys and organizations cannot see, change or find it', async () => {
    const { id } = await open();
    const stranger = await tenant(server);
    const sibling = await shop.addKey({ application: 'other' });
    for (const { client } of [stranger, sibling]) {
      expect((await client.get(`${webhooks}/${id}`)).code).toBe('resource_not_found');
      expect((await client.post(`${webhooks}/${id}/update`, { inbox: { type: 'timeout' } })).code).toBe(
        'resource_not_found',
      );
      expect(expectOk(await client.post(inboxPath)).id).not.toBe(id);
    }
    const reader = await shop.addKey({ scopes: ['webhooks:read'] });
    expect((await reader.client.post(inboxPath)).code).toBe('scope_missing');
  });

  test('takes neither another URL nor a behavior that does not exist, and other endpoints have no behavior', async () => {
    const { id } = await open();
    const moved = await update(id, { url: 'https://1.1.1.1/hook' });
    expect([moved.code, moved.body.error.param]).toEqual(['webhook_url_not_allowed', '/url']);
    for (const inbox of [
      { type: 'respond', responseStatus: 204 },
      { type: 'respond', delayMs: 9_001 },
      { type: 'timeout', delayMs: 1 },
      {},
    ])
      expect((await update(id, { inbox })).code).toBe('invalid_request');
    const plain = await shop.createWebhook({ url: 'https://1.1.1.1/hook' });
    expect(plain).toMatchObject({ inbox: null });
    const answer = await update(plain.id, { inbox: { type: 'timeout' } });
    expect([answer.code, answer.body.error.param]).toEqual(['webhook_not_inbox', '/inbox']);
  });

  test('reaches itself whatever URL is stored, and no other path of the server', async () => {
    const { id } = await open();
    const sql = 'update webhooks set url = $3 where org_id = $1 and id = $2';
    await queryRows(server, sql, [shop.orgId, id, `${address}/_api/developer_api_payments`]);
    const tested = expectOk(await shop.client.post(`${webhooks}/${id}/test`));
    expect(tested).toMatchObject({ status: 'succeeded', attempts: [{ responseStatus: 200 }] });
    // The next call corrects the URL.
    expect(await open()).toMatchObject({ id, url: `${publicUrl}/inbox/${id}`, version: 2 });
    // Another endpoint with the URL of an inbox gets no exemption.
    const other = await shop.createWebhook({ url: 'https://1.1.1.1/hook' });
    await queryRows(server, sql, [shop.orgId, other.id, `${address}/inbox/${id}`]);
    const refused = expectOk(await shop.client.post(`${webhooks}/${other.id}/test`));
    expect(refused.lastError).toMatch(/is not a public address/);
  });

  test('passes its examination, receives replays, and survives a reset', async () => {
    const { id } = await open();
    const cases = [
      'valid_signature',
      'wrong_signature',
      'missing_signature',
      'stale_timestamp',
      'large_payload',
    ];
    const report = expectOk(await shop.client.post(`${webhooks}/${id}/examine`, { cases }));
    expect(report).toMatchObject({ object: 'examination', status: 'passed', grade: 'A' });
    await shop.payments.create();
    const { eventId } = await deliveryAfter(id, 1);
    expectOk(await shop.client.post(`developer_api_webhook_events/${eventId}/replay`, {}));
    await readUntil(
      () => shop.deliveries(`webhookId=${id}&eventId=${eventId}`),
      (found) => found.length === 2 && found.every(({ status }) => status === 'succeeded'),
    );
    expectOk(await shop.client.post('developer_api_reset'));
    expect(await open()).toMatchObject({ id });
    await shop.payments.create();
    expect(await deliveryAfter(id, 1)).toMatchObject({ status: 'succeeded' });
  });

  test('holds a bounded number of requests open', async () => {
    const { id, secret } = await open({ inbox: { type: 'respond', delayMs: 2_000 } });
    const { body, headers } = await signWebhook({ id: 'evt_1', type: 'a' }, secret);
    const answers = await Promise.all(Array.from({ length: 40 }, () => received(id, body, headers)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(32);
    expect(statuses.filter((status) => status === 503)).toHaveLength(8);
    expect(server.heldRequests.size).toBe(0);
  });
});

describe.each(databaseKinds)('a shutdown on %s', (kind) => {
  test('does not wait for requests that an inbox holds', async () => {
    const server = await openServer(kind, shared);
    let isClosed = false;
    onTestFinished(async () => {
      if (!isClosed) await server.close();
    });
    await server.listen();
    const shop = await openMerchant(server);
    expectOk(await shop.client.post(inboxPath, { inbox: { type: 'timeout' } }));
    await shop.payments.create();
    await expect.poll(() => server.heldRequests.size).toBe(1);
    const startedAt = performance.now();
    await server.close();
    isClosed = true;
    expect(performance.now() - startedAt).toBeLessThan(8_000);
    expect(server.heldRequests.size).toBe(0);
  });
});

test('covers the error codes listed for this file', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.inbox);
});
