import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  ConnectionError,
  Operator,
  type Retry,
  responseOf,
  Sandbank,
  type SandbankOptions,
  TimeoutError,
} from '../../sdk/client.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { databaseKinds } from '../support/server.ts';
import { openProxy } from './proxy.ts';
import { recorder } from './recorder.ts';
import { openWorld, type World } from './world.ts';

describe.each(databaseKinds)('a server on %s', (kind) => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld(kind);
  });
  afterAll(() => world?.close());

  test.each([
    ['no bytes', 0],
    ['its first 40 bytes', 40],
  ])(
    'a response lost after the commit (%s received) is retried with the same key: one payment',
    async (_name, bytes) => {
      const proxy = await openProxy(world.url);
      onTestFinished(proxy.close);
      const { fetch, sent } = recorder();
      const { sandbank } = await world.client({ baseUrl: proxy.url, fetch });
      proxy.dropNextResponse(bytes);
      const payment = await sandbank.payments.create({ amount: 1250, currency: 'EUR' });
      expect(responseOf(payment)).toMatchObject({ isReplay: true, attempts: 2, status: 201 });
      const keys = sent.map(({ headers }) => headers.get('idempotency-key'));
      expect(keys).toHaveLength(2);
      expect(keys[0]).toBe(keys[1]);
      expect(sent[0]?.body).toBe(sent[1]?.body);
      expect((await sandbank.payments.list().toArray()).map(({ id }) => id)).toEqual([payment.id]);
    },
  );

  test('without retries the call fails with a ConnectionError, and the same key returns the stored response', async () => {
    const proxy = await openProxy(world.url);
    onTestFinished(proxy.close);
    const { sandbank } = await world.client({ baseUrl: proxy.url, retriesMax: 0 });
    proxy.dropNextResponse();
    const create = () =>
      sandbank.payments.create({ amount: 1250, currency: 'EUR' }, { idempotencyKey: 'order-17' });
    await expect(create()).rejects.toBeInstanceOf(ConnectionError);
    expect(responseOf(await create())?.isReplay).toBe(true);
    expect(await sandbank.payments.list().toArray()).toHaveLength(1);
  });

  test('a read whose response is lost is retried', async () => {
    const proxy = await openProxy(world.url);
    onTestFinished(proxy.close);
    const { sandbank } = await world.client({ baseUrl: proxy.url });
    proxy.dropNextResponse();
    const status = await sandbank.status();
    expect(responseOf(status)?.attempts).toBe(2);
  });

  test('every write has a new idempotency key, unless the caller passes one', async () => {
    const { fetch, sent } = recorder();
    const { sandbank } = await world.client({ fetch });
    const body = { amount: 1250, currency: 'EUR' };
    const [first, second] = [await sandbank.payments.create(body), await sandbank.payments.create(body)];
    expect(first.id).not.toBe(second.id);
    await sandbank.payments.create(body, { idempotencyKey: 'mine' });
    const keys = sent.map(({ headers }) => headers.get('idempotency-key'));
    expect(new Set(keys).size).toBe(3);
    expect(keys[2]).toBe('mine');
  });
});

describe('a scripted server', () => {
  interface Scripted {
    readonly receiver: Receiver;
    readonly sandbank: Sandbank;
    readonly waits: number[];
    readonly retries: Retry[];
  }

  /** Sends the responses in order, then repeats the last one. */
  async function scripted(
    answers: readonly { status: number; code?: string; headers?: Record<string, string> }[],
    options: SandbankOptions = {},
  ): Promise<Scripted> {
    const receiver = await openReceiver((_received, response, count) => {
      const {
        status,
        code = 'x',
        headers = {},
      } = answers[Math.min(count, answers.length) - 1] ?? { status: 200 };
      const error = { code, message: 'Scripted error.', retryable: false, docUrl: '' };
      const body =
        status < 400 ? { object: 'payment', id: 'pay_1' } : { object: 'error', requestId: 'req_body', error };
      response.writeHead(status, {
        'Content-Type': 'application/json',
        'Request-Id': `req_${count}`,
        ...headers,
      });
      response.end(JSON.stringify(body));
    });
    onTestFinished(receiver.close);
    const [waits, retries]: [number[], Retry[]] = [[], []];
    const sandbank = new Sandbank({
      apiKey: 'sbk_sandbox_x',
      baseUrl: `http://127.0.0.1:${receiver.port}`,
      random: () => 0.5,
      sleep: async (ms) => void waits.push(ms),
      onRetry: (retry) => retries.push(retry),
      ...options,
    });
    return { receiver, sandbank, waits, retries };
  }

  const create = (sandbank: Sandbank) => sandbank.payments.create({ amount: 1, currency: 'EUR' });
  const keysOf = ({ received }: Receiver) =>
    new Set(received.map(({ headers }) => headers['idempotency-key']));

  test.each([
    [429, 'rate_limited'],
    [500, 'internal_error'],
    [502, 'x'],
    [503, 'service_unavailable'],
    [504, 'x'],
    [409, 'idempotency_in_progress'],
  ])('%i %s is retried with the same key, with growing delays', async (status, code) => {
    const failure = { status, code };
    const { receiver, sandbank, waits, retries } = await scripted([
      failure,
      failure,
      failure,
      { status: 201 },
    ]);
    const payment = await create(sandbank);
    expect(responseOf(payment)?.attempts).toBe(4);
    expect(keysOf(receiver).size).toBe(1);
    expect(waits).toEqual([125, 250, 500]);
    expect(retries.map(({ retry, error }) => [retry, error.status])).toEqual(
      [1, 2, 3].map((n) => [n, status]),
    );
    expect(keysOf(receiver)).toContain(retries[0]?.idempotencyKey);
  });

  test.each([
    [400, 'invalid_request'],
    [401, 'api_key_invalid'],
    [403, 'scope_missing'],
    [404, 'resource_not_found'],
    [409, 'invalid_state_transition'],
    [409, 'clock_advancing'],
    [413, 'payload_too_large'],
    [415, 'unsupported_media_type'],
    [422, 'idempotency_key_reused'],
    [501, 'x'],
  ])('%i %s is not retried', async (status, code) => {
    const { receiver, sandbank } = await scripted([{ status, code }, { status: 201 }]);
    await expect(create(sandbank)).rejects.toMatchObject({ status, code, attempts: 1 });
    expect(receiver.received).toHaveLength(1);
  });

  test('gives up after retriesMax of the client or of the call, and reports the number of attempts', async () => {
    const { receiver, sandbank } = await scripted([{ status: 503 }]);
    await expect(create(sandbank)).rejects.toMatchObject({ status: 503, attempts: 4, requestId: 'req_4' });
    const once = sandbank.payments.create({ amount: 1, currency: 'EUR' }, { retriesMax: 1 });
    await expect(once).rejects.toMatchObject({ attempts: 2 });
    expect(receiver.received).toHaveLength(6);
  });

  test('delays have full jitter and an upper limit', async () => {
    const { sandbank, waits } = await scripted([{ status: 503 }], { random: () => 1, retriesMax: 8 });
    await expect(create(sandbank)).rejects.toThrow();
    expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
    const never = await scripted([{ status: 503 }], { random: () => 0, retriesMax: 2 });
    await expect(create(never.sandbank)).rejects.toThrow();
    expect(never.waits).toEqual([0, 0]);
  });

  test('Retry-After in seconds or as a date overrides the backoff', async () => {
    const seconds = { status: 429, headers: { 'Retry-After': '7' } };
    const past = { status: 503, headers: { 'Retry-After': new Date(0).toUTCString() } };
    const { sandbank, waits } = await scripted([seconds, past, { status: 201 }]);
    await create(sandbank);
    expect(waits).toEqual([7_000, 0]);
  });

  test('a Retry-After of more than a minute is not awaited: the call fails with retryAfterMs', async () => {
    const { sandbank, waits } = await scripted([{ status: 429, headers: { 'Retry-After': '61' } }]);
    await expect(create(sandbank)).rejects.toMatchObject({ status: 429, retryAfterMs: 61_000, attempts: 1 });
    expect(waits).toEqual([]);
  });

  test('an operator write, which has no idempotency key, is retried after 429 and not after 503', async () => {
    const { receiver } = await scripted([{ status: 503 }, { status: 429 }, { status: 200 }]);
    const operator = new Operator({
      url: `http://127.0.0.1:${receiver.port}`,
      token: 'x',
      sleep: async () => undefined,
    });
    await expect(operator.organizations.create({ name: 'a' })).rejects.toMatchObject({
      status: 503,
      attempts: 1,
    });
    await operator.organizations.create({ name: 'a' });
    expect(receiver.received).toHaveLength(3);
  });

  test('an HTML page with status 200 is an unreadable_answer error', async () => {
    const receiver = await openReceiver((_received, response) =>
      response.writeHead(200).end('<html>hello</html>'),
    );
    onTestFinished(receiver.close);
    const sandbank = new Sandbank({ apiKey: 'x', baseUrl: `http://127.0.0.1:${receiver.port}/` });
    await expect(sandbank.status()).rejects.toMatchObject({ code: 'unreadable_answer', status: 200 });
  });
});

describe('a server that does not respond', () => {
  /** Accepts requests and sends nothing, or only the start of a response. */
  async function silentServer(sendsHead: boolean, options: SandbankOptions = {}) {
    const receiver = await openReceiver((_received, response) => {
      if (sendsHead) response.writeHead(200, { 'Content-Type': 'application/json' }).write('{"object":');
    });
    onTestFinished(receiver.close);
    const baseUrl = `http://127.0.0.1:${receiver.port}`;
    return {
      receiver,
      sandbank: new Sandbank({ apiKey: 'x', baseUrl, sleep: async () => undefined, ...options }),
    };
  }

  test.each([[false], [true]])(
    'times out each attempt (head sent: %s), which is retried with the same key',
    async (sendsHead) => {
      const { fetch, sent } = recorder();
      const { sandbank } = await silentServer(sendsHead, { timeoutMs: 30, retriesMax: 1, fetch });
      const call = sandbank.payments.create({ amount: 1, currency: 'EUR' });
      await expect(call).rejects.toBeInstanceOf(TimeoutError);
      await expect(call).rejects.toMatchObject({ code: 'timed_out', attempts: 2, retryable: true });
      expect(new Set(sent.map(({ headers }) => headers.get('idempotency-key'))).size).toBe(1);
    },
  );

  test('a timeout can be set for one call', async () => {
    const { sandbank } = await silentServer(false, { retriesMax: 0 });
    await expect(sandbank.status({ timeoutMs: 20 })).rejects.toThrow('within 20 ms');
  });

  test.each([[false], [true]])(
    'the abort signal ends the call (head sent: %s) and throws its reason',
    async (sendsHead) => {
      const { receiver, sandbank } = await silentServer(sendsHead);
      const controller = new AbortController();
      const call = sandbank.status({ signal: controller.signal });
      await receiver.waitFor(1);
      controller.abort(new Error('no longer needed'));
      await expect(call).rejects.toThrow('no longer needed');
      expect(receiver.received).toHaveLength(1);
    },
  );

  test('no request is sent when the signal is already aborted', async () => {
    const { receiver, sandbank } = await silentServer(false);
    await expect(sandbank.status({ signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    });
    await expect(sandbank.payments.list({}, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(receiver.received).toHaveLength(0);
  });

  test('the abort signal also ends the delay before a retry', async () => {
    const receiver = await openReceiver((_received, response) =>
      response.writeHead(503, { 'Retry-After': '50' }).end(),
    );
    onTestFinished(receiver.close);
    const controller = new AbortController();
    const sandbank = new Sandbank({
      apiKey: 'x',
      baseUrl: `http://127.0.0.1:${receiver.port}`,
      onRetry: () => queueMicrotask(() => controller.abort(new Error('enough'))),
    });
    await expect(sandbank.status({ signal: controller.signal })).rejects.toThrow('enough');
    expect(receiver.received).toHaveLength(1);
  });

  test('a refused connection is an error that says how to fix it', async () => {
    const receiver = await openReceiver();
    await receiver.close();
    const sandbank = new Sandbank({
      apiKey: 'x',
      baseUrl: `http://127.0.0.1:${receiver.port}`,
      retriesMax: 0,
    });
    const error = await sandbank.status().catch((one: unknown) => one);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(String(error)).toMatch(/ECONNREFUSED.*start the server, or set SANDBANK_URL/);
  });
});
