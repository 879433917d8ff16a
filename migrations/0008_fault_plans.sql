-- Fault plans: which of an application's requests or webhooks shall fail, and how.
--
-- A node of the version before goes on beside this one, and what it serves and sends is not hit: upgrade all nodes before plans are made.

create table fault_plans (
  org_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  status text not null,
  version integer not null,
  -- What it strikes; `on` in answers, which is no name for a column.
  target text not null,
  fault jsonb not null,
  -- How many are hit before it is exhausted, and how many of a hundred that match; one of the two at least.
  count integer,
  share integer,
  seed bigint not null,
  -- What matches; null for all.
  operations jsonb,
  methods jsonb,
  event_types jsonb,
  -- How many have matched so far, and how many of them were hit. Counted in place, by one statement a count and without a
  -- version: thousands of hits are no history of a plan.
  seen bigint not null default 0,
  applied bigint not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (org_id, id),
  constraint fault_plans_status check (status in ('active', 'exhausted', 'canceled')),
  constraint fault_plans_version check (version >= 1),
  constraint fault_plans_target check (target in ('requests', 'webhooks')),
  constraint fault_plans_bounds check (count is not null or share is not null),
  constraint fault_plans_count check (count between 1 and 10000),
  constraint fault_plans_share check (share between 1 and 100),
  constraint fault_plans_seed check (seed between 0 and 4294967295),
  constraint fault_plans_counts check (applied between 0 and seen and (count is null or applied <= count))
) with (fillfactor = 50);
-- What every look-up of a key and every claim of deliveries asks. It is empty nearly always, and then costs nothing.
create index fault_plans_active on fault_plans (org_id, app_id, id) where status = 'active';

-- The plan that hit a request, if one did.
alter table requests add column fault_plan_id text collate "C";

-- The plan that hit a delivery, and the wall time until which it waits for the next one to overtake it.
alter table deliveries add column fault_plan_id text collate "C", add column held_until timestamptz;
create index deliveries_held on deliveries (org_id, webhook_id) where held_until is not null;
alter table delivery_attempts add column fault_plan_id text collate "C";
