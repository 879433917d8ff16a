import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

/**
 * Passwords are stored as scrypt hashes, prefixed with the parameters, so that they can be raised later. N 2^15, r 8, p 3 is
 * one of the settings that OWASP lists as equally strong. It needs 32 MiB and about 0.2 s of one core; N 2^17 with p 1
 * would need 128 MiB for each concurrent sign-in.
 */
export const productionParameters: ScryptParameters = { cost: 2 ** 15, blockSize: 8, parallelization: 3 };
const keyBytes = 32;
const saltBytes = 16;
// At most two at a time: hashing must not take all threads of the pool, which file access and the database need.
const concurrencyMax = 2;

interface ScryptParameters {
  readonly cost: number;
  readonly blockSize: number;
  readonly parallelization: number;
}

let parameters = productionParameters;

/** For tests with hundreds of sign-ups. A stored hash contains its parameters, so verification needs no change. */
export function hashWith(changed: ScryptParameters): void {
  parameters = changed;
}

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const key = await derive(password, salt, parameters);
  const { cost, blockSize, parallelization } = parameters;
  return ['scrypt', cost, blockSize, parallelization, salt.toString('base64'), key.toString('base64')].join(
    '$',
  );
}

export async function isPassword(password: string, stored: string): Promise<boolean> {
  const [name, cost, blockSize, parallelization, salt = '', key = ''] = stored.split('$');
  if (name !== 'scrypt') return false;
  const used = { cost: Number(cost), blockSize: Number(blockSize), parallelization: Number(parallelization) };
  const expected = Buffer.from(key, 'base64');
  const derived = await derive(password, Buffer.from(salt, 'base64'), used);
  return derived.length === expected.length && timingSafeEqual(derived, expected);
}

/** The hash queue is full. Callers answer 429 with a short Retry-After. */
export class HashQueueFull extends Error {
  override readonly name = 'HashQueueFull';
}

// At two at a time and 0.2 s each, the last in the queue waits 3 s, or 6 s.
const waitingMax = 32;
const waitingMaxOfTrusted = 64;
const trusted = new AsyncLocalStorage<true>();

/** Hashes for known callers, for whom the queue has reserved room when unknown clients flood it. */
export function withTrustedHashing<Result>(work: () => Promise<Result>): Promise<Result> {
  return trusted.run(true, work);
}

let running = 0;
const waiting: (() => void)[] = [];

async function derive(password: string, salt: Buffer, used: ScryptParameters): Promise<Buffer> {
  if (running >= concurrencyMax && waiting.length >= (trusted.getStore() ? waitingMaxOfTrusted : waitingMax))
    throw new HashQueueFull('too many passwords are being hashed');
  while (running >= concurrencyMax) await new Promise<void>((resolve) => waiting.push(resolve));
  running += 1;
  try {
    return await new Promise<Buffer>((resolve, reject) => {
      // Unicode normalization, because é has two encodings.
      const text = password.normalize('NFKC');
      const maxmem = 256 * used.cost * used.blockSize;
      scrypt(text, salt, keyBytes, { ...used, maxmem }, (error, key) =>
        error ? reject(error) : resolve(key),
      );
    });
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}
