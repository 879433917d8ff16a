import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  HashQueueFull,
  hashPassword,
  hashWith,
  isPassword,
  productionParameters,
  withTrustedHashing,
} from './password.ts';

/** Fast, and not for production. */
const weakFigures = { cost: 16, blockSize: 1, parallelization: 1 };

beforeAll(() => hashWith(weakFigures));
afterAll(() => hashWith(productionParameters));

describe('a password', () => {
  test('is recognized, and no other', async () => {
    const stored = await hashPassword('correct horse');
    expect(await isPassword('correct horse', stored)).toBe(true);
    expect(await isPassword('correct hors', stored)).toBe(false);
    expect(await isPassword('Correct horse', stored)).toBe(false);
    expect(await isPassword('', stored)).toBe(false);
  });

  test('never has the same hash twice', async () => {
    expect(await hashPassword('correct horse')).not.toBe(await hashPassword('correct horse'));
  });

  test('is the same in both spellings of é', async () => {
    expect(await isPassword('caf\u0065\u0301', await hashPassword('caf\u00e9'))).toBe(true);
  });

  test('is stored with the parameters of its hash, which may change', async () => {
    const stored = await hashPassword('correct horse');
    expect(stored).toMatch(/^scrypt\$16\$1\$1\$[A-Za-z0-9+/]{22}==\$[A-Za-z0-9+/]{43}=$/);
    hashWith({ cost: 32, blockSize: 2, parallelization: 1 });
    expect(await isPassword('correct horse', stored)).toBe(true);
    expect(await hashPassword('x')).toMatch(/^scrypt\$32\$2\$1\$/);
    hashWith(weakFigures);
  });

  test.each(['', 'plain', 'bcrypt$2$1$1$AAAA$AAAA'])('is not recognized by the hash %j', async (stored) => {
    expect(await isPassword('plain', stored)).toBe(false);
  });

  test('is not recognized by a key of another length', async () => {
    const stored = await hashPassword('correct horse');
    expect(await isPassword('correct horse', stored.slice(0, stored.lastIndexOf('$') + 9))).toBe(false);
  });
});

test('production hashes with parameters that OWASP lists', () => {
  expect(productionParameters).toEqual({ cost: 32_768, blockSize: 8, parallelization: 3 });
});

describe('many passwords at once', () => {
  const outcomes = async (hashes: readonly Promise<string>[]) => {
    const settled = await Promise.allSettled(hashes);
    const refused = settled.filter((one) => one.status === 'rejected');
    for (const { reason } of refused) expect(reason).toBeInstanceOf(HashQueueFull);
    return { hashed: settled.length - refused.length, refused: refused.length };
  };
  const many = (count: number) => Array.from({ length: count }, () => hashPassword('x'));

  test('two are hashed and 32 wait; one more is refused', async () => {
    expect(await outcomes(many(34))).toEqual({ hashed: 34, refused: 0 });
    expect(await outcomes(many(35))).toEqual({ hashed: 34, refused: 1 });
  });

  test('known callers have 32 more places', async () => {
    const strangers = many(34);
    const known = withTrustedHashing(async () => outcomes(many(33)));
    expect(await outcomes(strangers)).toEqual({ hashed: 34, refused: 0 });
    expect(await known).toEqual({ hashed: 32, refused: 1 });
  });

  test('a refusal does not use up a place', async () => {
    await outcomes(many(100));
    expect(await outcomes(many(34))).toEqual({ hashed: 34, refused: 0 });
  });
});
