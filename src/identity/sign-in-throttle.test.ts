import { describe, expect, test } from 'vitest';
import type { Database } from '../db/database.ts';
import {
  type Budget,
  networkOf,
  SignInThrottle,
  secondFactorBudget,
  signInBudgets,
} from './sign-in-throttle.ts';

const now = Date.UTC(2026, 0, 1);
const second = 1_000;
const msOf = (interval: unknown) => Number(String(interval).replace(/ seconds$/, '')) * second;

/** Budgets as the table has them: the time at which each is full. */
function throttle() {
  const fullAt = new Map<string, number>();
  const query = ({ name }: { name: string }, values: readonly unknown[]) => {
    const [subject = '', at = 0] = values as [string, string | number];
    const full = fullAt.get(subject);
    switch (name) {
      case 'sign_in_budget_take': {
        const time = Date.parse(String(at));
        if (full !== undefined && full > time + msOf(values[3])) return Promise.resolve([]);
        fullAt.set(subject, Math.max(full ?? time, time) + msOf(values[2]));
        return Promise.resolve([{ taken: 1 }]);
      }
      case 'sign_in_budget_full_at':
        return Promise.resolve(full === undefined ? [] : [{ fullAt: full }]);
      case 'sign_in_budget_give_back':
        if (full !== undefined) fullAt.set(subject, full - msOf(at));
        return Promise.resolve([]);
      default:
        fullAt.delete(subject);
        return Promise.resolve([]);
    }
  };
  return new SignInThrottle({ query } as unknown as Pick<Database, 'query'>);
}

/** How many attempts at one instant are admitted. */
async function admitted(one: SignInThrottle, budgets: readonly Budget[], at: number): Promise<number> {
  let count = 0;
  while (count < 1_000 && !(await one.take(budgets, at))) count += 1;
  return count;
}

describe('the budgets of a sign-in', () => {
  test('are those of the account and of the network, the narrowest first', () => {
    expect(signInBudgets('Ada@Example.com', '2001:db8::1', undefined)).toEqual([
      { limit: 'accountFromNetwork', of: 'ada@example.com 2001:db8:0:0::/64' },
      { limit: 'network', of: '2001:db8:0:0::/64' },
      { limit: 'account', of: 'ada@example.com' },
    ]);
  });

  test('are one for each known device, wherever it is', () => {
    const home = signInBudgets('Ada@example.com', '192.0.2.1', 'device');
    expect(home).toEqual([{ limit: 'knownDevice', of: 'ada@example.com device' }]);
    expect(signInBudgets('ada@example.com', '198.51.100.7', 'device')).toEqual(home);
  });

  test('for codes are one for the account, and one for each known device', () => {
    expect(secondFactorBudget('usr_ada', undefined)).toEqual({ limit: 'secondFactor', of: 'usr_ada' });
    expect(secondFactorBudget('usr_ada', 'device')).toEqual({
      limit: 'secondFactorOfDevice',
      of: 'usr_ada device',
    });
  });
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001::5:6:7:8:9', '2001:0:0:5::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['::2:3:4:5:6:7:8', '0:2:3:4::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['', ''],
])('the network of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

describe('one budget', () => {
  test.each<[limit: Budget['limit'], burst: number, everySeconds: number]>([
    ['accountFromNetwork', 10, 60],
    ['account', 30, 20],
    ['network', 100, 5],
    ['knownDevice', 10, 30],
    ['session', 10, 30],
    ['secondFactor', 10, 120],
    ['secondFactorOfDevice', 10, 120],
    ['signUp', 100, 10],
    ['takenAddress', 10, 60],
  ])('%s admits %s at once, then one every %s s', async (limit, burst, everySeconds) => {
    const one = throttle();
    const budgets = [{ limit, of: 'x' }];
    expect(await admitted(one, budgets, now)).toBe(burst);
    expect(await one.take(budgets, now)).toMatchObject({
      code: 'rate_limited',
      retryAfterSeconds: everySeconds,
    });
    const nextAt = now + everySeconds * second;
    expect(await one.take(budgets, nextAt - 1)).toMatchObject({ retryAfterSeconds: 1 });
    expect(await one.take(budgets, nextAt)).toBeUndefined();
    expect(await one.take(budgets, nextAt)).toMatchObject({ retryAfterSeconds: everySeconds });
  });

  test('is not that of another subject, nor of another limit for the same subject', async () => {
    const one = throttle();
    await admitted(one, [{ limit: 'session', of: 'x' }], now);
    expect(await one.take([{ limit: 'session', of: 'y' }], now)).toBeUndefined();
    expect(await one.take([{ limit: 'knownDevice', of: 'x' }], now)).toBeUndefined();
  });
});

describe('several budgets', () => {
  const [narrow, wide]: [Budget, Budget] = [
    { limit: 'accountFromNetwork', of: 'x' },
    { limit: 'account', of: 'x' },
  ];

  test('are taken from all, or from none', async () => {
    const one = throttle();
    await admitted(one, [wide], now);
    expect(await one.take([narrow, wide], now)).toMatchObject({ retryAfterSeconds: 20 });
    expect(await admitted(one, [narrow], now)).toBe(10);
  });

  test('get back what a successful attempt took', async () => {
    const one = throttle();
    for (let i = 0; i < 50; i += 1) {
      expect(await one.take([narrow, wide], now)).toBeUndefined();
      await one.release([narrow, wide]);
    }
  });

  test('after a success the first is full, and the others get back one', async () => {
    const one = throttle();
    for (let i = 0; i < 5; i += 1) await one.take([narrow, wide], now);
    await one.recordSuccess([narrow, wide]);
    expect(await admitted(one, [narrow], now)).toBe(10);
    expect(await admitted(one, [wide], now)).toBe(26);
  });
});
