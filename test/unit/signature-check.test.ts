import { createHmac, randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { checkSignature, type ReceivedRequest } from '../../cli/signature-check.ts';

const now = Date.parse('2031-03-04T10:00:00.000Z');
const timestamp = String(now / 1_000);
const secret = `whsec_${randomBytes(32).toString('base64')}`;
const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
const id = 'evt_01m7epxwjmf7za77rhky2f93cc';
const body = '{"type": "payment.created","data": {"amount": 1250}}';
const sign = (text: string, of = secret) => new Webhook(of).sign(id, new Date(now), text);
const hmac = (with_: Buffer, text: string, as: 'base64' | 'hex' = 'base64') =>
  `v1,${createHmac('sha256', with_).update(text).digest(as)}`;

const received: ReceivedRequest = { secret, id, timestamp, signature: sign(body), body };
const check = (changed: Partial<ReceivedRequest>, at = now) =>
  checkSignature({ ...received, ...changed }, at);
const messages = async (changed: Partial<ReceivedRequest>, at = now) =>
  (await check(changed, at)).findings.map((finding) => finding.words).join(' ');

describe('the signature debugger', () => {
  it('accepts a valid signature, also among others and without the secret prefix', async () => {
    expect(await check({})).toMatchObject({ isValid: true });
    const others = `v1,AAAA v2,BBBB ${sign(body)}`;
    expect((await check({ signature: others })).isValid).toBe(true);
    expect((await check({ secret: secret.slice(6) })).isValid).toBe(true);
  });

  const text = `${id}.${timestamp}.${body}`;
  it.each<[string, Partial<ReceivedRequest>, string]>([
    [
      'serialized again',
      { signature: sign(body), body: JSON.stringify(JSON.parse(body)) },
      'another endpoint',
    ],
    [
      'pretty where compact was sent',
      { signature: sign(JSON.stringify(JSON.parse(body))), body },
      'parsed and serialized again',
    ],
    ['a line break more', { body: `${body}\n` }, 'ends with a line break'],
    ['a line break less', { signature: sign(`${body}\n`) }, 'lacks the line break'],
    ['CRLF', { signature: sign('{\n}'), body: '{\r\n}' }, 'CRLF'],
    ['a byte order mark', { body: `\ufeff${body}` }, 'byte order mark'],
    ['a secret that was not decoded', { signature: hmac(Buffer.from(secret.slice(6)), text) }, 'base64 text'],
    ['a secret used as text', { signature: hmac(Buffer.from(secret), text) }, 'secret as text'],
    ['the body alone', { signature: hmac(key, body) }, 'body alone'],
    ['hexadecimal', { signature: hmac(key, text, 'hex') }, 'hexadecimal'],
    [
      'another secret',
      { signature: sign(body, `whsec_${randomBytes(32).toString('base64')}`) },
      'another endpoint',
    ],
    ['no version', { signature: sign(body).slice(3) }, 'starts with "v1,"'],
    ['nothing', { signature: ' ' }, 'no signature'],
    ['no secret', { secret: 'hunter2!' }, 'secret is not valid'],
    ['a timestamp as text', { timestamp: 'yesterday' }, 'not a number'],
    ['milliseconds', { timestamp: String(now) }, 'milliseconds'],
  ])('names the reason: %s', async (_name, changed, reason) => {
    expect((await check(changed)).isValid).toBe(false);
    expect(await messages(changed)).toContain(reason);
  });

  it('rejects a request that is older or newer than libraries accept, and reports its age', async () => {
    expect((await check({}, now + 300_000)).isValid).toBe(true);
    expect(await messages({}, now + 301_000)).toContain('301 seconds old');
    expect(await messages({}, now - 301_000)).toContain('301 seconds in the future');
    expect((await check({}, now + 301_000)).isValid).toBe(false);
  });
});
