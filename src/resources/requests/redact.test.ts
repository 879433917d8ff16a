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
  ])('%j', (sent, stored) => {
    expect(JSON.parse(redactBody(json(sent)))).toEqual(stored);
  });

  it('also when the name is written with escapes', () => {
    expect(redactBody('{"pass\\u0077ord":"hunter2"}')).toBe('{"password":"[redacted]"}');
  });
});

describe('a value is hidden by its pattern, in any field', () => {
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
  ])('%s', (sent, stored) => {
    expect(JSON.parse(redactBody(json({ note: [{ deep: sent }] })))).toEqual({ note: [{ deep: stored }] });
    expect(redactBody(`in a text: ${sent}`, 'response')).toBe(`in a text: ${stored}`);
    expect(redactBody(json({ [sent]: 1 }))).toBe(json({ [stored]: 1 }));
  });

  test('a number with as many digits as a card', () => {
    expect(redactBody('{"amount":4242424242424242}')).toBe('{"amount":"************4242"}');
  });
});

describe('a body without secrets is unchanged, byte for byte', () => {
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
  ])('%s', (text) => {
    expect(redactBody(text)).toBe(text);
  });
});

describe('a request body that is not valid JSON', () => {
  const rest = (length: number) => `[${length} characters not stored: not valid JSON]`;

  test.each([
    ['{"password":"hunter2"', '{"password":"[redacted]"'],
    ['{"p\\u0061ssword":"hunter2"', '{"password":"[redacted]"'.replace('password', 'p\\u0061ssword')],
    ['{"password": "hunt', `{"password":${rest(6)}`],
    ['{"client_secret" : "with \\" in it", "b": 1,}', `{"client_secret" : "[redacted]", "b": 1,${rest(1)}`],
    ['{"token":{"deep":["hunter2",[true', '{"token":{"deep":["[redacted]",[true'],
    ["{'password':'hunter2'}", `{${rest(21)}`],
    ['a=b&password=hunter2', rest(20)],
    ['password: hunter2', rest(17)],
    ['<password>hunter2</password>', rest(28)],
    ['{"a":"b"} password=hunter2', `{"a":"b"}${rest(17)}`],
    ['{"a":"\0hunter2"}', `{"a":${rest(11)}`],
    ['{password:"hunter2"}', `{${rest(19)}`],
    ['{"a" "hunter2"}', `{"a"${rest(11)}`],
    ['[1,2', '[1,2'],
    ['hunter2', rest(7)],
    ['{"a":1hunter2}', `{"a":${rest(9)}`],
  ])('%s is stored up to the first character that is not JSON', (sent, stored) => {
    expect(redactBody(sent)).toBe(stored);
    expect(redactBody(sent)).not.toContain('hunter2');
  });

  test('a body that is too long to parse is redacted token by token', () => {
    const long = JSON.stringify({
      tokens: [{ a: 'hunter2' }],
      'p\u0061ssword': { b: 'hunter2' },
      c: 'x'.repeat(40_000),
    });
    for (const text of [long, long.replace('password', 'p\\u0061ssword')]) {
      const stored = redactBody(text);
      expect(stored).toMatch(
        /^\{"tokens":\[\{"a":"\[redacted\]"\}\],"p.+ssword":\{"b":"\[redacted\]"\},"c":/,
      );
      expect(stored).not.toContain('hunter2');
      expect(redactBody(text, 'response')).not.toContain('hunter2');
    }
  });

  test('a response that is not JSON comes from Sandbank and is stored', () => {
    const csv = 'date,amount\n2026-11-15,1250\n';
    expect(redactBody(csv, 'response')).toBe(csv);
    expect(redactBody(csv)).toBe(rest(csv.length));
  });
});

describe('a URL', () => {
  test.each([
    ['https://hooks.test/in?token=hunter2&a=b', 'https://hooks.test/in?token=[redacted]&a=b'],
    ['https://hooks.test/in?a=b&key=hunter2#x', 'https://hooks.test/in?a=b&key=[redacted]#x'],
    ['https://hooks.test/in?api_key=hunter2', 'https://hooks.test/in?api_key=[redacted]'],
    ['https://hooks.test/in?t%6Fken=hunter2', 'https://hooks.test/in?t%6Fken=[redacted]'],
    ['https://hooks.test/in?%E0%A4%A=hunter2', 'https://hooks.test/in?%E0%A4%A=[redacted]'],
    ['https://hooks.test/#access_token=hunter2', 'https://hooks.test/#access_token=[redacted]'],
    ['https://ada:hunter2@hooks.test/in', 'https://[redacted]@hooks.test/in'],
    ['https://ada:p@hunter2@hooks.test/in', 'https://[redacted]@hooks.test/in'],
    ['https://hooks.test/services/T00/hunter2Xhunter2Xhunter2', 'https://hooks.test/services/T00/[redacted]'],
    ['see https://hooks.test/in?token=hunter2 please', 'see https://hooks.test/in?token=[redacted] please'],
  ])('%s is stored without its credentials', (sent, stored) => {
    expect(JSON.parse(redactBody(json({ url: sent })))).toEqual({ url: stored });
    expect(JSON.parse(redactBody(json({ url: sent }), 'response'))).toEqual({ url: stored });
  });

  test('without credentials is unchanged', () => {
    for (const url of [
      'https://hooks.test/payments?limit=5&cursor=cGF5XzAx',
      'http://127.0.0.1:4000/docs/errors#amount_exceeds_refundable',
      'https://hooks.test/pay_01m7epxwjmf7za77rhky2f93cc/events',
      'https://hooks.test/a/longer-name-without-digits',
    ])
      expect(redactBody(json({ url }))).toBe(json({ url }));
  });
});

describe('a field with the name of a key', () => {
  test.each([
    [{ apiKey: 'hunter2' }, { apiKey: '[redacted]' }],
    [
      { api_key: 'hunter2', 'x-api-key': 'hunter2' },
      { api_key: '[redacted]', 'x-api-key': '[redacted]' },
    ],
    [{ apiKey: { id: 'key_1', name: 'ci' } }, { apiKey: { id: 'key_1', name: 'ci' } }],
    [{ note: 'Authorization is Bearer hunter2hunter2' }, { note: 'Authorization is Bearer [redacted]' }],
  ])('%j', (sent, stored) => {
    expect(JSON.parse(redactBody(json(sent)))).toEqual(stored);
  });
});

describe('a long body', () => {
  it('is cut at 16 KiB, and not inside a character', () => {
    for (const origin of ['request', 'response'] as const) {
      const bodyOf = (text: string) => redactBody(json(text), origin);
      expect(bodyOf('x'.repeat(20_000))).toHaveLength(16_384);
      expect(bodyOf('€'.repeat(10_000))).toBe(`"${'€'.repeat(5_461)}`);
      expect(bodyOf(`x${'€'.repeat(10_000)}`)).toBe(`"x${'€'.repeat(5_460)}`);
      expect(Buffer.byteLength(bodyOf('€'.repeat(10_000)))).toBe(16_384);
    }
  });

  it('hides a secret at the position of the cut', () => {
    for (const length of [16_370, 16_380, 32_740, 32_760]) {
      const stored = redactBody(`{"a":"${'x'.repeat(length)}${key}","b":"${'y'.repeat(40_000)}"}`);
      expect(Buffer.byteLength(stored)).toBeLessThanOrEqual(16_384);
      expect(stored).not.toMatch(/aB3/);
    }
  });
});

describe('a hostile body', () => {
  const length = 32_768;
  const opens = (text: string) => redactBody(`{"token":${text.repeat(length)}`.slice(0, length));
  test('that is deeper than the stack is cut short', () => {
    const depth = 15_000;
    for (const name of ['token', 'a\\u0062']) {
      const stored = redactBody(`{"${name}":${'['.repeat(depth)}${']'.repeat(depth)}}`);
      expect(stored).toMatch(/^\{"(token|ab)":\[+"\[redacted\]"\]+\}$/);
      expect(redactBody(`{"${name}":${'['.repeat(depth)}`)).toMatch(
        /^\{".+":\[{39}\[14961 characters not stored/,
      );
    }
  });

  const hostile = [
    '/console/',
    '"secret',
    'secretsecret',
    '://',
    'a://',
    'https://a@',
    '1 ',
    '"token" ',
    'sbk_sandbox_',
    '\\',
    '\\u0061',
  ];
  const forms = [
    'token=',
    '&',
    '&token',
    'key"',
    '?token=a&',
    'a1',
    '/a1',
    '[',
    '{"a":',
    '"a",',
    '"\\"',
    'number"',
    'Bearer ',
    'Basic =',
    '%',
    '-1e',
    ' ',
    '\0',
  ];
  test.each([...hostile, ...forms])('of nothing but %j takes time in proportion to its length', (text) => {
    // Processor time, because wall time includes other processes on a busy machine.
    const timed = (work: () => void) => {
      const begun = process.cpuUsage();
      work();
      const { user, system } = process.cpuUsage(begun);
      return (user + system) / 1_000;
    };
    const body = text.repeat(length).slice(0, length);
    const took = [
      timed(() => opens(text)),
      timed(() => redactBody(body)),
      timed(() => redactBody(body, 'response')),
      timed(() => redactBody(json({ a: body.slice(0, length / 2) }))),
      timed(() => redactBody(json({ url: `https://a.test/${body}` }))),
      timed(() => redactBody(json({ url: `https://a.test/?${body}` }), 'response')),
      timed(() => redactLine(body, length)),
      timed(() => redactLine(`/${body}`, length)),
    ];
    expect(Math.max(...took), took.join(' ')).toBeLessThan(200);
  });
});

describe('a line', () => {
  test.each([
    [`/_api/developer_api_payments/${key}`, '/_api/developer_api_payments/sbk_sandbox_[redacted]'],
    [`limit=5&token=${token}&a=b`, 'limit=5&token=[redacted]&a=b'],
    ['client_secret=x', 'client_secret=[redacted]'],
    ['cursor=cGF5XzAx&limit=5', 'cursor=cGF5XzAx&limit=5'],
    ['key=hunter2&t%6Fken=hunter2', 'key=[redacted]&t%6Fken=[redacted]'],
    ['errorCode=invalid_request&apiKeyId=key_1', 'errorCode=invalid_request&apiKeyId=key_1'],
    ['/hooks/hunter2Xhunter2X', '/hooks/[redacted]'],
    ['connect to https://a:hunter2@b.test failed: x=y', 'connect to https://[redacted]@b.test failed: x=y'],
    ['whsec_abc%2Fdef%3D', 'whsec_[redacted]'],
  ])('%s', (sent, stored) => {
    expect(redactLine(sent, 500)).toBe(stored);
  });

  it('is cut after redaction', () => {
    expect(redactLine('x'.repeat(900), 500)).toHaveLength(500);
    expect(redactLine(`${'x'.repeat(490)}/${key}`, 500)).toBe(`${'x'.repeat(490)}/sbk_sandb`);
  });
});
