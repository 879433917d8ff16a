import { createHmac, randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { type Delivered, examineSignature } from './signature-check.ts';

const now = Date.parse('2031-03-04T10:00:00.000Z');
const timestamp = String(now / 1_000);
const secret = `whsec_${randomBytes(32).toString('base64')}`;
const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
const id = 'evt_01m7epxwjmf7za77rhky2f93cc';
const body = '{"type": "payment.created","data": {"amount": 1250}}';
const sign = (text: string, of = secret) => new Webhook(of).sign(id, new Date(now), text);
const hmac = (with_: Buffer, text: string, as: 'base64' | 'hex' = 'base64') =>
  `v1,${createHmac('sha256', with_).update(text).digest(as)}`;

const delivered: Delivered = { secret, id, timestamp, signature: sign(body), body };
const words = (changed: Partial<Delivered>, at = now) =>
  examineSignature({ ...delivered, ...changed }, at)
    .findings.map((finding) => finding.words)
    .join(' ');

describe('the signature debugger', () => {
  it('says that a right signature is right, also among others and without the prefix of the secret', () => {
    expect(examineSignature(delivered, now)).toMatchObject({ isValid: true });
    const others = `v1,AAAA v2,BBBB ${sign(body)}`;
    expect(examineSignature({ ...delivered, signature: others }, now).isValid).toBe(true);
    expect(examineSignature({ ...delivered, secret: secret.slice(6) }, now).isValid).toBe(true);
  });

  const text = `${id}.${timestamp}.${body}`;
  it.each<[string, Partial<Delivered>, string]>([
    ['written again', { signature: sign(body), body: JSON.stringify(JSON.parse(body)) }, 'another endpoint'],
    [
      'pretty where compact was sent',
      { signature: sign(JSON.stringify(JSON.parse(body))), body },
      'parsed and written again',
    ],
    ['a line break more', { body: `${body}\n` }, 'line break at its end'],
    ['a line break less', { signature: sign(`${body}\n`) }, 'lacks a line break'],
    ['CRLF', { signature: sign('{\n}'), body: '{\r\n}' }, 'CRLF'],
    ['a byte order mark', { body: `\ufeff${body}` }, 'byte order mark'],
    ['a secret that was not decoded', { signature: hmac(Buffer.from(secret.slice(6)), text) }, 'base64 text'],
    ['a secret taken as text', { signature: hmac(Buffer.from(secret), text) }, 'secret as text'],
    ['the body alone', { signature: hmac(key, body) }, 'body alone'],
    ['hexadecimal', { signature: hmac(key, text, 'hex') }, 'hexadecimal'],
    [
      'another secret',
      { signature: sign(body, `whsec_${randomBytes(32).toString('base64')}`) },
      'another endpoint',
    ],
    ['no version', { signature: sign(body).slice(3) }, 'begins with "v1,"'],
    ['nothing', { signature: ' ' }, 'no signature'],
    ['no secret', { secret: 'hunter2!' }, 'not one'],
    ['a timestamp in words', { timestamp: 'yesterday' }, 'not a number'],
    ['milliseconds', { timestamp: String(now) }, 'milliseconds'],
  ])('names the reason: %s', (_name, changed, reason) => {
    expect(examineSignature({ ...delivered, ...changed }, now).isValid).toBe(false);
    expect(words(changed)).toContain(reason);
  });

  it('refuses what is older or newer than libraries accept, and says by how much', () => {
    expect(examineSignature(delivered, now + 300_000).isValid).toBe(true);
    expect(words({}, now + 301_000)).toContain('301 seconds old');
    expect(words({}, now - 301_000)).toContain('301 seconds in the future');
    expect(examineSignature(delivered, now + 301_000).isValid).toBe(false);
  });
});
