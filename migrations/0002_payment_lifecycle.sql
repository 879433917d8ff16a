-- The life of a payment: its states and amounts, refunds, disputes, the ledger, and what providers said.
--
-- New columns keep their defaults: a node of the version before goes on making payments while this one is already there.

alter table applications
  add column fee_basis_points integer not null default 290,
  add column fee_fixed bigint not null default 30,
  add column provider text,
  add constraint applications_fee check (fee_basis_points between 0 and 10000 and fee_fixed between 0 and 999999999999);

alter table payments
  add column amount_held bigint not null default 0,
  add column amount_refund_pending bigint not null default 0,
  add column fee_basis_points integer not null default 290,
  add column fee_fixed bigint not null default 30,
  add column provider text not null default 'meridian',
  add column payment_method_last_four text,
  add column failure_code text,
  add column attempts jsonb not null default '[]',
  add column dispute_id text collate "C",
  add column instants jsonb not null default '{}',
  drop constraint payments_status,
  drop constraint payments_returned,
  add constraint payments_status check (status in ('pending', 'requires_action', 'processing', 'authorized',
    'partially_captured', 'captured', 'settled', 'partially_refunded', 'refunded', 'disputed', 'charged_back', 'failed',
    'canceled', 'expired')),
  add constraint payments_held check (amount_held between 0 and amount_capturable),
  add constraint payments_returned check (amount_refunded >= 0 and amount_refund_pending >= 0 and amount_disputed >= 0
    and amount_refunded + amount_refund_pending + amount_disputed <= amount_captured),
  add constraint payments_failure check ((status = 'failed') = (failure_code is not null)),
  add constraint payments_last_four check (payment_method_last_four ~ '^[0-9]{4}$');

create table refunds (
  org_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  status text not null,
  version integer not null,
  payment_id text collate "C" not null,
  amount bigint not null,
  currency text not null,
  reason text,
  metadata jsonb not null,
  ended_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (org_id, id),
  constraint refunds_status check (status in ('pending', 'succeeded', 'failed', 'canceled')),
  constraint refunds_version check (version >= 1),
  constraint refunds_amount check (amount between 1 and 999999999999),
  constraint refunds_ended check ((status = 'pending') = (ended_at is null))
);
create index refunds_by_payment on refunds (org_id, payment_id, id);
create index refunds_by_status on refunds (org_id, status, id);

create table disputes (
  org_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  status text not null,
  version integer not null,
  payment_id text collate "C" not null,
  amount bigint not null,
  currency text not null,
  reason text not null,
  stage text not null,
  evidence jsonb,
  respond_by timestamptz not null,
  closed_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (org_id, id),
  constraint disputes_status check (status in ('needs_response', 'under_review', 'won', 'lost')),
  constraint disputes_version check (version >= 1),
  constraint disputes_amount check (amount between 1 and 999999999999),
  constraint disputes_stage check (stage in ('chargeback', 'pre_arbitration', 'arbitration')),
  constraint disputes_closed check ((status in ('won', 'lost')) = (closed_at is not null))
);
create index disputes_by_payment on disputes (org_id, payment_id, id);
create index disputes_by_status on disputes (org_id, status, id);

-- An entry is one row with its postings inside: they are written together, read together and never changed.
create table ledger_entries (
  org_id text collate "C" not null,
  id text collate "C" not null,
  payment_id text collate "C" not null,
  record_version integer not null,
  reason text not null,
  postings jsonb not null,
  request_id text not null,
  created_at timestamptz not null,
  primary key (org_id, id),
  constraint ledger_entries_postings check (jsonb_typeof(postings) = 'array' and jsonb_array_length(postings) >= 2)
);
create index ledger_entries_by_payment on ledger_entries (org_id, payment_id, id);
create trigger ledger_entries_append_only before update or delete on ledger_entries for each row execute function refuse_change();
create trigger ledger_entries_no_truncate before truncate on ledger_entries execute function refuse_change();

create table ledger_balances (
  org_id text collate "C" not null,
  account text collate "C" not null,
  currency text collate "C" not null,
  balance bigint not null,
  primary key (org_id, account, currency)
);

create table provider_events (
  org_id text collate "C" not null,
  id text collate "C" not null,
  payment_id text collate "C" not null,
  provider text collate "C" not null,
  provider_transaction_id text collate "C" not null,
  provider_event_id text collate "C" not null,
  type text not null,
  -- json and not jsonb: what a provider sent is kept as it came.
  payload json not null,
  outcome text not null,
  action text not null,
  request_id text not null,
  received_at timestamptz not null,
  primary key (org_id, id),
  constraint provider_events_outcome check (outcome in ('applied', 'ignored', 'duplicate'))
);
create index provider_events_by_payment on provider_events (org_id, payment_id, id);
-- Whatever a provider sends, and however often: one event is applied once.
create unique index provider_events_applied_once on provider_events (org_id, provider, provider_event_id) where outcome = 'applied';
create trigger provider_events_append_only before update or delete on provider_events for each row execute function refuse_change();
create trigger provider_events_no_truncate before truncate on provider_events execute function refuse_change();
