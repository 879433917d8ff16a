import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Sandbank, SignatureError, signWebhook, verifyWebhook } from '../../sdk/client.ts';
import { openReceiver } from '../support/receiver.ts';
import { signaturesOf } from '../support/verify-signature.ts';
import { openWorld } from './world.ts';

const newSecret = () => `whsec_${randomBytes(24).toString('base64')}`;
const secret = newSecret();
const event = {
  object: 'event',
  id: 'evt_1',
  type: 'payment.captured',
  note: 'Grüße, 你好 \u2028 🎈',
  data: { amount: 1250 },
};
const body = JSON.stringify(event);
const now = Date.UTC(2026, 10, 15, 12);

/** Signed by the reference library of the specification, which is independent of our code. */
function delivered(text = body, by = [secret], at = now) {
  const signatures = by.map((one) => new Webhook(one).sign('evt_1', new Date(at), text));
  return {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(at / 1_000)),
    'webhook-signature': signatures.join(' '),
  };
}

async function errorFrom(...args: Parameters<typeof verifyWebhook>): Promise<SignatureError> {
  const error = await verifyWebhook(...args).catch((one: unknown) => one);
  expect(error).toBeInstanceOf(SignatureError);
  return error as SignatureError;
}

describe('a delivery signed with the secret', () => {
  const bytes = new TextEncoder().encode(body);
  test.each([
    ['text', body],
    ['bytes', bytes],
    ['a Buffer', Buffer.from(body)],
    ['an ArrayBuffer', bytes.buffer as ArrayBuffer],
  ])('verifies from %s', async (_name, raw) => {
    expect(await verifyWebhook(raw, delivered(), secret, { now })).toEqual(event);
  });

  const plain = delivered();
  test.each([
    ['from Fetch', new Headers(plain)],
    ['from Node', { host: 'x', ...plain, 'set-cookie': ['a'] }],
    [
      'in upper case',
      Object.fromEntries(Object.entries(plain).map(([name, value]) => [name.toUpperCase(), value])),
    ],
    ['as lists', Object.fromEntries(Object.entries(plain).map(([name, value]) => [name, [value]]))],
    ['in a Map', new Map(Object.entries(plain))],
  ])('verifies with headers %s', async (_name, headers) => {
    expect(await verifyWebhook(body, headers, secret, { now: new Date(now) })).toEqual(event);
  });

  test('verifies during secret rotation: with both signatures and either secret, or one signature and both secrets', async () => {
    const [old, fresh] = [newSecret(), newSecret()];
    for (const one of [old, fresh])
      expect(await verifyWebhook(body, delivered(body, [old, fresh]), one, { now })).toEqual(event);
    for (const one of [old, fresh])
      expect(await verifyWebhook(body, delivered(body, [one]), [old, fresh], { now })).toEqual(event);
  });

  test('verifies with a secret without whsec_, and ignores signatures of later versions', async () => {
    const headers = delivered();
    headers['webhook-signature'] = `v2,AAAA ${headers['webhook-signature']} v1a,BBBB`;
    expect(await verifyWebhook(body, headers, secret.slice('whsec_'.length), { now })).toEqual(event);
  });

  test.each([-300, 300])(
    'verifies with a timestamp %i seconds away, and not one second more',
    async (seconds) => {
      const at = now + seconds * 1_000;
      expect(await verifyWebhook(body, delivered(body, [secret], at), secret, { now })).toEqual(event);
      const further = at + Math.sign(seconds) * 1_000;
      const error = await errorFrom(body, delivered(body, [secret], further), secret, { now });
      expect(error).toMatchObject({ check: 'timestamp', code: 'signature_invalid' });
      expect(error.message).toMatch(seconds < 0 ? /301 seconds old/ : /301 seconds in the future/);
      const options = { now, toleranceSeconds: 301 };
      expect(await verifyWebhook(body, delivered(body, [secret], further), secret, options)).toEqual(event);
    },
  );
});

describe('verification fails for', () => {
  test.each<[string, string, SignatureError['check'], RegExp, Parameters<typeof verifyWebhook>]>([
    [
      'another secret',
      '',
      'signature',
      /secret belongs to another endpoint or was rotated/,
      [body, delivered(), newSecret(), { now }],
    ],
    [
      'another body',
      '',
      'signature',
      /No signature matches/,
      [body.replace('1250', '9250'), delivered(), secret, { now }],
    ],
    [
      'another id',
      '',
      'signature',
      /No signature matches/,
      [body, { ...delivered(), 'webhook-id': 'evt_2' }, secret, { now }],
    ],
    [
      'a parsed body',
      '',
      'body',
      /already parsed.+express\.raw.+request\.text\(\)/s,
      [event as unknown as string, delivered(), secret, { now }],
    ],
    ['no body', '', 'body', /already parsed/, [undefined as unknown as string, delivered(), secret, { now }]],
    [
      'a reserialized body',
      '',
      'signature',
      /parsed and serialized again.+raw body/,
      [JSON.stringify(JSON.parse(body), null, 2), delivered(), secret, { now }],
    ],
    ['no headers', '', 'headers', /webhook-id is missing/, [body, {}, secret, { now }]],
    [
      'no signature',
      '',
      'headers',
      /webhook-signature is missing/,
      [body, { ...delivered(), 'webhook-signature': undefined }, secret, { now }],
    ],
    [
      'a signature of another kind',
      '',
      'signature',
      /starts with "v1,"/,
      [body, { ...delivered(), 'webhook-signature': 'abc' }, secret, { now }],
    ],
    [
      'an empty signature',
      '',
      'signature',
      /No signature matches/,
      [body, { ...delivered(), 'webhook-signature': 'v1,' }, secret, { now }],
    ],
    [
      'no time',
      '',
      'timestamp',
      /not a number/,
      [body, { ...delivered(), 'webhook-timestamp': 'noon' }, secret, { now }],
    ],
    [
      'a time in milliseconds',
      '',
      'timestamp',
      /in milliseconds/,
      [body, { ...delivered(), 'webhook-timestamp': String(now) }, secret, { now }],
    ],
    [
      'a line break that was not sent',
      '',
      'signature',
      /ends with a line break/,
      [`${body}\n`, delivered(), secret, { now }],
    ],
    ['no secret', '', 'secret', /whsec_/, [body, delivered(), [], { now }]],
    [
      'an undefined secret',
      '',
      'secret',
      /whsec_/,
      [body, delivered(), undefined as unknown as string, { now }],
    ],
    [
      'a key instead of a secret',
      '',
      'secret',
      /is not valid/,
      [body, delivered(), 'sbk_sandbox_!', { now }],
    ],
  ])(
    '%s%s: the %s check fails with a message that says how to fix it',
    async (_name, _gap, check, message, args) => {
      const error = await errorFrom(...args);
      expect(error.check).toBe(check);
      expect(error.message).toMatch(message);
      expect(error.message).not.toContain(secret);
    },
  );

  test('a signed body that is not JSON', async () => {
    expect(await errorFrom('hello', delivered('hello'), secret, { now })).toMatchObject({ check: 'body' });
  });

  test('thousands of signatures cost no more than four', async () => {
    const verify = vi.spyOn(crypto.subtle, 'verify');
    onTestFinished(() => verify.mockRestore());
    const headers = delivered();
    const wrong = Array.from({ length: 4_000 }, () => `v1,${'A'.repeat(43)}=`);
    const valid = headers['webhook-signature'];
    const among = { ...headers, 'webhook-signature': [wrong[0], valid, ...wrong].join(' ') };
    expect(await verifyWebhook(body, among, secret, { now })).toEqual(event);
    expect(verify).toHaveBeenCalledTimes(2);
    const refused = { ...headers, 'webhook-signature': [...wrong, valid].join(' ') };
    await errorFrom(body, refused, secret, { now });
    // The diagnosis tries about a dozen mistakes.
    expect(verify.mock.calls.length).toBeLessThan(100);
  });

  test('a timestamp too old for the system clock, which is the default', async () => {
    expect(await errorFrom(body, delivered(body, [secret], Date.now() - 301_000), secret)).toMatchObject({
      check: 'timestamp',
    });
    expect(await verifyWebhook(body, delivered(body, [secret], Date.now()), secret)).toEqual(event);
  });
});

describe('signWebhook', () => {
  test('creates signatures that the reference library and the client accept', async () => {
    const [old, fresh] = [newSecret(), newSecret()];
    const signed = await signWebhook(event, [old, fresh]);
    for (const one of [old, fresh]) {
      expect(new Webhook(one).verify(signed.body, signed.headers)).toEqual(event);
      expect(await Sandbank.webhooks.verify(signed.body, signed.headers, one)).toEqual(event);
    }
    expect(signaturesOf(signed, old)).toEqual([0]);
    expect(signaturesOf(signed, fresh)).toEqual([1]);
    expect(signed.headers['webhook-id']).toBe('evt_1');
  });

  test('accepts an id and a timestamp', async () => {
    const { headers } = await signWebhook(body, secret, { id: 'evt_9', timestamp: new Date(now) });
    expect(headers).toMatchObject({ 'webhook-id': 'evt_9', 'webhook-timestamp': String(now / 1_000) });
  });
});

test('deliveries of the server verify, also through the client', async () => {
  const world = await openWorld('pglite');
  onTestFinished(world.close);
  const receiver = await openReceiver();
  onTestFinished(receiver.close);
  const { sandbank } = await world.client();
  const webhook = await sandbank.webhooks.create({ url: receiver.url, eventTypes: ['payment.*'] });
  const payment = await sandbank.payments.create({ amount: 1250, currency: 'EUR' });
  const [request] = await receiver.waitFor(1);
  const got = await sandbank.webhooks.verify(
    request?.body ?? '',
    request?.headers ?? {},
    webhook.secret ?? '',
  );
  expect(got.type === 'payment.created' && got.data.id).toBe(payment.id);
  expect(got.id).toBe(request?.headers['webhook-id']);
});
