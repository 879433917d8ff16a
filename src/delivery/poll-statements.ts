import type { Instant, Statement } from '../kernel/table.ts';
import { clockOf, type EndpointKey } from './statements.ts';

export interface DueEndpoint extends EndpointKey {
  readonly isDue: boolean;
  readonly isStranded: boolean;
  /** The endpoint was deleted, so its pending deliveries must be ended. */
  readonly isDeleted: boolean;
  readonly now: Instant;
  readonly isLast: boolean;
}

/**
 * One page of endpoints after a cursor, with those that have something due by their application clock. It skips from endpoint to
 * endpoint on the index, like the timer query. A delivery that is due later than any retry was scheduled before its clock was set
 * back: it is stranded.
 */
export const dueEndpoints: Statement = {
  name: 'deliveries_due_endpoints',
  text: `with recursive waiting(org_id, webhook_id, app_id, due_at, n) as (
      (select d.org_id, d.webhook_id, d.app_id, d.due_at, 1 from deliveries d
        where d.status = 'pending' and (d.org_id, d.webhook_id) > ($2, $3) order by d.org_id, d.webhook_id, d.due_at limit 1)
      union all
      select s.org_id, s.webhook_id, s.app_id, s.due_at, w.n + 1 from waiting w cross join lateral (
        select d.org_id, d.webhook_id, d.app_id, d.due_at from deliveries d
        where d.status = 'pending' and (d.org_id, d.webhook_id) > (w.org_id, w.webhook_id)
        order by d.org_id, d.webhook_id, d.due_at limit 1) s
      where w.n < $4)
    select w.org_id as "orgId", w.webhook_id as "webhookId", e.is_open and w.due_at <= c.now as "isDue",
      e.is_open and w.due_at > c.now + $5 * interval '1 millisecond' as "isStranded", e.is_deleted as "isDeleted",
      c.now, w.n = $4 as "isLast"
    from waiting w cross join lateral (
      select coalesce(c.now, $1::timestamptz) as now from (select 1) one ${clockOf('w.app_id', '$1::timestamptz')}) c
    cross join lateral (select coalesce(bool_or(e.status = 'enabled'), false) as is_open,
        coalesce(bool_or(e.status = 'deleted'), false) as is_deleted
      from webhooks e where e.org_id = w.org_id and e.id = w.webhook_id) e
    where w.n = $4 or e.is_deleted
      or (e.is_open and (w.due_at <= c.now or w.due_at > c.now + $5 * interval '1 millisecond'))`,
};

/** Makes stranded deliveries due now. */
export const rescheduleStranded: Statement = {
  name: 'deliveries_unstrand',
  text: `update deliveries d set due_at = $3 where d.org_id = $1 and d.webhook_id = $2 and d.status = 'pending' and d.due_at > $3`,
};

/**
 * Ends pending deliveries to a deleted endpoint. Each gets an attempt that says why, because the last attempt has the status of its
 * delivery. A delivery that is being sent has a lease: its own attempt is recorded first.
 */
export const endDeleted: Statement = {
  name: 'deliveries_end_deleted',
  text: `with ended as (
      update deliveries d set status = 'failed', attempts = d.attempts + 1, lease_until = null, held_until = null,
        last_response_status = null, last_error = $6, updated_at = $3
      where (select hold_organizations(array[$1]::text[])) and d.status = 'pending' and d.ctid = any(array(
        select d.ctid from deliveries d where d.org_id = $1 and d.webhook_id = $2 and d.status = 'pending'
          and (d.lease_until is null or d.lease_until <= $4)
        order by d.due_at, d.id limit $5))
      returning d.org_id, d.id, d.attempts),
    history as (
      insert into delivery_attempts (org_id, delivery_id, number, at, sent_at, duration_ms, error, status)
      select d.org_id, d.id, d.attempts, $3, $4, 0, $6, 'failed' from ended d)
    select count(*)::integer as ended from ended`,
};
