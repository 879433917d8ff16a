import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  AuthenticationError,
  ConflictError,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  Sandbank,
  SandbankError,
  ServerError,
} from '../../sdk/client.ts';
import { errorOf } from '../../sdk/errors.ts';
import { databaseKinds } from '../support/server.ts';
import { newKey } from '../support/tenant.ts';
import { openWorld, type World } from './world.ts';

async function errorFrom(call: PromiseLike<unknown>): Promise<SandbankError> {
  const error = await Promise.resolve(call).catch((one: unknown) => one);
  expect(error).toBeInstanceOf(SandbankError);
  expect((error as SandbankError).requestId).toMatch(/^req_[0-9a-z]{26}$/);
  expect((error as SandbankError).docUrl).toMatch(/^http.+\/docs\/errors#/);
  return error as SandbankError;
}

describe.each(databaseKinds)('errors of a server on %s', (kind) => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld(kind);
  });
  afterAll(() => world?.close());

  test('400 names the invalid field', async () => {
    const { sandbank } = await world.client();
    const error = await errorFrom(sandbank.payments.create({ amount: -1, currency: 'EUR' }));
    expect(error).toBeInstanceOf(InvalidRequestError);
    expect(error).toMatchObject({
      name: 'InvalidRequestError',
      status: 400,
      code: 'invalid_request',
      param: '/amount',
    });
  });

  test('401 is an AuthenticationError', async () => {
    const error = await errorFrom(new Sandbank({ apiKey: newKey(), baseUrl: world.url }).status());
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error).toMatchObject({ status: 401, code: 'api_key_invalid', retryable: false });
  });

  test('403 names the missing scope, or the organization mismatch', async () => {
    const { sandbank, tenant } = await world.client({}, { scopes: ['payments:read'] });
    const error = await errorFrom(sandbank.payments.create({ amount: 1, currency: 'EUR' }));
    expect(error).toBeInstanceOf(PermissionError);
    expect(error).toMatchObject({ status: 403, code: 'scope_missing' });
    expect(error.message).toContain('payments:write');
    const organization = 'org_01m7epxwjmf7za77rhky2f93cc';
    const stranger = new Sandbank({ apiKey: tenant.key, baseUrl: world.url, organization });
    expect(await errorFrom(stranger.status())).toMatchObject({ code: 'organization_mismatch' });
  });

  test('404 is a NotFoundError', async () => {
    const { sandbank } = await world.client();
    const error = await errorFrom(sandbank.payments.retrieve('pay_01m7epxwjmf7za77rhky2f93cc'));
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({ status: 404, code: 'resource_not_found' });
  });

  test('409 lists the allowed actions, and is marked as a replay when the key is sent again', async () => {
    const { sandbank } = await world.client();
    const { id } = await sandbank.payments.create({ amount: 1250, currency: 'EUR' });
    const settle = () => sandbank.payments.advance(id, { action: 'settle' }, { idempotencyKey: 'too-early' });
    const error = await errorFrom(settle());
    expect(error).toBeInstanceOf(ConflictError);
    expect(error).toMatchObject({ status: 409, code: 'invalid_state_transition', isReplay: false });
    expect(error.allowedActions).toContain('authorize');
    const again = await errorFrom(settle());
    expect(again).toMatchObject({ code: 'invalid_state_transition', isReplay: true });
    expect(again.requestId).not.toBe(error.requestId);
  });

  test('422 is an InvalidRequestError', async () => {
    const { sandbank } = await world.client();
    const { id } = await sandbank.payments.create({ amount: 1250, currency: 'EUR' });
    await sandbank.payments.advance(id, { to: 'captured' });
    const error = await errorFrom(sandbank.payments.refund(id, { amount: 1251 }));
    expect(error).toBeInstanceOf(InvalidRequestError);
    expect(error).toMatchObject({ status: 422, code: 'amount_exceeds_refundable' });
  });

  test('413 is an InvalidRequestError', async () => {
    const { sandbank } = await world.client();
    const description = 'x'.repeat(300 * 1024);
    const error = await errorFrom(sandbank.payments.create({ amount: 1, currency: 'EUR', description }));
    expect(error).toBeInstanceOf(InvalidRequestError);
    expect(error).toMatchObject({ status: 413, code: 'payload_too_large' });
  });

  test('429 is thrown after the retries, which wait for Retry-After', async () => {
    const limited = await openWorld(kind, { rateLimit: 1 });
    try {
      const waits: number[] = [];
      const { sandbank } = await limited.client({ retriesMax: 1, sleep: async (ms) => void waits.push(ms) });
      const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => sandbank.status()));
      const rejected = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
      expect(rejected.length).toBeGreaterThan(0);
      for (const error of rejected) {
        expect(error).toBeInstanceOf(RateLimitError);
        expect(error).toMatchObject({ status: 429, code: 'rate_limited', attempts: 2, retryable: true });
      }
      expect(waits.every((ms) => ms >= 1_000)).toBe(true);
    } finally {
      await limited.close();
    }
  });
});

test.each([
  [500, ServerError],
  [503, ServerError],
  [405, InvalidRequestError],
  [415, InvalidRequestError],
  [418, SandbankError],
])('%i is a %o, also when the body is not readable', (status, Class) => {
  const error = errorOf({ status, text: '<html>' }, { requestId: undefined, baseUrl: '' });
  expect(error.constructor).toBe(Class);
  expect(error).toMatchObject({ status, code: 'unreadable_answer' });
});

describe('a client', () => {
  test('throws in the constructor without a key or with an invalid address', () => {
    const savedKey = process.env.SANDBANK_API_KEY;
    delete process.env.SANDBANK_API_KEY;
    expect(() => new Sandbank()).toThrow(/set SANDBANK_API_KEY/);
    if (savedKey !== undefined) process.env.SANDBANK_API_KEY = savedKey;
    expect(() => new Sandbank({ apiKey: 'x', baseUrl: 'localhost:4000' })).toThrow(
      /localhost:4000 is not a server address/,
    );
    expect(() => new Sandbank({ apiKey: 'x', retriesMax: -1 })).toThrow(/retriesMax/);
  });

  test('reads key and address from the environment', () => {
    Object.assign(process.env, { SANDBANK_API_KEY: 'sbk_sandbox_x', SANDBANK_URL: 'http://127.0.0.1:4321/' });
    try {
      expect(new Sandbank().baseUrl).toBe('http://127.0.0.1:4321');
      expect(new Sandbank({ baseUrl: 'http://127.0.0.1:1/below' }).baseUrl).toBe('http://127.0.0.1:1/below');
    } finally {
      delete process.env.SANDBANK_API_KEY;
      delete process.env.SANDBANK_URL;
    }
  });

  test('reads the old name of the key variable, and warns once', () => {
    process.env.SANDBANK_KEY = 'sbk_sandbox_x';
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    try {
      for (let i = 0; i < 2; i += 1) expect(() => new Sandbank()).not.toThrow();
      expect(warn.mock.calls).toEqual([[expect.stringContaining('Set SANDBANK_API_KEY instead.')]]);
    } finally {
      warn.mockRestore();
      delete process.env.SANDBANK_KEY;
    }
  });
});
