import { encodeArray } from '../db/array.ts';
import type { Connection } from '../db/database.ts';
import type { AnyResource } from '../kernel/command.ts';
import { DatabaseFailure } from '../kernel/failure.ts';
import type { Statement } from '../kernel/table.ts';
import { countName, tablesOf } from './organization-tables.ts';

/** Held while rows of organizations are written, until the transaction ends; any number may hold one. Sorted, see the caller. */
const hold: Statement = {
  name: 'organizations_hold',
  text: 'select hold_live_organizations($1::text[]) as is_held',
};

const take: Statement = { name: 'organization_take', text: 'select take_organization($1) as is_taken' };

/** Sorted, so that all nodes come to them in one order and none waits in a circle. */
export function sortedOrganizations(orgIds: readonly string[]): Buffer {
  return encodeArray('text', [...new Set(orgIds)].sort());
}

export async function holdOrganizations(connection: Connection, orgIds: readonly string[]): Promise<void> {
  await connection.query(hold, [sortedOrganizations(orgIds)]);
}

/** Waits until nobody holds it; from then on nobody does until the transaction ends. */
export async function takeOrganization(connection: Connection, orgId: string): Promise<void> {
  await connection.query(take, [orgId]);
}

/** Somebody resets the organization, or writes to it, for longer than one waits. */
export function isOrganizationBusy(error: unknown): boolean {
  return (
    error instanceof DatabaseFailure && error.kind === 'busy' && error.constraint === 'organization_held'
  );
}

/** How many rows went, by table, in the words of JSON. */
export type Cleared = Readonly<Record<string, number>>;

// An organization with some hundred thousand records takes seconds.
export const clearMsMax = 60_000;

const records = tablesOf('record');
const traces = tablesOf('trace');

/** One statement, so that all tables are seen at one moment. The history of what stays is kept and names no events any more. */
const clear: Statement = {
  name: 'organization_clear',
  text: `with ${[...records, ...traces]
    .map((name) => {
      const isKept = name === 'state_history' ? ' and not (resource = any($2::text[]))' : '';
      return `d_${name} as (delete from ${name} where org_id = $1${isKept} returning 1)`;
    })
    .join(', ')},
    unnamed as (update state_history set event_id = null
      where org_id = $1 and resource = any($2::text[]) and event_id is not null),
    told as (select pg_notify('sandbank_work', concat_ws(' ', w.org_id, w.id, 'changed')) from webhooks w
      where w.org_id = $1 and current_setting('sandbank.announces', true) = 'on')
    select ${records.map((name) => `(select count(*) from d_${name})::integer as "${countName(name)}"`).join(', ')},
      (select count(*) from told)::integer as "told",
      (select count(*) from clocks c where c.org_id = $1 and c.id <> all($3::text[]))::integer as "unseen"`,
  msMax: clearMsMax,
};

/** For the statements that follow in this transaction: the organization whose rows may go, and more time. */
const begin: Statement = {
  name: 'organization_clear_begin',
  text: `select set_config('sandbank.reset_of', $1, true), set_config('statement_timeout', '${clearMsMax}', true)`,
};

/**
 * Deletes all records of an organization that the transaction has taken. The clocks given are those that the command has
 * looked at: if there are others by now, it must look again.
 */
export async function clearOrganization(
  connection: Connection,
  orgId: string,
  resources: Iterable<AnyResource>,
  clockIds: readonly string[],
): Promise<Cleared> {
  const staying = [...resources].filter(({ table }) => !records.includes(table.name)).map(({ name }) => name);
  const begun = connection.query(begin, [orgId]);
  const [[row]] = await Promise.all([
    connection.query<Record<string, number>>(clear, [
      orgId,
      encodeArray('text', staying),
      encodeArray('text', clockIds),
    ]),
    begun,
  ]);
  const { told, unseen, ...cleared } = row ?? {};
  if (unseen) throw new DatabaseFailure('conflict', new Error('an application was made meanwhile'));
  return cleared;
}
