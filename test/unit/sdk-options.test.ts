import { describe, expect, test } from 'vitest';
import { Operator, Sandbank, signWebhook, verifyWebhook } from '../../sdk/client.ts';
import { connectSandbank, startSandbank } from '../../sdk/testing.ts';

/** An object with a misspelled name, which the compiler would reject. */
const misspelled = (options: object) => options as never;

const unreachable = { apiKey: 'sbk_sandbox_x', baseUrl: 'http://127.0.0.1:9', retriesMax: 0 } as const;

describe('an option that does not exist is rejected immediately', () => {
  test.each([
    ['baseURL', 'baseURL is not an option of new Sandbank(). Did you mean baseUrl?'],
    ['retrysMax', 'retrysMax is not an option of new Sandbank(). Did you mean retriesMax?'],
    [
      'proxy',
      'proxy is not an option of new Sandbank(). Valid are timeoutMs, retriesMax, fetch, headers, onRequest, onResponse, onRetry, sleep, random, apiKey, baseUrl, organization.',
    ],
  ])('new Sandbank({ %s })', (name, message) => {
    expect(() => new Sandbank(misspelled({ ...unreachable, [name]: 1 }))).toThrow(new TypeError(message));
  });

  test('by the operator client and the test kit', async () => {
    expect(() => new Operator(misspelled({ tokn: 'x' }))).toThrow(/new Operator\(\)\. Did you mean token\?/);
    expect(() => connectSandbank(misspelled({ operatortoken: 'x' }))).toThrow(/Did you mean operatorToken\?/);
    await expect(startSandbank(misspelled({ sead: 1 }))).rejects.toThrow(
      'sead is not an option of startSandbank(). Did you mean seed?',
    );
    const server = connectSandbank({ url: unreachable.baseUrl, operatorToken: 'x' });
    await expect(server.tenant(misspelled({ clok: 'frozen' }))).rejects.toThrow(/Did you mean clock\?/);
    await expect(server.tenant(misspelled({ clock: 'frosen' }))).rejects.toThrow(
      '"frosen" is not a value of clock. Did you mean frozen?',
    );
  });

  test('by calls, before they send a request', async () => {
    const sandbank = new Sandbank({
      ...unreachable,
      fetch: () => Promise.reject(new Error('a request was sent')),
    });
    const body = { amount: 1, currency: 'EUR' };
    await expect(sandbank.payments.create(body, misspelled({ idempotancyKey: 'order-17' }))).rejects.toThrow(
      'idempotancyKey is not an option of POST /_api/developer_api_payments. Did you mean idempotencyKey?',
    );
    await expect(sandbank.payments.advance('pay_1', {}, misspelled({ expnd: 'x' }))).rejects.toThrow(
      /Did you mean expand\?/,
    );
    await expect(sandbank.payments.retrieve('pay_1', misspelled({ idempotencyKey: 'a' }))).rejects.toThrow(
      /Valid are signal, timeoutMs, retriesMax, headers\./,
    );
    const operator = new Operator({ url: unreachable.baseUrl, token: 'x' });
    await expect(operator.snapshot('org_1', misspelled({ secret: true }))).rejects.toThrow(
      /Did you mean secrets\?/,
    );
  });

  test('by the event stream and by webhook verification', async () => {
    const { events } = new Sandbank(unreachable);
    expect(() => events.stream(misspelled({ eventType: ['*'] }))).toThrow(/Did you mean eventTypes\?/);
    const secret = 'whsec_c2FuZGJhbmsgdGVzdCBzZWNyZXQ=';
    const { body, headers } = await signWebhook({ id: 'evt_1' }, secret);
    await expect(verifyWebhook(body, headers, secret, misspelled({ toleranceSecond: 1 }))).rejects.toThrow(
      /Did you mean toleranceSeconds\?/,
    );
  });
});

test('a raw request stays on the server and uses the methods of the API', async () => {
  const sandbank = new Sandbank({
    ...unreachable,
    fetch: () => Promise.reject(new Error('a request was sent')),
  });
  await expect(sandbank.request('GET', '@example.com/')).rejects.toThrow(/must start with a slash/);
  await expect(sandbank.request('PUT' as 'POST', '/')).rejects.toThrow(/Use GET or POST/);
  await expect(sandbank.request('GET', '/', { body: {} })).rejects.toThrow(/takes no body/);
  await expect(sandbank.request('POST', '/', misspelled({ bdy: {} }))).rejects.toThrow(/Did you mean body\?/);
});
