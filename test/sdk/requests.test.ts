import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Payment, type ReceivedResponse, responseOf, type SentRequest } from '../../sdk/client.ts';
import { type SandbankServer, startSandbank } from '../../sdk/testing.ts';
import { recorder } from './recorder.ts';

let server: SandbankServer;
beforeAll(async () => {
  server = await startSandbank();
});
afterAll(() => server.close());

const path = '/_api/developer_api_payments';
const body = { amount: 1_250, currency: 'EUR' } as const;

test('a raw request is retried with the same idempotency key', async () => {
  const { fetch, sent } = recorder();
  const { client } = await server.tenant({ client: { fetch, sleep: () => Promise.resolve() } });
  await client.faultPlans.create({
    on: 'requests',
    count: 1,
    operations: ['createPayment'],
    fault: { type: 'lose_answer' },
  });
  sent.length = 0;
  const payment = await client.request<Payment>('POST', path, { body });
  expect(responseOf(payment)).toMatchObject({ attempts: 2, isReplay: true });
  const keys = sent.map(({ headers }) => headers.get('idempotency-key'));
  expect(new Set(keys)).toEqual(new Set([responseOf(payment)?.idempotencyKey]));
  const { data } = await client.request<{ data: Payment[] }>('GET', path, { query: { status: 'pending' } });
  expect(data.map(({ id }) => id)).toEqual([payment.id]);
});

test('a raw request uses the idempotency key of the caller, and its errors are typed', async () => {
  const { client } = await server.tenant();
  const create = () => client.request<Payment>('POST', path, { body, idempotencyKey: 'order-17' });
  expect((await create()).id).toBe((await create()).id);
  await expect(client.request('GET', `${path}/pay_missing`)).rejects.toMatchObject({
    name: 'NotFoundError',
    status: 404,
  });
});

test('hooks see each attempt, add headers, and see no credentials', async () => {
  const { fetch, sent } = recorder();
  const requests: SentRequest[] = [];
  const responses: ReceivedResponse[] = [];
  const tenant = await server.tenant({
    client: {
      fetch,
      sleep: () => Promise.resolve(),
      onRequest: (request) => {
        requests.push(request);
        return { 'X-Attempt': String(request.attempt) };
      },
      onResponse: (response) => responses.push(response),
    },
  });
  await tenant.client.faultPlans.create({
    on: 'requests',
    count: 1,
    operations: ['createPayment'],
    fault: { type: 'error', code: 'service_unavailable', retryAfterSeconds: 0 },
  });
  for (const list of [sent, requests, responses]) list.length = 0;
  await tenant.client.payments.create(body, { idempotencyKey: 'order-18' });
  const common = { method: 'POST', path, idempotencyKey: 'order-18' };
  expect(requests).toEqual([
    { ...common, attempt: 1 },
    { ...common, attempt: 2 },
  ]);
  expect(responses).toMatchObject([
    { ...common, attempt: 1, status: 503, requestId: expect.stringMatching(/^req_/) },
    { ...common, attempt: 2, status: 201, requestId: expect.stringMatching(/^req_/) },
  ]);
  expect(responses.every(({ durationMs }) => durationMs > 0)).toBe(true);
  expect(sent.map(({ headers }) => headers.get('x-attempt'))).toEqual(['1', '2']);
  expect(JSON.stringify([requests, responses])).not.toContain(tenant.apiKey);
});

test('an error in a hook fails the call and is not retried', async () => {
  const { fetch, sent } = recorder();
  const thrown = new Error('from the hook');
  const tenant = await server.tenant({
    client: {
      fetch,
      onResponse: () => {
        throw thrown;
      },
    },
  });
  await expect(tenant.client.status()).rejects.toBe(thrown);
  expect(sent).toHaveLength(1);
});
