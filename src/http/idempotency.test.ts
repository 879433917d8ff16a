import { describe, expect, test } from 'vitest';
import { claim, readIdempotencyKey } from './idempotency.ts';

describe('the Idempotency-Key header', () => {
  test.each([
    ['a bare key', 'abc-123', 'abc-123'],
    ['a quoted key', '"abc-123"', 'abc-123'],
    ['one character', 'x', 'x'],
    ['the longest key', 'x'.repeat(255), 'x'.repeat(255)],
    ['the longest key, quoted', `"${'x'.repeat(255)}"`, 'x'.repeat(255)],
    ['the first and the last visible character', '!~', '!~'],
    ['a single quote character', '"', '"'],
    ['a quote at the start only', '"abc', '"abc'],
    ['a quote at the end only', 'abc"', 'abc"'],
    ['quotes within quotes', '""abc""', '"abc"'],
  ])('%s', (_what, header, key) => {
    expect(readIdempotencyKey(header)).toEqual({ ok: true, key });
  });

  test.each<[what: string, header: string | string[] | undefined, code: string]>([
    ['no header', undefined, 'idempotency_key_missing'],
    ['an empty header', '', 'idempotency_key_missing'],
    ['quotes without a key', '""', 'idempotency_key_invalid'],
    ['one character too many', 'x'.repeat(256), 'idempotency_key_invalid'],
    ['one character too many, quoted', `"${'x'.repeat(256)}"`, 'idempotency_key_invalid'],
    ['two headers', ['a', 'b'], 'idempotency_key_invalid'],
    ['a space', 'a b', 'idempotency_key_invalid'],
    ['a control character', 'a\x7f', 'idempotency_key_invalid'],
    ['a letter that is not ASCII', 'é', 'idempotency_key_invalid'],
    ['a line break at the end', 'a\n', 'idempotency_key_invalid'],
  ])('%s is refused', (_what, header, code) => {
    expect(readIdempotencyKey(header)).toEqual({ ok: false, code, param: 'Idempotency-Key' });
  });
});

describe('the fingerprint of a request', () => {
  const fingerprint = (method: string, path: string, body: unknown) =>
    Buffer.from(claim('key', method, path, body).fingerprint).toString('hex');
  const first = fingerprint('POST', '/payments', { amount: 1, metadata: { a: 'x', b: 'y' } });

  test('is the same for fields in another order', () => {
    expect(fingerprint('POST', '/payments', { metadata: { b: 'y', a: 'x' }, amount: 1 })).toBe(first);
  });

  test.each<[what: string, method: string, path: string, body: unknown]>([
    ['method', 'PUT', '/payments', { amount: 1, metadata: { a: 'x', b: 'y' } }],
    ['path', 'POST', '/payments/x', { amount: 1, metadata: { a: 'x', b: 'y' } }],
    ['value', 'POST', '/payments', { amount: 2, metadata: { a: 'x', b: 'y' } }],
    ['type of a value', 'POST', '/payments', { amount: '1', metadata: { a: 'x', b: 'y' } }],
    ['nested value', 'POST', '/payments', { amount: 1, metadata: { a: 'x', b: 'z' } }],
    ['field', 'POST', '/payments', { amount: 1 }],
    ['body', 'POST', '/payments', undefined],
  ])('differs by %s', (_what, method, path, body) => {
    expect(fingerprint(method, path, body)).not.toBe(first);
  });

  test('differs between no body, an empty object and null', () => {
    const all = [undefined, {}, null].map((body) => fingerprint('POST', '/payments', body));
    expect(new Set(all).size).toBe(3);
  });

  test('is SHA-256 and comes with the key', () => {
    const { key, fingerprint: bytes } = claim('the key', 'POST', '/payments', {});
    expect([key, bytes.length]).toEqual(['the key', 32]);
  });
});
