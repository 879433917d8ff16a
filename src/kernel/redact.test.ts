import { describe, expect, it, test } from 'vitest';
import { redactBody, redactLine } from './redact.ts';

const key = `sbk_sandbox_${'aB3'.repeat(10)}xY`;
const webhookSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const token = 'Zk3v_9aQ-xT1mWc7LpR2sYb8';
const json = (value: unknown) => JSON.stringify(value);

describe('a field is hidden by its name', () => {
  test.each([
    [{ secret: webhookSecret }, { secret: '[redacted]' }],
    [{ clientSecret: 'abc' }, { clientSecret: '[redacted]' }],
    [{ currentPassword: 'correct horse' }, { currentPassword: '[redacted]' }],
    [{ PASSWORD: 12345678 }, { PASSWORD: '[redacted]' }],
    [{ token: { value: 'abc', uses: 3 } }, { token: { value: '[redacted]', uses: 3 } }],
    [{ secrets: ['a', 'b'] }, { secrets: ['[redacted]', '[redacted]'] }],
    [{ headers: { Authorization: 'Basic abc' } }, { headers: { Authorization: '[redacted]' } }],
    [{ card: { cvc: '123' } }, { card: { cvc: '[redacted]' } }],
    [{ card_cvv2: '123' }, { card_cvv2: '[redacted]' }],
    [{ card: { number: '4242424242424242' } }, { card: { number: '************4242' } }],
    [{ number: '4242 4242 4242 4242' }, { number: '************4242' }],
    [{ cardNumber: 4242424242424242 }, { cardNumber: '************4242' }],
    [{ number: '424242424242' }, { number: '********4242' }],
  ])('%j', (sent, kept) => {
    expect(JSON.parse(redactBody(json(sent)))).toEqual(kept);
  });

  it('also when the name is written with escapes', () => {
    expect(redactBody('{"pass\\u0077ord":"hunter2"}')).toBe('{"password":"[redacted]"}');
  });
});

describe('a value is hidden by what it looks like, wherever it is', () => {
  test.each([
    [`my key is ${key}.`, 'my key is sbk_sandbox_[redacted].'],
    [`${webhookSecret}==`, 'whsec_[redacted]'],
    ['https://ada:hunter2@example.test/hook', 'https://[redacted]@example.test/hook'],
    ['card 4242424242424242 please', 'card ************4242 please'],
    ['4242-4242-4242-4242', '************4242'],
    ['6011 0009 9013 9424', '************9424'],
    ['378282246310005', '***********0005'],
    [`https://bank.test/console/invitations/${token}`, 'https://bank.test/console/invitations/[redacted]'],
    [`https://bank.test/console/reset?t=${token}`, 'https://bank.test/console/reset?t=[redacted]'],
    [`https://bank.test/console/reset#${token}`, 'https://bank.test/console/reset#[redacted]'],
  ])('%s', (sent, kept) => {
    expect(JSON.parse(redactBody(json({ note: [{ deep: sent }] })))).toEqual({ note: [{ deep: kept }] });
    expect(redactBody(`{ not json: ${sent}`)).toBe(`{ not json: ${kept}`);
    expect(redactBody(json({ [sent]: 1 }))).toBe(json({ [kept]: 1 }));
  });

  test('a number with as many digits as a card', () => {
    expect(redactBody('{"amount":4242424242424242}')).toBe('{"amount":"************4242"}');
  });
});

describe('what is no secret stays, byte for byte', () => {
  test.each([
    '{"amount":999999999999,"currency":"EUR","createdAt":"2026-11-15T09:00:00.000Z"}',
    '{"attempts":[{"number":3}],"lastFour":"4242"}',
    '{"previousSecretExpiresAt":"2026-11-15T09:00:00.000Z","secretless":null,"tokens":12}',
    '{"limits":{"authorizationDays":7}}',
    '{"reference":"order-1731661234567","at":1731661234567}',
    '{"id":"11111111-1111-4111-8111-111111111111","rate":"1.2345678901234567"}',
    '{"id":"pay_01999999999999999999999999"}',
    '{"url":"https://bank.test/console/org_01m7epxwjmf7za77rhky2f93cc/app_01m7epxwjmf7za77rhky2f93cc"}',
    '{ "spaces" : "stay" ,  "a": [ ] }',
    'date,amount\n2026-11-15,1250\n',
    '',
  ])('%s', (text) => {
    expect(redactBody(text)).toBe(text);
  });
});

describe('what is not JSON', () => {
  test.each([
    ['{"password":"hunter2"', '{"password":"[redacted]"'],
    ['{"password": "hunt', '{"password": "[redacted]"'],
    ['{"a":"\0"}', '{"a":"\ufffd"}'],
    ['{"client_secret" : "with \\" in it", "b": 1,}', '{"client_secret" : "[redacted]", "b": 1,}'],
  ])('%s', (sent, kept) => {
    expect(redactBody(sent)).toBe(kept);
  });
});

describe('a long body', () => {
  it('is cut at 16 KiB, and not inside a character', () => {
    expect(redactBody('x'.repeat(20_000))).toHaveLength(16_384);
    const cut = redactBody(`x${'€'.repeat(10_000)}`);
    expect(Buffer.byteLength(cut)).toBe(16_384);
    expect(redactBody(`xy${'€'.repeat(10_000)}`)).toBe(`xy${'€'.repeat(5_460)}`);
    expect(cut.endsWith('€')).toBe(true);
  });

  it('hides a secret that lies where it is cut', () => {
    for (const place of [16_370, 16_380, 32_740, 32_760]) {
      const kept = redactBody(`{"a":"${'x'.repeat(place)}${key}","b":"${'y'.repeat(40_000)}"}`);
      expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(16_384);
      expect(kept).not.toMatch(/aB3/);
    }
  });
});

describe('a hostile body', () => {
  const opens = (text: string) => redactBody(`{"token":${text.repeat(16_000)}`);
  test('that is deeper than the stack is cut short', () => {
    const depth = 15_000;
    for (const name of ['token', 'a\\u0062']) {
      const kept = redactBody(`{"${name}":${'['.repeat(depth)}${']'.repeat(depth)}}`);
      expect(kept).toMatch(/^\{"(token|ab)":\[+"\[redacted\]"\]+\}$/);
    }
  });

  test.each(['/console/', '"secret', 'secretsecret', '://', '1 ', '"token" ', 'sbk_sandbox_', '\\'])(
    'of nothing but %s is judged in no more than the time that its length asks for',
    (text) => {
      const begun = process.hrtime.bigint();
      opens(text);
      redactBody(text.repeat(16_000));
      expect(Number(process.hrtime.bigint() - begun) / 1e6).toBeLessThan(2_000);
    },
  );
});

describe('a line', () => {
  test.each([
    [`/_api/developer_api_payments/${key}`, '/_api/developer_api_payments/sbk_sandbox_[redacted]'],
    [`limit=5&token=${token}&a=b`, 'limit=5&token=[redacted]&a=b'],
    ['client_secret=x', 'client_secret=[redacted]'],
    ['cursor=cGF5XzAx&limit=5', 'cursor=cGF5XzAx&limit=5'],
    ['whsec_abc%2Fdef%3D', 'whsec_[redacted]'],
  ])('%s', (sent, kept) => {
    expect(redactLine(sent, 500)).toBe(kept);
  });

  it('is cut after it was redacted', () => {
    expect(redactLine('x'.repeat(900), 500)).toHaveLength(500);
    expect(redactLine(`${'x'.repeat(490)}/${key}`, 500)).toBe(`${'x'.repeat(490)}/sbk_sandb`);
  });
});
