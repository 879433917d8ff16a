import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Database } from '../db/database.ts';
import { formatId } from '../kernel/ids.ts';
import { claimCode, findPendingSignIn } from './second-factor.ts';

// RFC 6238, appendix B, with SHA-1. The codes there have eight digits; the last six are the code of six.
const secret = '12345678901234567890';
const stepMs = 30_000;

/** The second factor of one person, with the step that was claimed last. */
function enrolled(lastCounter: number | null = null) {
  const state = { lastCounter };
  const query = (statement: { name: string }, [person, counter]: readonly [string, number]) => {
    const isAda = person === formatId('person', 'ada');
    if (statement.name === 'two_factor_secret') return Promise.resolve(isAda ? [{ secret: 'sealed' }] : []);
    if (!isAda || (state.lastCounter !== null && state.lastCounter >= counter)) return Promise.resolve([]);
    state.lastCounter = counter;
    return Promise.resolve([{ claimed: 1 }]);
  };
  const database = { query } as unknown as Pick<Database, 'query'>;
  const decrypt = (sealed: string) => Promise.resolve(sealed === 'sealed' ? secret : 'x');
  const claim = (code: string, now: number, person = formatId('person', 'ada')) =>
    claimCode(database, person, code, decrypt, now);
  return { state, claim };
}

describe('a code', () => {
  test.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ])('at %s s is %s, as in RFC 6238', async (seconds, code) => {
    const { claim, state } = enrolled();
    expect(await claim(code, seconds * 1_000)).toBe('claimed');
    expect(state.lastCounter).toBe(Math.floor(seconds / 30));
  });

  // The code 081804 belongs to the step from 1,111,111,080 s on.
  const from = 1_111_111_080_000;
  test.each([
    ['one step before', from - stepMs, 'claimed'],
    ['a millisecond more before', from - stepMs - 1, 'wrong'],
    ['at the start', from, 'claimed'],
    ['at the end of the step after', from + 2 * stepMs - 1, 'claimed'],
    ['two steps after', from + 2 * stepMs, 'wrong'],
  ])('%s is %s', async (_what, now, result) => {
    expect(await enrolled().claim('081804', now)).toBe(result);
  });

  test.each(['', '81804', '0081804', '081804 ', '081805', 'abcdef', '０81804'])(
    '%j is wrong',
    async (code) => {
      expect(await enrolled().claim(code, from)).toBe('wrong');
    },
  );

  test('is accepted once, and an older one not after it', async () => {
    const { claim } = enrolled();
    expect(await claim('050471', from + stepMs)).toBe('claimed');
    expect(await claim('050471', from + stepMs)).toBe('used');
    expect(await claim('081804', from + stepMs)).toBe('used');
  });

  test('of the next step is accepted after one of this step', async () => {
    const { claim } = enrolled();
    expect(await claim('081804', from)).toBe('claimed');
    expect(await claim('050471', from)).toBe('claimed');
  });

  test('of a person without a second factor is wrong', async () => {
    expect(await enrolled().claim('081804', from, formatId('person', 'bob'))).toBe('wrong');
  });
});

test('a sign-in that waits for its code is found by the hash of its identifier', async () => {
  const queried: unknown[] = [];
  const hash = createHash('sha256').update('identifier').digest('base64url');
  const query = (_statement: unknown, values: readonly unknown[]) => {
    queried.push(values);
    return Promise.resolve(values[0] === hash ? [{ personId: formatId('person', 'ada') }] : []);
  };
  const database = { query } as unknown as Pick<Database, 'query'>;
  expect(await findPendingSignIn(database, 'identifier', 0)).toBe(formatId('person', 'ada'));
  expect(await findPendingSignIn(database, hash, 0)).toBeUndefined();
  expect(queried[0]).toEqual([hash, '1970-01-01T00:00:00.000Z']);
});
