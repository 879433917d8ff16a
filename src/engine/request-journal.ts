import type { Database } from '../db/database.ts';
import { deleteInBatches } from '../db/delete-in-batches.ts';
import type { Instant, Statement } from '../kernel/table.ts';
import {
  type KeyUseRow,
  keyUsesTable,
  type MinuteRow,
  type RequestRow,
  requestMinutesTable,
  requestsTable,
} from '../resources/requests/table.ts';
import { columnsOf, namesOf, rowsFrom } from './columns.ts';

export interface RequestCounts {
  readonly minutes: readonly MinuteRow[];
  readonly keyUses: readonly KeyUseRow[];
}

const writeMsMax = 5_000;

// An arbitrary constant, the same on all nodes: "sbkl" in ASCII.
const numberingLock = 0x73626b6c;

const keyUsesFrom = 1 + requestMinutesTable.columns.length;

const sums = requestMinutesTable.columns
  .filter(({ type }) => type === 'integer')
  .map(({ column }) => `${column} = m.${column} + excluded.${column}`);

/**
 * The commit does not wait for the disk (`synchronous_commit = off`): a crash of the database may lose the last moments of the log, but
 * no write of the engine has to wait for its flush.
 *
 * The advisory lock serializes the nodes: requests become visible in the order of their numbers, so a reader that has seen one
 * number has seen all earlier ones. The lock is held for one statement, four times a second, and only the log waits for it.
 *
 * A batch whose connection was lost is written again, and may already be there.
 */
const write: Statement = {
  name: 'requests_write',
  text: `with logged as (
      insert into requests (${namesOf(requestsTable)})
      select r.* from (select pg_advisory_xact_lock(${numberingLock})) l cross join lateral (${rowsFrom(requestsTable, 1)}) r
      on conflict do nothing)
    select set_config('synchronous_commit', 'off', true)`,
  msMax: writeMsMax,
};

/** Counts are added to those of other nodes; a later key use from another node is retained. */
const count: Statement = {
  name: 'requests_count',
  text: `with counted as (
      insert into request_minutes as m (${namesOf(requestMinutesTable)}) ${rowsFrom(requestMinutesTable, 1)}
      on conflict (org_id, app_id, minute) do update set ${sums.join(', ')}),
    used as (
      insert into api_key_uses as u (${namesOf(keyUsesTable)}) ${rowsFrom(keyUsesTable, keyUsesFrom)}
      on conflict (org_id, id) do update set last_used_at = excluded.last_used_at, last_used_ip = excluded.last_used_ip
        where u.last_used_at <= excluded.last_used_at)
    select set_config('synchronous_commit', 'off', true)`,
  msMax: writeMsMax,
};

const reapRequests: Statement = {
  name: 'requests_reap',
  text: `with old as (select ctid from requests where at < $1 limit $2)
    delete from requests where ctid = any(array(select ctid from old)) returning 1 as reaped`,
};

const reapMinutes: Statement = {
  name: 'request_minutes_reap',
  text: `with old as (select ctid from request_minutes where minute < $1 limit $2)
    delete from request_minutes where ctid = any(array(select ctid from old)) returning 1 as reaped`,
};

/** Writes the request log. It belongs to the engine, the only writer, although no command is involved. */
export class RequestJournal {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async write(requests: readonly RequestRow[]): Promise<void> {
    await this.#database.query(write, columnsOf(requestsTable, requests));
  }

  async count({ minutes, keyUses }: RequestCounts): Promise<void> {
    // Sorted: two nodes that count the same applications and keys lock their rows in the same order.
    const counted = [...minutes].sort((a, b) => (minuteKey(a) < minuteKey(b) ? -1 : 1));
    const used = [...keyUses].sort((a, b) => (a.id < b.id ? -1 : 1));
    await this.#database.query(count, [
      ...columnsOf(requestMinutesTable, counted),
      ...columnsOf(keyUsesTable, used),
    ]);
  }

  reap(before: Instant): Promise<number> {
    return deleteInBatches(this.#database, reapRequests, before);
  }

  reapMinutes(before: Instant): Promise<number> {
    return deleteInBatches(this.#database, reapMinutes, before);
  }
}

function minuteKey({ orgId, appId, minute }: MinuteRow): string {
  return `${orgId} ${appId} ${minute}`;
}
