/** Platforms declare this type under different names. */
export type HmacKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** HMAC-SHA256 as in Standard Webhooks, with WebCrypto. */
const algorithm = { name: 'HMAC', hash: 'SHA-256' } as const;

/** The HMAC key of a secret; undefined if it is not a valid secret. */
export async function keyOf(secret: unknown): Promise<HmacKey | undefined> {
  const bytes = typeof secret === 'string' ? fromBase64(secret.replace(/^whsec_/, '')) : undefined;
  return bytes && bytes.length > 0 ? keyOfBytes(bytes) : undefined;
}

export function keyOfBytes(bytes: Uint8Array): Promise<HmacKey> {
  return crypto.subtle.importKey('raw', bytes as Uint8Array<ArrayBuffer>, algorithm, false, [
    'sign',
    'verify',
  ]);
}

export async function signatureOf(key: HmacKey, signed: Uint8Array): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.sign('HMAC', key, signed as Uint8Array<ArrayBuffer>));
  return btoa(String.fromCharCode(...bytes));
}

/** WebCrypto compares in constant time. */
export async function isSignedBy(key: HmacKey, signature: string, signed: Uint8Array): Promise<boolean> {
  const bytes = fromBase64(signature);
  return bytes !== undefined && crypto.subtle.verify('HMAC', key, bytes, signed as Uint8Array<ArrayBuffer>);
}

export function bytesOf(value: unknown): Uint8Array | undefined {
  if (typeof value === 'string') return new TextEncoder().encode(value);
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return undefined;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
