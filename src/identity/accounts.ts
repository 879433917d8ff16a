import type { Connection } from '../db/database.ts';
import { newSuffix } from '../engine/ids.ts';
import { formatId, type Id } from '../kernel/ids.ts';
import type { Instant, Statement } from '../kernel/table.ts';
import { minuteMs } from '../kernel/time.ts';
import { provisionalMinutes } from './constants.ts';

type Queries = Pick<Connection, 'query'>;

export interface Account {
  readonly id: Id<'person'>;
  readonly email: string;
  readonly name: string;
  readonly hasTwoFactor: boolean;
  /** The stored hash; null for an account without a password. */
  readonly passwordHash: string | null;
  /** Whether a seed created this account or took it over. */
  readonly isSeeded: boolean;
}

export interface NewAccount {
  readonly name: string;
  /** In lower case. */
  readonly email: string;
  readonly passwordHash: string;
  /** The account is removed unless it joins an organization soon (`confirmAccount`). */
  readonly isProvisional?: boolean;
  readonly isSeeded?: boolean;
}

/** Person and password in one statement: neither a crash nor a race leaves one without the other. */
const insertAccount: Statement = {
  name: 'account_insert',
  text: `with person as (
      insert into persons (id, name, email, created_at, updated_at, provisional_until, seeded_at)
      values ($1, $3, $4, $6, $6, $7, $8) on conflict (email) do nothing returning id)
    insert into person_accounts (id, person_id, account_id, provider_id, password, created_at, updated_at)
    select $2, id, id, 'credential', $5, $6, $6 from person returning person_id as id`,
};

/** Null when the address is taken. */
export async function createAccount(
  database: Queries,
  { name, email, passwordHash, isProvisional = false, isSeeded = false }: NewAccount,
  now: Instant,
): Promise<Id<'person'> | null> {
  const at = new Date(now).toISOString();
  const [created] = await database.query<{ readonly id: Id<'person'> }>(insertAccount, [
    ...[formatId('person', newSuffix()), formatId('session', newSuffix()), name, email, passwordHash, at],
    isProvisional ? new Date(now + provisionalMinutes * minuteMs).toISOString() : null,
    isSeeded ? at : null,
  ]);
  return created?.id ?? null;
}

const accountColumns = `p.id, p.email, p.name, p.two_factor_enabled as "hasTwoFactor", p.seeded_at is not null as "isSeeded",
  (select a.password from person_accounts a where a.person_id = p.id and a.provider_id = 'credential' limit 1) as "passwordHash"`;

const byEmail: Statement = {
  name: 'account_by_email',
  text: `select ${accountColumns} from persons p where p.email = $1`,
};

const byId: Statement = {
  name: 'account_by_id',
  text: `select ${accountColumns} from persons p where p.id = $1`,
};

export async function findAccount(
  database: Queries,
  by: { readonly email: string } | { readonly id: string },
): Promise<Account | undefined> {
  const [account] =
    'email' in by
      ? await database.query<Account>(byEmail, [by.email.toLowerCase()])
      : await database.query<Account>(byId, [by.id]);
  return account;
}

const confirm: Statement = {
  name: 'account_confirm',
  text: 'update persons set provisional_until = null where id = $1',
};

/** The person has joined: makes the account permanent. */
export async function confirmAccount(database: Queries, id: string): Promise<void> {
  await database.query(confirm, [id]);
}

const discard: Statement = {
  name: 'account_discard',
  text: `delete from persons p where p.id = $1 and p.provisional_until is not null
    and not exists (select from members m where m.person_id = p.id)`,
};

/** The person could not join: deletes the account with its password and sessions. */
export async function discardAccount(database: Queries, id: string): Promise<void> {
  await database.query(discard, [id]);
}

/** Deletes sign-ups that were interrupted before joining, for example by a crash. */
export const discardOverdueAccounts: Statement = {
  name: 'accounts_discard_overdue',
  text: `with overdue as (select p.id, exists (select from members m where m.person_id = p.id) as has_joined
      from persons p where p.provisional_until <= $1 limit $2),
    confirmed as (update persons p set provisional_until = null from overdue o where p.id = o.id and o.has_joined)
    delete from persons p using overdue o where p.id = o.id and not o.has_joined returning 1 as discarded`,
};

const setPassword: Statement = {
  name: 'password_set',
  text: `with changed as (update person_accounts set password = $3, updated_at = $4
      where person_id = $1 and provider_id = 'credential' returning 1)
    insert into person_accounts (id, person_id, account_id, provider_id, password, created_at, updated_at)
    select $2, $1, $1, 'credential', $3, $4, $4 where not exists (select from changed)`,
};

const endSessions: Statement = {
  name: 'password_end_sessions',
  text: 'delete from person_sessions where person_id = $1',
};

const endLinks: Statement = {
  name: 'password_end_links',
  text: 'delete from password_reset_links where person_id = $1',
};

const endPending: Statement = {
  name: 'password_end_pending',
  text: 'delete from person_verifications where value = $1',
};

const endPasskeys: Statement = {
  name: 'password_end_passkeys',
  text: 'delete from person_passkeys where person_id = $1',
};

/** Ends sign-ins that passed the password check and wait for a second factor. */
export async function endPendingSignIns(database: Queries, personId: Id<'person'>): Promise<void> {
  await database.query(endPending, [personId]);
}

/**
 * Sets a password and ends sessions, pending sign-ins, reset links and passkeys: a person who knew the old password could have
 * added one. Call it in a transaction.
 */
export async function replacePassword(
  connection: Queries,
  personId: Id<'person'>,
  passwordHash: string,
  now: Instant,
): Promise<void> {
  const at = new Date(now).toISOString();
  await connection.query(setPassword, [personId, formatId('session', newSuffix()), passwordHash, at]);
  await connection.query(endSessions, [personId]);
  await connection.query(endLinks, [personId]);
  await connection.query(endPasskeys, [personId]);
  await endPendingSignIns(connection, personId);
}

/** One statement checks and changes: of two people who choose one address, one gets it. The seed does not own the new address. */
const setEmail: Statement = {
  name: 'account_set_email',
  text: `update persons p set email = $2, email_verified = false, seeded_at = case when p.email = $2 then p.seeded_at end,
      updated_at = $3
    where p.id = $1 and not exists (select from persons o where o.email = $2 and o.id <> $1) returning 1 as changed`,
};

const endOtherSessions: Statement = {
  name: 'account_end_other_sessions',
  text: 'delete from person_sessions where person_id = $1 and id <> $2',
};

const sessionIds: Statement = {
  name: 'account_session_ids',
  text: 'select id from person_sessions where person_id = $1',
};

/** The sessions of an account, to end them later. */
export async function findSessionIds(database: Queries, personId: Id<'person'>): Promise<readonly string[]> {
  const rows = await database.query<{ readonly id: string }>(sessionIds, [personId]);
  return rows.map(({ id }) => id);
}

const endTheseSessions: Statement = {
  name: 'account_end_these_sessions',
  text: 'delete from person_sessions where person_id = $1 and id in (select jsonb_array_elements_text($2::jsonb))',
};

/** Ends sessions that began without the second factor, and sign-ins that wait for one. */
export async function endEarlierSessions(
  database: Queries,
  personId: Id<'person'>,
  sessions: readonly string[],
): Promise<void> {
  await database.query(endTheseSessions, [personId, JSON.stringify(sessions)]);
  await endPendingSignIns(database, personId);
}

export interface ReplaceEmail {
  readonly personId: Id<'person'>;
  /** In lower case. */
  readonly email: string;
  /** The session that stays. */
  readonly sessionId: string;
}

/** False when another account has the address. Call it in a transaction. */
export async function replaceEmail(
  connection: Queries,
  { personId, email, sessionId }: ReplaceEmail,
  now: Instant,
): Promise<boolean> {
  const changed = await connection.query(setEmail, [personId, email, new Date(now).toISOString()]);
  if (changed.length === 0) return false;
  await connection.query(endOtherSessions, [personId, sessionId]);
  await connection.query(endLinks, [personId]);
  await endPendingSignIns(connection, personId);
  return true;
}

const markSeeded: Statement = {
  name: 'account_mark_seeded',
  text: 'update persons set seeded_at = $2, two_factor_enabled = false, provisional_until = null where id = $1',
};

const endSecondFactor: Statement = {
  name: 'account_end_second_factor',
  text: 'delete from person_two_factors where person_id = $1',
};

/** Makes the account a seeded one: the person who registered it cannot sign in any more. Call it in a transaction. */
export async function takeOverAccount(
  connection: Queries,
  personId: Id<'person'>,
  passwordHash: string,
  now: Instant,
): Promise<void> {
  await replacePassword(connection, personId, passwordHash, now);
  await connection.query(endSecondFactor, [personId]);
  await connection.query(markSeeded, [personId, new Date(now).toISOString()]);
}
