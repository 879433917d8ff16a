import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { limits } from '../../src/kernel/limits.ts';
import type { Server } from '../../src/server.ts';
import { expectOk, seenCodes } from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { type Merchant, openMerchant } from '../support/merchant.ts';
import { databaseKinds, queryRows, sharedServer } from '../support/server.ts';
import { readUntil, testReceiver, webhooks } from '../support/webhooks.ts';

const token = 'Bearer hunter2-hunter2';

describe.each(databaseKinds)('custom headers of a webhook on %s', (kind) => {
  let server: Server;
  let shop: Merchant;

  beforeAll(async () => {
    server = await sharedServer(kind);
  });
  beforeEach(async () => {
    shop = await openMerchant(server);
  });

  const update = (id: string, body: object) => shop.client.post(`${webhooks}/${id}/update`, body);
  const create = (headers: unknown) => shop.client.post(webhooks, { url: 'http://127.0.0.1:1/', headers });

  test('are sent with every attempt, and responses show only their names', async () => {
    const receiver = await testReceiver();
    const created = expectOk(
      await shop.client.post(webhooks, {
        url: receiver.url,
        headers: { Authorization: token, 'X-Shop': 'main' },
      }),
    );
    expect(created).toMatchObject({ headerNames: ['Authorization', 'X-Shop'] });
    expect(created).not.toHaveProperty('headers');
    await shop.payments.create();
    const [received] = await receiver.waitFor(1);
    expect(received?.headers).toMatchObject({
      authorization: token,
      'x-shop': 'main',
      'content-type': 'application/json',
    });
    const [delivery] = await readUntil(
      () => shop.deliveries(`webhookId=${created.id}`),
      ([first]) => first?.status === 'succeeded',
    );
    const { attempts } = await shop.delivery(delivery?.id ?? '');
    expect(attempts[0]?.requestHeaders).toMatchObject({
      Authorization: '[redacted]',
      'X-Shop': '[redacted]',
      'content-type': 'application/json',
    });
    expectOk(await shop.client.post(`${webhooks}/${created.id}/test`));
    expect(receiver.received[1]?.headers.authorization).toBe(token);
    const cases = ['valid_signature', 'wrong_signature'];
    expectOk(await shop.client.post(`${webhooks}/${created.id}/examine`, { cases }));
    expect(receiver.received.every(({ headers }) => headers.authorization === token)).toBe(true);
  });

  test('are replaced by an update with headers, removed by an empty one, and otherwise unchanged', async () => {
    const receiver = await testReceiver();
    const { id } = expectOk(await shop.client.post(webhooks, { url: receiver.url, headers: { 'X-A': '1' } }));
    expect(expectOk(await update(id, { description: 'x' }))).toMatchObject({ headerNames: ['X-A'] });
    expect(expectOk(await update(id, { headers: { 'X-B': '2' } }))).toMatchObject({ headerNames: ['X-B'] });
    expectOk(await shop.client.post(`${webhooks}/${id}/test`));
    expect(receiver.received[0]?.headers).toMatchObject({ 'x-b': '2' });
    expect(receiver.received[0]?.headers).not.toHaveProperty('x-a');
    expect(expectOk(await update(id, { headers: {} }))).toMatchObject({ headerNames: [] });
    expectOk(await shop.client.post(`${webhooks}/${id}/test`));
    expect(receiver.received[1]?.headers).not.toHaveProperty('x-b');
    expectOk(await update(id, { headers: { 'X-C': '3' } }));
    expect(expectOk(await shop.client.post(`${webhooks}/${id}/delete`))).toMatchObject({ headerNames: [] });
  });

  test('do not follow the endpoint to another origin', async () => {
    const first = await testReceiver();
    const other = await testReceiver();
    const { id } = expectOk(
      await shop.client.post(webhooks, { url: first.url, headers: { Authorization: token } }),
    );
    const path = `${new URL(first.url).origin}/another/path`;
    expect(expectOk(await update(id, { url: path }))).toMatchObject({ headerNames: ['Authorization'] });
    expect(expectOk(await update(id, { url: other.url }))).toMatchObject({ headerNames: [] });
    expectOk(await shop.client.post(`${webhooks}/${id}/test`));
    expect(other.received[0]?.headers).not.toHaveProperty('authorization');
    const moved = await update(id, { url: first.url, headers: { 'X-New': '1' } });
    expect(expectOk(moved)).toMatchObject({ headerNames: ['X-New'] });
  });

  test('are stored encrypted, and neither the request log nor any other table has their values', async () => {
    const secretValue = `value-${randomUUID()}`;
    const { id, requestId } = expectOk(await create({ 'X-Key': secretValue, Cookie: `a=${secretValue}` }));
    await server.requestLog.flush();
    const logged = expectOk(await shop.client.get(`developer_api_requests/${requestId}`));
    expect(logged.requestBody).toContain('"X-Key":"[redacted]"');
    const tables = await queryRows<{ name: string }>(
      server,
      `select c.relname::text as name from pg_class c where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace`,
      [],
    );
    for (const { name } of tables) {
      const sql = `select 1 from ${name} t where t::text like '%' || $1 || '%' limit 1`;
      expect(await queryRows(server, sql, [secretValue]), name).toEqual([]);
    }
    expect(JSON.stringify(await shop.readWebhook(id))).not.toContain(secretValue);
  });

  test.each([
    'Host',
    'content-type',
    'Content-Length',
    'Webhook-Signature',
    'webhook-id',
    'Connection',
    'Transfer-Encoding',
    'User-Agent',
    'Proxy-Authorization',
    'traceparent',
  ])('refuse the reserved name %s', async (name) => {
    const answer = await create({ 'X-Fine': '1', [name]: 'x' });
    expect([answer.status, answer.code]).toEqual([422, 'webhook_header_not_allowed']);
    expect(answer.body.error.param).toBe(`/headers/${name}`);
    const { id } = expectOk(await create({}));
    expect((await update(id, { headers: { [name]: 'x' } })).code).toBe('webhook_header_not_allowed');
  });

  test('refuse a name twice, invalid characters, and more than the limits', async () => {
    expect((await create({ 'X-A': '1', 'x-a': '2' })).code).toBe('webhook_header_not_allowed');
    const many = Object.fromEntries(
      Array.from({ length: limits.webhookHeadersMax + 1 }, (_, i) => [`X-${i}`, '1']),
    );
    for (const headers of [
      { 'X A': '1' },
      { 'X-A\r\nEvil': '1' },
      { '': '1' },
      { 'X-A': '1\r\nEvil: 1' },
      { 'X-A': ' padded' },
      { 'X-A': 'ünicode' },
      { 'X-A': '' },
      { 'X-A': 1 },
      { ['X'.repeat(limits.webhookHeaderNameLengthMax + 1)]: '1' },
      { 'X-A': 'x'.repeat(limits.webhookHeaderValueLengthMax + 1) },
      many,
    ])
      expect((await create(headers)).code, JSON.stringify(headers).slice(0, 80)).toBe('invalid_request');
  });
});

test('covers the error codes listed for this file', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.webhookHeaders);
});
