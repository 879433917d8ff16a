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
    ['none of it', 0],
    ['its head', 40],
  ])(
    'an answer that is lost after the commit, but for %s, is asked for again with the same key: one payment',
    async (_name, bytes) => {
      const proxy = await openProxy(world.url);
      onTestFinished(proxy.close);
      const { fetch, sent } = recorder();
      const { sandbank } = await world.client({ baseUrl: proxy.url, fetch });
      proxy.loseNextAnswer(bytes);
      const payment = await sandbank.payments.create({ amount: 1250, currency: 'EUR' });
      expect(responseOf(payment)).toMatchObject({ isReplay: true, attempts: 2, status: 201 });
      const keys = sent.map(({ headers }) => headers.get('idempotency-key'));
      expect(keys).toHaveLength(2);
      expect(keys[0]).toBe(keys[1]);
      expect(sent[0]?.body).toBe(sent[1]?.body);
      expect((await sandbank.payments.list().toArray()).map(({ id }) => id)).toEqual([payment.id]);
    },
  );

  test('without retries the loss is told, and the same key finds what was done', async () => {
    const proxy = await openProxy(world.url);
    onTestFinished(proxy.close);
    const { sandbank } = await world.client({ baseUrl: proxy.url, retriesMax: 0 });
    proxy.loseNextAnswer();
    const create = () =>
      sandbank.payments.create({ amount: 1250, currency: 'EUR' }, { idempotencyKey: 'order-17' });
    await expect(create()).rejects.toBeInstanceOf(ConnectionError);
    expect(responseOf(await create())?.isReplay).toBe(true);
    expect(await sandbank.payments.list().toArray()).toHaveLength(1);
  });

  test('a lost read is read again', async () => {
    const proxy = await openProxy(world.url);
    onTestFinished(proxy.close);
    const { sandbank } = await world.client({ baseUrl: proxy.url });
    proxy.loseNextAnswer();
    const status = await sandbank.status();
    expect(responseOf(status)?.attempts).toBe(2);
  });

  test('every write has a key of its own, unless it was given one', async () => {
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

describe('a server that answers by script', () => {
  interface Scripted {
    readonly receiver: Receiver;
    readonly sandbank: Sandbank;
    readonly waits: number[];
    readonly retries: Retry[];
  }

  /** Gives the answers in order, and the last one from then on. */
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
      const error = { code, message: 'As the script says.', retryable: false, docUrl: '' };
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
  ])('%i %s is tried again with the same key, after waits that grow', async (status, code) => {
    const refused = { status, code };
    const { receiver, sandbank, waits, retries } = await scripted([
      refused,
      refused,
      refused,
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
  ])('%i %s is not tried again', async (status, code) => {
    const { receiver, sandbank } = await scripted([{ status, code }, { status: 201 }]);
    await expect(create(sandbank)).rejects.toMatchObject({ status, code, attempts: 1 });
    expect(receiver.received).toHaveLength(1);
  });

  test('gives up after retriesMax, of the client or of the call, and says how often it tried', async () => {
    const { receiver, sandbank } = await scripted([{ status: 503 }]);
    await expect(create(sandbank)).rejects.toMatchObject({ status: 503, attempts: 4, requestId: 'req_4' });
    const once = sandbank.payments.create({ amount: 1, currency: 'EUR' }, { retriesMax: 1 });
    await expect(once).rejects.toMatchObject({ attempts: 2 });
    expect(receiver.received).toHaveLength(6);
  });

  test('waits are spread over the whole span, and bounded', async () => {
    const { sandbank, waits } = await scripted([{ status: 503 }], { random: () => 1, retriesMax: 8 });
    await expect(create(sandbank)).rejects.toThrow();
    expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
    const never = await scripted([{ status: 503 }], { random: () => 0, retriesMax: 2 });
    await expect(create(never.sandbank)).rejects.toThrow();
    expect(never.waits).toEqual([0, 0]);
  });

  test('Retry-After wins: seconds, or a date', async () => {
    const seconds = { status: 429, headers: { 'Retry-After': '7' } };
    const past = { status: 503, headers: { 'Retry-After': new Date(0).toUTCString() } };
    const { sandbank, waits } = await scripted([seconds, past, { status: 201 }]);
    await create(sandbank);
    expect(waits).toEqual([7_000, 0]);
  });

  test('a server that asks for more than a minute is not waited for, and the caller is told', async () => {
    const { sandbank, waits } = await scripted([{ status: 429, headers: { 'Retry-After': '61' } }]);
    await expect(create(sandbank)).rejects.toMatchObject({ status: 429, retryAfterMs: 61_000, attempts: 1 });
    expect(waits).toEqual([]);
  });

  test('an operator, whose writes have no key, repeats reads and what was refused unread, and nothing else', async () => {
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

  test('a page of a proxy is no answer of ours', async () => {
    const receiver = await openReceiver((_received, response) =>
      response.writeHead(200).end('<html>hello</html>'),
    );
    onTestFinished(receiver.close);
    const sandbank = new Sandbank({ apiKey: 'x', baseUrl: `http://127.0.0.1:${receiver.port}/` });
    await expect(sandbank.status()).rejects.toMatchObject({ code: 'unreadable_answer', status: 200 });
  });
});

describe('an answer that does not come', () => {
  /** Takes requests and keeps quiet, before the head of an answer or behind it. */
  async function quiet(sendsHead: boolean, options: SandbankOptions = {}) {
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
    'ends with the time of the attempt (head sent: %s), and is tried again',
    async (sendsHead) => {
      const { fetch, sent } = recorder();
      const { sandbank } = await quiet(sendsHead, { timeoutMs: 30, retriesMax: 1, fetch });
      const call = sandbank.payments.create({ amount: 1, currency: 'EUR' });
      await expect(call).rejects.toBeInstanceOf(TimeoutError);
      await expect(call).rejects.toMatchObject({ code: 'timed_out', attempts: 2, retryable: true });
      expect(new Set(sent.map(({ headers }) => headers.get('idempotency-key'))).size).toBe(1);
    },
  );

  test('may have a time for one call', async () => {
    const { sandbank } = await quiet(false, { retriesMax: 0 });
    await expect(sandbank.status({ timeoutMs: 20 })).rejects.toThrow('within 20 ms');
  });

  test.each([[false], [true]])(
    'ends with the signal of the caller (head sent: %s), whose reason is thrown',
    async (sendsHead) => {
      const { receiver, sandbank } = await quiet(sendsHead);
      const controller = new AbortController();
      const call = sandbank.status({ signal: controller.signal });
      await receiver.waitFor(1);
      controller.abort(new Error('no longer needed'));
      await expect(call).rejects.toThrow('no longer needed');
      expect(receiver.received).toHaveLength(1);
    },
  );

  test('is not even asked for when the signal has ended', async () => {
    const { receiver, sandbank } = await quiet(false);
    await expect(sandbank.status({ signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    });
    await expect(sandbank.payments.list({}, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(receiver.received).toHaveLength(0);
  });

  test('a wait for a retry ends with the signal too', async () => {
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

  test('a server that is not there is named, with what to do', async () => {
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
