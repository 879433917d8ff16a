import { encodeArray } from '../db/array.ts';
import type { Connection } from '../db/database.ts';
import { DatabaseFailure } from '../db/failure.ts';
import type { AnyResource } from '../kernel/command.ts';
import type { Id } from '../kernel/ids.ts';
import type { Statement } from '../kernel/table.ts';
import { minuteMs } from '../kernel/time.ts';
import { countName, tablesOf } from './organization-tables.ts';

/** A shared lock on organizations, held until the end of the transaction that writes their rows. The caller sorts the ids. */
const hold: Statement = {
  name: 'organizations_hold',
  text: 'select hold_live_organizations($1::text[]) as is_held',
};

/** An exclusive lock on one organization. */
const take: Statement = { name: 'organization_take', text: 'select take_organization($1) as is_taken' };

/** Sorted, so that all nodes lock in the same order, which prevents deadlocks. */
export function sortedOrganizations(orgIds: readonly string[]): Buffer {
  return encodeArray('text', [...new Set(orgIds)].sort());
}

export async function holdOrganizations(connection: Connection, orgIds: readonly string[]): Promise<void> {
  await connection.query(hold, [sortedOrganizations(orgIds)]);
}

/** Waits for all shared locks, and blocks new ones until the transaction ends. */
export async function takeOrganization(connection: Connection, orgId: Id<'organization'>): Promise<void> {
  await connection.query(take, [orgId]);
}

/** Another transaction resets the organization, or writes to it, for longer than the lock timeout. */
export function isOrganizationBusy(error: unknown): boolean {
  return (
    error instanceof DatabaseFailure && error.kind === 'busy' && error.constraint === 'organization_held'
  );
}

/** Number of deleted rows by table, with the table names of the JSON response. */
export type Cleared = Readonly<Record<string, number>>;

// Clearing an organization with several hundred thousand records takes seconds.
export const clearMsMax = minuteMs;

const records = tablesOf('record');
const traces = tablesOf('trace');

/** One statement, so that all tables share one snapshot. The history of retained records stays, without its event ids. */
const clear: Statement = {
  name: 'organization_clear',
  text: `with ${[...records, ...traces]
    .map((name) => {
      const retained = name === 'state_history' ? ' and not (resource = any($2::text[]))' : '';
      return `d_${name} as (delete from ${name} where org_id = $1${retained} returning 1)`;
    })
    .join(', ')},
    unnamed as (update state_history set event_id = null
      where org_id = $1 and resource = any($2::text[]) and event_id is not null),
    notified as (select pg_notify('sandbank_work', concat_ws(' ', w.org_id, w.id, 'changed')) from webhooks w
      where w.org_id = $1 and current_setting('sandbank.announces', true) = 'on')
    select ${records.map((name) => `(select count(*) from d_${name})::integer as "${countName(name)}"`).join(', ')},
      (select count(*) from notified)::integer as "notified",
      (select count(*) from clocks c where c.org_id = $1 and c.id <> all($3::text[]))::integer as "unseen"`,
  msMax: clearMsMax,
};

/** Allows the following statements of this transaction to delete rows of the organization, and raises the statement timeout. */
const begin: Statement = {
  name: 'organization_clear_begin',
  text: `select set_config('sandbank.reset_of', $1, true), set_config('statement_timeout', '${clearMsMax}', true)`,
};

/**
 * Deletes all records of an organization that the transaction has locked. `clockIds` are the clocks that the command has read:
 * if there are more by now, the command must read them again.
 */
export async function clearOrganization(
  connection: Connection,
  orgId: Id<'organization'>,
  resources: Iterable<AnyResource>,
  clockIds: readonly string[],
): Promise<Cleared> {
  const retainedResources = [...resources]
    .filter(({ table }) => !records.includes(table.name))
    .map(({ name }) => name);
  const begun = connection.query(begin, [orgId]);
  const [[row]] = await Promise.all([
    connection.query<Record<string, number>>(clear, [
      orgId,
      encodeArray('text', retainedResources),
      encodeArray('text', clockIds),
    ]),
    begun,
  ]);
  const { notified: _, unseen, ...cleared } = row ?? {};
  if (unseen) throw new DatabaseFailure('conflict', new Error('an application was created concurrently'));
  return cleared;
}
