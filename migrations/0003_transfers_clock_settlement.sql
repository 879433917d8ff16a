-- FX transfers, the clocks of applications with their timers, and the lines of settlement reports.
--
-- New columns keep their defaults or may be absent: a node of the version before goes on writing beside this one.

alter table applications
  add column fx_margin_basis_points integer not null default 50,
  add column fx_rates jsonb not null default '{}',
  add constraint applications_fx check (fx_margin_basis_points between 0 and 5000 and jsonb_typeof(fx_rates) = 'object');

alter table payments
  add column reconciliation text,
  add constraint payments_reconciliation check
    (reconciliation in ('matched', 'amount_mismatch', 'missing_at_provider', 'missing_in_ledger', 'duplicate'));

create table transfers (
  org_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  status text not null,
  version integer not null,
  source_currency text not null,
  target_currency text not null,
  source_amount bigint not null,
  target_amount bigint not null,
  fee_amount bigint not null,
  -- Which of the two amounts was asked for: the other one follows from it, also when it is quoted anew.
  fixed_side text not null,
  rate text not null,
  mid_market_rate text not null,
  margin_basis_points integer not null,
  fund_from text not null,
  provider text not null,
  customer_id text collate "C",
  beneficiary jsonb,
  reference text,
  metadata jsonb not null,
  scenario jsonb not null,
  auto_advance boolean not null,
  failure_code text,
  return_code text,
  -- How often it was sent: a transfer that came back may be sent again.
  sends integer not null,
  reconciliation text,
  expires_at timestamptz not null,
  instants jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (org_id, id),
  constraint transfers_status check (status in ('quoted', 'accepted', 'funded', 'in_review', 'converted', 'sent', 'completed',
    'returned', 'refunded', 'canceled', 'expired', 'failed')),
  constraint transfers_version check (version >= 1),
  constraint transfers_amounts check (source_amount between 1 and 999999999999 and target_amount between 1 and 999999999999
    and fee_amount between 0 and 999999999999 and source_amount + fee_amount <= 999999999999),
  constraint transfers_currencies check (source_currency ~ '^[A-Z]{3}$' and target_currency ~ '^[A-Z]{3}$'),
  constraint transfers_fixed_side check (fixed_side in ('source', 'target')),
  constraint transfers_fund_from check (fund_from in ('external', 'balance')),
  constraint transfers_failure check ((status = 'failed') = (failure_code is not null)),
  constraint transfers_reconciliation check
    (reconciliation in ('matched', 'amount_mismatch', 'missing_at_provider', 'missing_in_ledger', 'duplicate'))
);
create index transfers_by_status on transfers (org_id, status, id);
create index transfers_by_customer on transfers (org_id, customer_id, id) where customer_id is not null;

-- An entry belongs to a payment or to a transfer, and so does what a provider said.
alter table ledger_entries
  alter column payment_id drop not null,
  add column transfer_id text collate "C",
  add constraint ledger_entries_record check (num_nonnulls(payment_id, transfer_id) = 1);
create index ledger_entries_by_transfer on ledger_entries (org_id, transfer_id, id) where transfer_id is not null;

alter table provider_events
  alter column payment_id drop not null,
  add column transfer_id text collate "C",
  add constraint provider_events_record check (num_nonnulls(payment_id, transfer_id) = 1);
create index provider_events_by_transfer on provider_events (org_id, transfer_id, id) where transfer_id is not null;

-- The clock of an application; one that was never moved has no row and shows real time.
create table clocks (
  org_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  status text not null,
  version integer not null,
  offset_ms bigint not null,
  -- Where the clock stands while it is frozen or on its way.
  stands_at timestamptz,
  -- The advance that is under way, with the key of its request; kept so that it outlives the process that began it.
  advance jsonb,
  -- Wall time until which the process that carries the advance out is believed to live.
  lease_until timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (org_id, id),
  constraint clocks_status check (status in ('running', 'frozen')),
  constraint clocks_version check (version >= 1),
  constraint clocks_stand check ((status = 'frozen' or advance is not null) = (stands_at is not null)),
  constraint clocks_lease check ((advance is null) = (lease_until is null))
);
create index clocks_advancing on clocks (lease_until) where advance is not null;

-- A batch decides by the clocks that its node knows, and says so when it writes: a clock that another node has moved since
-- makes the batch run again. The lateral form keeps it on the index.
create function refuse_moved_clocks(org_ids text[], ids text[], versions integer[]) returns boolean language plpgsql as $$
begin
  if exists (
    select from unnest(org_ids, ids, versions) as k(org_id, id, version)
    where k.version is distinct from
      coalesce((select c.version from clocks c where c.org_id = k.org_id and c.id = k.id), 0))
  then
    raise exception 'a clock was moved meanwhile' using errcode = 'serialization_failure';
  end if;
  return true;
end
$$;

-- When each record next falls due, by the clock of its application. Derived from the record with every change of it.
create table timers (
  org_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  resource text not null,
  due_at timestamptz not null,
  primary key (org_id, id)
);
create index timers_by_due on timers (org_id, app_id, due_at, id);

-- One line of a provider's report beside what the ledger says: what is absent on either side is null.
create table settlement_lines (
  org_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  settled_on text collate "C" not null,
  provider text collate "C" not null,
  provider_transaction_id text collate "C" not null,
  payment_id text collate "C",
  transfer_id text collate "C",
  currency text collate "C" not null,
  ledger_gross bigint,
  ledger_fee bigint,
  gross bigint,
  fee bigint,
  result text collate "C" not null,
  request_id text not null,
  created_at timestamptz not null,
  primary key (org_id, id),
  constraint settlement_lines_day check (settled_on ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'),
  constraint settlement_lines_result check
    (result in ('matched', 'amount_mismatch', 'missing_at_provider', 'missing_in_ledger', 'duplicate')),
  constraint settlement_lines_sides check ((ledger_gross is null) = (ledger_fee is null)
    and (gross is null) = (fee is null) and num_nonnulls(ledger_gross, gross) >= 1)
);
create index settlement_lines_by_day on settlement_lines (org_id, settled_on, id);
create trigger settlement_lines_append_only before update or delete on settlement_lines for each row execute function refuse_change();
create trigger settlement_lines_no_truncate before truncate on settlement_lines execute function refuse_change();

-- Records that were there before timers were. Each is asked what it waits for when its timer fires.
insert into timers (org_id, id, app_id, resource, due_at)
  select org_id, id, app_id, 'payment', to_timestamp((instants->>'authorizationExpiresAt')::bigint / 1000.0) from payments
    where status in ('authorized', 'partially_captured') and instants ? 'authorizationExpiresAt'
  union all
  -- The run that its provider promised, or the next one after its last change.
  select org_id, id, app_id, 'payment', greatest(
      date_trunc('day', to_timestamp((instants->>'capturedAt')::bigint / 1000.0), 'UTC')
        + interval '6 hours' + (case provider when 'tidewater' then 2 else 1 end) * interval '1 day',
      date_trunc('day', updated_at - interval '6 hours 1 millisecond', 'UTC') + interval '30 hours')
    from payments where status in ('captured', 'partially_refunded') and instants ? 'capturedAt' and not instants ? 'settledAt'
  union all
  select org_id, id, app_id, 'payment', updated_at from payments
    where auto_advance and status in ('pending', 'requires_action', 'processing', 'failed')
  union all
  select org_id, id, app_id, 'dispute', respond_by from disputes where status = 'needs_response';
