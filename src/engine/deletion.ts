import type { Connection, Database } from '../db/database.ts';
import type { Id } from '../kernel/ids.ts';
import type { Instant, Statement } from '../kernel/table.ts';
import { type Cleared, clearMsMax, takeOrganization } from './clearing.ts';
import { countName, deletedTables } from './organization-tables.ts';

/** How long the audit trail of a temporary organization is retained after its deletion. Other trails are never deleted. */
const expiredTrailDays = 7;

const remove: Statement = {
  name: 'organization_delete',
  text: `with ${deletedTables.map((name) => `d_${name} as (delete from ${name} where org_id = $1 returning 1)`).join(', ')},
    notified as (select pg_notify('sandbank_work', concat_ws(' ', w.org_id, w.id, 'changed')) from webhooks w
      where w.org_id = $1 and current_setting('sandbank.announces', true) = 'on'),
    tombstone as (insert into deleted_organizations (org_id, deleted_at, audit_until) values ($1, now(),
      (select now() + interval '${expiredTrailDays} days' from organizations o
        where o.org_id = $1 and o.expires_at is not null)) on conflict do nothing)
    select ${deletedTables.map((name) => `(select count(*) from d_${name})::integer as "${countName(name)}"`).join(', ')},
      (select count(*) from notified)::integer as "notified"`,
  msMax: clearMsMax,
};

const beginRemoval: Statement = {
  name: 'organization_delete_begin',
  text: `select set_config('sandbank.reset_of', $1, true), set_config('sandbank.deletion_of', $1, true),
    set_config('statement_timeout', '${clearMsMax}', true)`,
};

/** Deletes an organization that the transaction has locked, with everything that belongs to it except its audit trail. */
export async function removeOrganization(
  connection: Connection,
  orgId: Id<'organization'>,
): Promise<Cleared> {
  const begun = connection.query(beginRemoval, [orgId]);
  const [[row]] = await Promise.all([connection.query<Record<string, number>>(remove, [orgId]), begun]);
  const { notified: _, ...removed } = row ?? {};
  return Object.fromEntries(Object.entries(removed).filter(([, count]) => count > 0));
}

/** A test suite that creates an organization per test deletes thousands in an hour, and hardly any of them has rows left. */
const deletedWithRows: Statement = {
  name: 'organizations_deleted_with_rows',
  text: `select d.org_id as "orgId" from deleted_organizations d where d.deleted_at > $1::timestamptz
      and (${deletedTables.map((name) => `exists (select from ${name} t where t.org_id = d.org_id)`).join(' or ')})
    limit 1000`,
};

const trailsToForget: Statement = {
  name: 'organizations_trails_to_forget',
  text: `select d.org_id as "orgId" from deleted_organizations d where d.audit_until <= $1::timestamptz
    order by d.audit_until limit 1000`,
};

const stillDeleted: Statement = {
  name: 'organization_still_deleted',
  text: 'select 1 as one from deleted_organizations d where d.org_id = $1 for update',
};

const removeTrail: Statement = {
  name: 'organization_trail_delete',
  text: `with d_seals as (delete from audit_seals where org_id = $1 returning 1),
      d_audit as (delete from audit where org_id = $1 returning 1)
    select (select count(*) from d_audit)::integer as audit, (select count(*) from d_seals)::integer as seals`,
  msMax: clearMsMax,
};

const removeTombstone: Statement = {
  name: 'organization_deleted_forget',
  text: 'delete from deleted_organizations d where d.org_id = $1',
};

/**
 * Deletes rows that were written after the deletion of their organization: counts that a node had buffered, and writes of a node
 * that runs the previous release. Returns the number of rows.
 */
export function sweepDeleted(database: Database, since: Instant): Promise<number> {
  return forEachDeleted(database, deletedWithRows, since, async (connection, orgId) => {
    const removed = await removeOrganization(connection, orgId);
    return Object.values(removed).reduce((sum, count) => sum + count, 0);
  });
}

/** Deletes the audit trails whose retention has ended, each in one transaction. Returns the number of rows. */
export function forgetTrails(database: Database, now: Instant): Promise<number> {
  return forEachDeleted(database, trailsToForget, now, async (connection, orgId) => {
    await connection.query(beginRemoval, [orgId]);
    const [row] = await connection.query<{ audit: number; seals: number }>(removeTrail, [orgId]);
    // A separate statement, because the triggers on the audit tables read the tombstone.
    await connection.query(removeTombstone, [orgId]);
    return (row?.audit ?? 0) + (row?.seals ?? 0);
  });
}

async function forEachDeleted(
  database: Database,
  find: Statement,
  at: Instant,
  work: (connection: Connection, orgId: Id<'organization'>) => Promise<number>,
): Promise<number> {
  let rows = 0;
  const found = await database.query<{ orgId: Id<'organization'> }>(find, [new Date(at).toISOString()]);
  for (const { orgId } of found)
    rows += await database.transaction(async (connection) => {
      await takeOrganization(connection, orgId);
      // It may have been imported again; an import locks the tombstone until its commit.
      const [tombstone] = await connection.query(stillDeleted, [orgId]);
      return tombstone ? work(connection, orgId) : 0;
    });
  return rows;
}
