import type { Database } from '../db/database.ts';
import type { Id } from '../kernel/ids.ts';
import type { Instant, Statement } from '../kernel/table.ts';
import type { Visitor } from './sessions.ts';

/** What can happen to an account. Failed attempts have their own bound, so that an attacker cannot push out the rest. */
const failedAttempts = ['sign_in_failed', 'two_factor_failed'] as const;

/** Events of each account that are stored, of failed attempts and of all others. */
const failedMax = 200;
const othersMax = 500;
const agentLengthMax = 500;

export interface AccountEvent {
  readonly id: string;
  readonly at: Instant;
  readonly action: string;
  readonly ip: string | null;
  readonly userAgent: string | null;
}

const isFailure = `action in (${failedAttempts.map((action) => `'${action}'`).join(', ')})`;

/** By id or by address: an unknown address writes nothing. Deletes the oldest beyond the bound. */
const insert: Statement = {
  name: 'account_event_insert',
  text: `with person as (select p.id from persons p where p.id = $1 or p.email = $2),
    old as (select e.person_id, e.id from account_events e join person p on p.id = e.person_id
      where (e.${isFailure}) = ($4::text in (${failedAttempts.map((action) => `'${action}'`).join(', ')}))
      order by e.id desc offset $7),
    trimmed as (delete from account_events e using old o where e.person_id = o.person_id and e.id = o.id)
    insert into account_events (person_id, at, action, ip, user_agent)
    select p.id, $3, $4, $5, $6 from person p`,
};

const newest: Statement = {
  name: 'account_events_newest',
  text: `select e.id::text as id, e.at, e.action, e.ip, e.user_agent as "userAgent" from account_events e
    where e.person_id = $1 order by e.id desc limit $2`,
};

/** The security history of each account: sign-ins, failures and changes, for its own person only. */
export class SecurityHistory {
  readonly #database: Pick<Database, 'query'>;
  readonly #wallClock: () => Instant;

  constructor(database: Pick<Database, 'query'>, wallClock: () => Instant) {
    this.#database = database;
    this.#wallClock = wallClock;
  }

  async record(
    account: { readonly id: Id<'person'> } | { readonly email: string },
    action: string,
    { address, agent }: Pick<Visitor, 'address' | 'agent'>,
  ): Promise<void> {
    const [id, email] = 'id' in account ? [account.id, null] : [null, account.email.toLowerCase()];
    const isFailed = (failedAttempts as readonly string[]).includes(action);
    await this.#database.query(insert, [
      ...[id, email, new Date(this.#wallClock()).toISOString(), action, address],
      agent?.slice(0, agentLengthMax) ?? null,
      // The new row comes on top.
      (isFailed ? failedMax : othersMax) - 1,
    ]);
  }

  /** Newest first. */
  newest(personId: Id<'person'>, limit: number): Promise<readonly AccountEvent[]> {
    return this.#database.query<AccountEvent>(newest, [personId, limit]);
  }
}
