import { createHash, randomBytes, randomInt } from 'node:crypto';
import { apiKeyPrefix, type NewApiKey } from '../resources/api-keys/table.ts';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const keyLength = 32;
const tokenBytes = 24;

export function newApiKey(): NewApiKey {
  const key =
    apiKeyPrefix + Array.from({ length: keyLength }, () => base62[randomInt(base62.length)]).join('');
  return { key, hash: createHash('sha256').update(key).digest() };
}

/** The token in an invitation link, and the hash that is stored. */
export function newInvitationToken(): { readonly token: string; readonly hash: Uint8Array } {
  const token = randomBytes(tokenBytes).toString('base64url');
  return { token, hash: hashOfToken(token) };
}

export function hashOfToken(token: string): Uint8Array {
  return createHash('sha256').update(token).digest();
}
