import { hash } from 'node:crypto';
import type { IdempotencyClaim } from '../kernel/command.ts';
import { type Refusal, refuse } from '../kernel/errors.ts';
import { canonicalJson, type JsonValue } from '../kernel/json.ts';
import { limits } from '../kernel/limits.ts';

const visible = /^[\x21-\x7e]+$/;

/** Reads the key from the header, bare or quoted; both forms mean the same key. */
export function readIdempotencyKey(
  header: string | string[] | undefined,
): { ok: true; key: string } | Refusal {
  if (header === undefined || header === '')
    return refuse('idempotency_key_missing', { param: 'Idempotency-Key' });
  if (typeof header !== 'string') return refuse('idempotency_key_invalid', { param: 'Idempotency-Key' });
  const isQuoted = header.length >= 2 && header.startsWith('"') && header.endsWith('"');
  const key = isQuoted ? header.slice(1, -1) : header;
  if (key.length > limits.idempotencyKeyLengthMax || !visible.test(key)) {
    return refuse('idempotency_key_invalid', { param: 'Idempotency-Key' });
  }
  return { ok: true, key };
}

/**
 * The fingerprint is SHA-256 over method, path and canonical body, so whitespace and field order do not matter.
 */
export function claim(key: string, method: string, path: string, body: unknown): IdempotencyClaim {
  const text = `${method} ${path}\n${body === undefined ? '' : canonicalJson(body as JsonValue)}`;
  return { key, fingerprint: hash('sha256', text, 'buffer') };
}
