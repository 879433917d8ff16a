import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

const prefix = 'sealed.v1.';
const ivBytes = 12;
const tagBytes = 16;

/** A text that was encrypted with another secret, or modified since. */
export class VaultProblem extends Error {
  override readonly name = 'VaultProblem';
}

/**
 * Encrypts texts that the server must read again: AES-256-GCM with a key derived from the server secret. The owner is part of the
 * authenticated data, so that the text of one row cannot be moved to another. It also signs texts that leave the server and return.
 */
export class Vault {
  readonly #key: Buffer;
  readonly #signingKey: Buffer;

  constructor(secret: string) {
    const derived = (purpose: string) => Buffer.from(hkdfSync('sha256', secret, 'sandbank', purpose, 32));
    this.#key = derived('vault v1');
    this.#signingKey = derived('signature v1');
  }

  /** An HMAC, in hexadecimal. */
  sign(text: string): string {
    return createHmac('sha256', this.#signingKey).update(text).digest('hex');
  }

  isSignature(signature: string, text: string): boolean {
    const [given, expected] = [Buffer.from(signature), Buffer.from(this.sign(text))];
    return given.length === expected.length && timingSafeEqual(given, expected);
  }

  seal(text: string, owner: string): string {
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv).setAAD(Buffer.from(owner));
    const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return prefix + sealed.toString('base64url');
  }

  isSealed(text: string): boolean {
    return text.startsWith(prefix);
  }

  open(sealed: string, owner: string): string {
    const text = this.tryOpen(sealed, owner);
    if (text === undefined)
      throw new VaultProblem('A secret cannot be decrypted: it was encrypted with another SANDBANK_SECRET.');
    return text;
  }

  /** Undefined when the text has another owner, or was encrypted with another secret. */
  tryOpen(sealed: string, owner: string): string | undefined {
    const bytes = Buffer.from(sealed.slice(prefix.length), 'base64url');
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, ivBytes))
        .setAAD(Buffer.from(owner))
        .setAuthTag(bytes.subarray(-tagBytes));
      const text = decipher.update(bytes.subarray(ivBytes, -tagBytes));
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    } catch {
      return undefined;
    }
  }
}
