import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const prefix = 'sealed.v1.';
const ivBytes = 12;
const tagBytes = 16;

/** What was sealed with another secret, or was changed since. */
export class VaultProblem extends Error {
  override readonly name = 'VaultProblem';
}

/**
 * Keeps texts that must be read again, and by nobody else: AES-256-GCM under a key that is derived from the server's
 * secret. What a text belongs to is part of the seal, so that one row's text cannot be put into another's place.
 */
export class Vault {
  readonly #key: Buffer;

  constructor(secret: string) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, 'sandbank', 'vault v1', 32));
  }

  seal(text: string, belongsTo: string): string {
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv).setAAD(Buffer.from(belongsTo));
    const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return prefix + sealed.toString('base64url');
  }

  isSealed(text: string): boolean {
    return text.startsWith(prefix);
  }

  open(sealed: string, belongsTo: string): string {
    const text = this.tryOpen(sealed, belongsTo);
    if (text === undefined)
      throw new VaultProblem('A secret cannot be read: it was encrypted with another SANDBANK_SECRET.');
    return text;
  }

  /** Undefined when the text belongs to something else, or was sealed with another secret. */
  tryOpen(sealed: string, belongsTo: string): string | undefined {
    const bytes = Buffer.from(sealed.slice(prefix.length), 'base64url');
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, ivBytes))
        .setAAD(Buffer.from(belongsTo))
        .setAuthTag(bytes.subarray(-tagBytes));
      const text = decipher.update(bytes.subarray(ivBytes, -tagBytes));
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    } catch {
      return undefined;
    }
  }
}
