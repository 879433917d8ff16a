import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { Database } from '../db/database.ts';
import { type Refusal, refuse } from '../kernel/errors.ts';
import type { Instant, Statement } from '../kernel/table.ts';

/** `burst` failures at once, then one more every `everySeconds`. */
interface Limit {
  readonly burst: number;
  readonly everySeconds: number;
}

/**
 * One network alone cannot exhaust an account's budget: it gets one guess a minute, and the account has three. The network limit
 * bounds guesses against many accounts. docs/console.md states the resulting guess rates.
 */
const limits = {
  /** Passwords for one account, from one network. */
  accountFromNetwork: { burst: 10, everySeconds: 60 },
  /** Passwords for one account, from all unknown devices together. */
  account: { burst: 30, everySeconds: 20 },
  /** Passwords for all accounts, from the unknown devices of one network. */
  network: { burst: 100, everySeconds: 5 },
  /** Passwords for one account, from one device that has signed in to it before. */
  knownDevice: { burst: 10, everySeconds: 30 },
  /** Passwords that a signed-in person has to repeat, from one network. */
  session: { burst: 10, everySeconds: 30 },
  /** Codes of one account after the correct password. A code has a million values, three of which are valid. */
  secondFactor: { burst: 10, everySeconds: 120 },
  /** Codes after the correct password, from one known device. */
  secondFactorOfDevice: { burst: 10, everySeconds: 120 },
  /** Sign-ups from one network: each costs a password hash. */
  signUp: { burst: 100, everySeconds: 10 },
  /** Sign-ups from one network that failed because the address is taken. */
  takenAddress: { burst: 10, everySeconds: 60 },
} as const satisfies Record<string, Limit>;

/** One budget: a limit and its subject. */
export interface Budget {
  readonly limit: keyof typeof limits;
  readonly of: string;
}

/** The budgets of a sign-in: account and network, or a known device. */
export function signInBudgets(
  email: string,
  address: string,
  deviceId: string | undefined,
): readonly Budget[] {
  const account = email.toLowerCase();
  if (deviceId !== undefined) return [{ limit: 'knownDevice', of: `${account} ${deviceId}` }];
  const network = networkOf(address);
  return [
    { limit: 'accountFromNetwork', of: `${account} ${network}` },
    { limit: 'network', of: network },
    { limit: 'account', of: account },
  ];
}

export function secondFactorBudget(personId: string, deviceId: string | undefined): Budget {
  return deviceId === undefined
    ? { limit: 'secondFactor', of: personId }
    : { limit: 'secondFactorOfDevice', of: `${personId} ${deviceId}` };
}

/**
 * A budget that is full again at `full_at` (generic cell rate algorithm): an attempt moves that time by one interval, and is admitted
 * while it is less than a burst ahead. Taking is one atomic statement and can be undone exactly.
 */
const take: Statement = {
  name: 'sign_in_budget_take',
  text: `insert into sign_in_budgets as b (subject, full_at) values ($1, $2::timestamptz + $3::interval)
    on conflict (subject) do update set full_at = greatest(b.full_at, $2::timestamptz) + $3::interval
      where b.full_at <= $2::timestamptz + $4::interval
    returning 1 as taken`,
};

const fullAt: Statement = {
  name: 'sign_in_budget_full_at',
  text: 'select full_at as "fullAt" from sign_in_budgets where subject = $1',
};

const release: Statement = {
  name: 'sign_in_budget_give_back',
  text: 'update sign_in_budgets set full_at = full_at - $2::interval where subject = $1',
};

const reset: Statement = {
  name: 'sign_in_budget_reset',
  text: 'delete from sign_in_budgets where subject = $1',
};

/**
 * Limits guesses of passwords and codes, across all nodes. Only failures count: an attempt is counted before it is checked, so
 * that concurrent attempts gain nothing, and released on success. An exhausted budget slows down and never locks out.
 */
export class SignInThrottle {
  readonly #database: Pick<Database, 'query'>;

  constructor(database: Pick<Database, 'query'>) {
    this.#database = database;
  }

  /** Takes from all budgets or from none. */
  async take(budgets: readonly Budget[], now: Instant): Promise<Refusal | undefined> {
    const reserved: Budget[] = [];
    for (const budget of budgets) {
      const { everySeconds, burst } = limits[budget.limit];
      const tolerance = seconds(everySeconds * (burst - 1));
      const values = [subjectOf(budget), new Date(now).toISOString(), seconds(everySeconds), tolerance];
      const rows = await this.#database.query(take, values);
      if (rows.length === 0) {
        await this.release(reserved);
        return refuseUntil(await this.#nextAt(budget), now);
      }
      reserved.push(budget);
    }
    return undefined;
  }

  async #nextAt(budget: Budget): Promise<Instant> {
    const [row] = await this.#database.query<{ readonly fullAt: Instant }>(fullAt, [subjectOf(budget)]);
    const { everySeconds, burst } = limits[budget.limit];
    return (row?.fullAt ?? 0) - everySeconds * (burst - 1) * 1_000;
  }

  /** Undoes `take`: the attempt did not fail. */
  async release(budgets: readonly Budget[]): Promise<void> {
    for (const budget of budgets)
      await this.#database.query(release, [subjectOf(budget), seconds(limits[budget.limit].everySeconds)]);
  }

  /** Resets the first, narrowest budget, and releases this attempt from the others. */
  async recordSuccess([narrowest, ...shared]: readonly Budget[]): Promise<void> {
    if (narrowest) await this.#database.query(reset, [subjectOf(narrowest)]);
    await this.release(shared);
  }
}

function refuseUntil(at: Instant, now: Instant): Refusal {
  const retryAfterSeconds = Math.max(1, Math.ceil((at - now) / 1_000));
  return refuse('rate_limited', {
    message: 'Too many attempts failed for this account or from your network.',
    retryAfterSeconds,
  });
}

function seconds(count: number): string {
  return `${count} seconds`;
}

/** A client with one IPv6 address controls its whole /64. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('%')[0]?.split('::') ?? [];
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups =
    tail === undefined ? left : [...left, ...Array(8 - left.length - right.length).fill('0'), ...right];
  return `${groups
    .slice(0, 4)
    .map((group: string) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

function subjectOf({ limit, of }: Budget): string {
  return createHash('sha256').update(`${limit} ${of}`).digest('hex');
}
