import { createHash, randomBytes } from 'node:crypto';
import type { Connection, Database } from '../db/database.ts';
import type { Id } from '../kernel/ids.ts';
import type { Instant, Statement } from '../kernel/table.ts';
import { hourMs } from '../kernel/time.ts';
import { replacePassword } from './accounts.ts';
import { resetHours } from './constants.ts';

export interface ResetLink {
  readonly personId: Id<'person'>;
  readonly token: string;
  readonly expiresAt: Instant;
}

const tokenBytes = 24;
/** Creating one more ends the oldest. */
const linksOfPersonMax = 20;

/**
 * The password, and the memberships of the target and of the creator in the same organizations. Every change of role or status
 * increments a member's version, so the digest changes as well, even if the change was undone since.
 */
const currentState: Statement = {
  name: 'reset_link_state',
  text: `select coalesce((select a.password from person_accounts a
      where a.person_id = $1 and a.provider_id = 'credential' limit 1), '') as password,
      string_agg(theirs.org_id || ' ' || theirs.version || ' ' || coalesce(own.version, 0), ',' order by theirs.org_id)
        as memberships,
      coalesce(bool_and(coalesce(own.role = 'owner' and own.status = 'active', false)), false) as "ownsAll"
    from members theirs
    left join members own on own.org_id = theirs.org_id and own.person_id = $2
    where theirs.person_id = $1 and theirs.status = 'active'`,
};

const insertLink: Statement = {
  name: 'reset_link_insert',
  text: `insert into password_reset_links (hash, person_id, creator_id, state, created_at, expires_at)
    values ($1, $2, $3, $4, $5, $6)`,
};

const trimLinks: Statement = {
  name: 'reset_link_trim',
  text: `delete from password_reset_links where hash in (
    select hash from password_reset_links where person_id = $1 order by created_at desc, hash offset $2)`,
};

const findLink: Statement = {
  name: 'reset_link_find',
  text: `select person_id as "personId", creator_id as "creatorId", state from password_reset_links
    where hash = $1 and expires_at > $2`,
};

const lockPassword: Statement = {
  name: 'reset_link_lock',
  text: `select 1 from person_accounts where person_id = $1 and provider_id = 'credential' for update`,
};

interface StoredLink {
  readonly personId: Id<'person'>;
  readonly creatorId: Id<'person'> | null;
  readonly state: string;
}

/**
 * Links to choose a new password. A link stores its creator and a digest of the state that it depends on. The transaction that
 * uses the link checks the creator's permission again, with the same statement.
 */
export class ResetLinks {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Null when the creator is not allowed to: the target belongs to an organization that the creator does not own. */
  async create(
    personId: Id<'person'>,
    creatorId: Id<'person'> | null,
    now: Instant,
  ): Promise<ResetLink | null> {
    const token = randomBytes(tokenBytes).toString('base64url');
    const expiresAt = now + resetHours * hourMs;
    return this.#database.transaction(async (connection) => {
      const state = await stateOf(connection, personId, creatorId);
      if (state === null) return null;
      await connection.query(insertLink, [
        ...[hashOf(token), personId, creatorId, state],
        ...[new Date(now).toISOString(), new Date(expiresAt).toISOString()],
      ]);
      await connection.finish(trimLinks, [personId, linksOfPersonMax]);
      return { personId, token, expiresAt };
    });
  }

  /** The person of a valid link. Read before the new password is hashed, so that a guessed token costs only one query. */
  async find(token: string, now: Instant): Promise<Id<'person'> | undefined> {
    return (await usableLink(this.#database, token, now))?.personId;
  }

  /** Sets the password and ends all sessions and links. Returns the person; undefined when the link is not valid any more. */
  async use(token: string, passwordHash: string, now: Instant): Promise<Id<'person'> | undefined> {
    return this.#database.transaction(async (connection) => {
      const found = await usableLink(connection, token, now);
      if (!found) return undefined;
      await connection.query(lockPassword, [found.personId]);
      // The password may have changed, or another link may have been used, while this transaction waited for the lock.
      const link = await usableLink(connection, token, now);
      if (!link) return undefined;
      await replacePassword(connection, link.personId, passwordHash, now);
      return link.personId;
    });
  }
}

async function usableLink(
  connection: Pick<Connection, 'query'>,
  token: string,
  now: Instant,
): Promise<StoredLink | undefined> {
  const [link] = await connection.query<StoredLink>(findLink, [hashOf(token), new Date(now).toISOString()]);
  if (!link) return undefined;
  const state = await stateOf(connection, link.personId, link.creatorId);
  return state === link.state ? link : undefined;
}

/** Null when this creator is not allowed to create a link for this person. */
async function stateOf(
  connection: Pick<Connection, 'query'>,
  personId: Id<'person'>,
  creatorId: Id<'person'> | null,
): Promise<string | null> {
  const [row] = await connection.query<{
    readonly password: string;
    readonly memberships: string | null;
    readonly ownsAll: boolean;
  }>(currentState, [personId, creatorId]);
  if (!row) return null;
  if (creatorId === null) return digestOf(row.password);
  return row.ownsAll ? digestOf(`${row.password} ${row.memberships}`) : null;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
