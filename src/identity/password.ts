import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

/**
 * Passwords are kept as scrypt of them, with the figures in front, so that they can be raised later: N 2^15, r 8, p 3 is
 * one of the settings that OWASP lists as equally strong. It takes 32 MiB, and about 0.2 s of one core; N 2^17 with p 1
 * would take 128 MiB for each person who signs in at the same time.
 */
export const strongFigures: Figures = { cost: 2 ** 15, blockSize: 8, parallelization: 3 };
const keyBytes = 32;
const saltBytes = 16;
// Two at once: those who sign in shall not take all the threads that the files and the database need.
const atOnceMax = 2;

interface Figures {
  readonly cost: number;
  readonly blockSize: number;
  readonly parallelization: number;
}

let figures = strongFigures;

/** For tests, in which people sign up by the hundred. What is kept says how it was made, so nothing else need know. */
export function hashWith(own: Figures): void {
  figures = own;
}

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const key = await derive(password, salt, figures);
  const { cost, blockSize, parallelization } = figures;
  return ['scrypt', cost, blockSize, parallelization, salt.toString('base64'), key.toString('base64')].join(
    '$',
  );
}

export async function isPassword(password: string, kept: string): Promise<boolean> {
  const [name, cost, blockSize, parallelization, salt = '', key = ''] = kept.split('$');
  if (name !== 'scrypt') return false;
  const own = { cost: Number(cost), blockSize: Number(blockSize), parallelization: Number(parallelization) };
  const wanted = Buffer.from(key, 'base64');
  const derived = await derive(password, Buffer.from(salt, 'base64'), own);
  return derived.length === wanted.length && timingSafeEqual(derived, wanted);
}

/** Too many hashes wait for their turn. Callers answer that it can be tried again soon. */
export class HashQueueFull extends Error {
  override readonly name = 'HashQueueFull';
}

// At two at a time and 0.2 s each, the last in the queue waits 3 s, or 6 s.
const waitingMax = 32;
const waitingMaxOfTrusted = 64;
const trusted = new AsyncLocalStorage<true>();

/** Hashes for callers who are known already: a flood of strangers leaves room for them in the queue. */
export function withTrustedHashing<Result>(work: () => Promise<Result>): Promise<Result> {
  return trusted.run(true, work);
}

let running = 0;
const waiting: (() => void)[] = [];

async function derive(password: string, salt: Buffer, own: Figures): Promise<Buffer> {
  if (running >= atOnceMax && waiting.length >= (trusted.getStore() ? waitingMaxOfTrusted : waitingMax))
    throw new HashQueueFull('too many passwords are being hashed');
  while (running >= atOnceMax) await new Promise<void>((resolve) => waiting.push(resolve));
  running += 1;
  try {
    return await new Promise<Buffer>((resolve, reject) => {
      // The form in which a password was typed is not part of it: é has two spellings.
      const text = password.normalize('NFKC');
      const maxmem = 256 * own.cost * own.blockSize;
      scrypt(text, salt, keyBytes, { ...own, maxmem }, (error, key) =>
        error ? reject(error) : resolve(key),
      );
    });
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}
