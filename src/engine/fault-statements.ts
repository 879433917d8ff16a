import type { Id } from '../kernel/ids.ts';
import type { Statement } from '../kernel/table.ts';
import { patternLength } from '../resources/fault-plans/table.ts';

/**
 * Assigns the next sequence numbers of each plan to its matches, and returns which numbers are hits. The plan row is locked, so
 * each number is assigned once, however many nodes count. A plan that has reached its hit count assigns no more numbers. When a
 * plan becomes exhausted, the same statement updates its status and adds the history row.
 *
 * $1 to $5 are arrays over the plans: organization, id, number of matches, pattern, and the request for the history. $6 is the
 * wall clock, from which the statement derives the application time.
 */
const count = `with plan as materialized (
      select p.*, w.n, w.pattern, w.request_id
      from unnest($1::text[], $2::text[], $3::integer[], $4::bytea[], $5::text[]) as w(org_id, id, n, pattern, request_id)
      cross join lateral (
        select p.org_id, p.id, p.count, p.seen, p.applied from fault_plans p
        where p.org_id = w.org_id and p.id = w.id and p.status = 'active' offset 0 for update) p),
    numbered as (
      select p.org_id, p.id, p.count, p.applied, k.k - p.seen as place, h.hit,
        sum(h.hit) over (partition by p.org_id, p.id order by k.k) as hits
      from plan p cross join lateral generate_series(p.seen + 1, p.seen + p.n) as k(k)
      cross join lateral (select get_bit(p.pattern, (k.k - 1) % ${patternLength}) as hit) h),
    taken as materialized (
      select n.org_id, n.id, n.place, n.hit from numbered n where n.count is null or n.applied + n.hits - n.hit < n.count),
    total as (select t.org_id, t.id, count(*) as seen, sum(t.hit) as applied from taken t group by t.org_id, t.id),
    counted as (
      update fault_plans p set seen = p.seen + t.seen, applied = p.applied + t.applied,
        status = case when p.applied + t.applied >= p.count then 'exhausted' else p.status end,
        version = p.version + case when p.applied + t.applied >= p.count then 1 else 0 end,
        updated_at = coalesce((select coalesce(c.stands_at, $6::timestamptz + c.offset_ms * interval '1 millisecond')
          from clocks c where c.org_id = p.org_id and c.id = 'clk' || substr(p.app_id, 4)), $6::timestamptz)
      from total t where p.org_id = t.org_id and p.id = t.id
      returning p.org_id, p.id, p.status, p.version, p.updated_at),
    moved as (
      insert into state_history (org_id, resource_id, version, resource, action, from_status, to_status, actor_kind, actor_id,
        request_id, at)
      select c.org_id, c.id, c.version, 'fault_plan', 'exhaust', 'active', c.status, 'system', 'faults', p.request_id, c.updated_at
      from counted c join plan p on p.org_id = c.org_id and p.id = c.id where c.status = 'exhausted')`;

const answer = `select t.org_id as "orgId", t.id, t.hit = 1 as "isHit", c.status = 'exhausted' as "isOver"
    from taken t join counted c on c.org_id = t.org_id and c.id = t.id order by t.org_id, t.id, t.place`;

/** The result for one match, in the order of the matches. */
export interface MatchResult {
  readonly orgId: Id<'organization'>;
  readonly id: string;
  readonly isHit: boolean;
  /** The plan is exhausted. */
  readonly isOver: boolean;
}

export const takeForRequests: Statement = { name: 'fault_plans_take', text: `${count} ${answer}` };

/**
 * For claimed deliveries, in order: $7 and $8 are their ids and tokens, $9 the due times if the plan delays them, $10 the end of
 * the new lease, null when they are released. The same statement writes the hit to the delivery, so that a crash cannot lose it
 * and no later claim is hit again.
 */
export const takeForDeliveries: Statement = {
  name: 'fault_plans_take_deliveries',
  text: `${count},
    hit_deliveries as (
      update deliveries d set fault_plan_id = t.id, due_at = coalesce(l.due_at, d.due_at), lease_until = $10::timestamptz
      from taken t join unnest($7::text[], $8::integer[], $9::timestamptz[]) with ordinality as l(id, token, due_at, place)
        on l.place = t.place
      where t.hit = 1 and d.org_id = t.org_id and d.id = l.id and d.token = l.token and d.lease_until is not null)
    ${answer}`,
};

/** Holds a claimed delivery, because no other claim overtakes it. */
export const holdDelivery: Statement = {
  name: 'deliveries_hold',
  text: `update deliveries d set held_until = $4::timestamptz, lease_until = null
    where d.org_id = $1 and d.id = $2 and d.token = $3 and d.lease_until is not null`,
};
