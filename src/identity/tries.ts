import { createHash } from 'node:crypto';
import type { Database } from '../db/database.ts';
import { type Refusal, refuse } from '../kernel/errors.ts';
import type { Instant, Statement } from '../kernel/table.ts';

const windowMs = 15 * 60_000;
const ofAccountMax = 10;
const ofAddressMax = 100;

const countTry: Statement = {
  name: 'sign_in_count',
  text: `insert into sign_in_tries as t (subject, tries, since)
    select s, 1, $2::timestamptz from unnest($1::text[]) as s order by s
    on conflict (subject) do update set
      tries = case when t.since <= $3::timestamptz then 1 else t.tries + 1 end,
      since = case when t.since <= $3::timestamptz then excluded.since else t.since end
    returning subject, tries, since`,
};

const forgive: Statement = {
  name: 'sign_in_forgive',
  text: `with gone as (delete from sign_in_tries where subject = $1)
    update sign_in_tries set tries = greatest(tries - 1, 0) where subject = $2`,
};

const reapMax = 1_000;

/** In bounded bites: sessions and links that ended lie about until somebody comes with them again, which most never do. */
const forgets: readonly Statement[] = [
  forget('sign_in_tries', 'since'),
  forget('person_sessions', 'expires_at'),
  forget('person_verifications', 'expires_at'),
];

function forget(table: string, column: string): Statement {
  return {
    name: `${table}_reap`,
    text: `with old as (select ctid from ${table} where ${column} <= $1 limit $2)
      delete from ${table} where ctid = any(array(select ctid from old)) returning 1 as reaped`,
  };
}

/**
 * How often a password or a code may be guessed: ten times in a quarter of an hour for one account, a hundred times from one
 * address, over all nodes. A try is counted before it is looked at, so that many at once gain nothing, and one that was
 * right is taken back.
 */
export class Tries {
  readonly #database: Pick<Database, 'query'>;

  constructor(database: Pick<Database, 'query'>) {
    this.#database = database;
  }

  /** Without an account only the address counts. */
  async take(account: string | null, address: string, now: Instant): Promise<Refusal | undefined> {
    const rows = await this.#database.query<{ subject: string; tries: number; since: Instant }>(countTry, [
      subjectsOf(account, address),
      new Date(now).toISOString(),
      new Date(now - windowMs).toISOString(),
    ]);
    const full = rows.filter(
      ({ subject, tries }) => tries > (subject === ofAddress(address) ? ofAddressMax : ofAccountMax),
    );
    if (full.length === 0) return undefined;
    const until = Math.max(...full.map(({ since }) => since + windowMs));
    const retryAfterSeconds = Math.max(1, Math.ceil((until - now) / 1000));
    return refuse('rate_limited', {
      message: `Signing in was tried too often. Try again in ${Math.ceil(retryAfterSeconds / 60)} minutes.`,
      retryAfterSeconds,
    });
  }

  async wasRight(account: string | null, address: string): Promise<void> {
    await this.#database.query(forgive, [account === null ? '' : ofAccount(account), ofAddress(address)]);
  }

  /** What lies behind the window counts no longer, and what has ended before it helps nobody. */
  async reap(now: Instant): Promise<number> {
    let reaped = 0;
    for (const statement of forgets) {
      for (let rows = reapMax; rows === reapMax; reaped += rows)
        rows = (await this.#database.query(statement, [new Date(now - windowMs).toISOString(), reapMax]))
          .length;
    }
    return reaped;
  }
}

function subjectsOf(account: string | null, address: string): readonly string[] {
  return [...(account === null ? [] : [ofAccount(account)]), ofAddress(address)];
}

function ofAccount(account: string): string {
  return subjectOf('account', account.toLowerCase());
}

function ofAddress(address: string): string {
  return subjectOf('address', address);
}

function subjectOf(kind: string, text: string): string {
  return createHash('sha256').update(`${kind} ${text}`).digest('hex');
}
