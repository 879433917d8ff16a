-- The write path: who may write (organizations, applications, keys), what is written (customers, payments), and
-- the rows that the engine derives from every write (history, events, audit, idempotent answers).
--
-- Every primary key begins with org_id, so that isolation is structural and the data can be sharded by it.
-- Ids are text in the "C" collation: they compare as bytes, which is both their order in time and the cheapest order.
-- There are no foreign keys between tenant rows: the engine reads and locks what a command refers to before it decides,
-- and a row trigger for each reference costs more than the insert of the row itself.

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only: % is refused', tg_table_name, lower(tg_op) using errcode = 'restrict_violation';
end
$$;

create table organizations (
  org_id text collate "C" not null,
  id text collate "C" not null,
  status text not null,
  version integer not null,
  name text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (org_id, id),
  constraint organizations_is_own check (id = org_id),
  constraint organizations_status check (status in ('active')),
  constraint organizations_version check (version >= 1)
);

create table applications (
  org_id text collate "C" not null,
  id text collate "C" not null,
  status text not null,
  version integer not null,
  name text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (org_id, id),
  constraint applications_status check (status in ('active')),
  constraint applications_version check (version >= 1)
);

create table api_keys (
  org_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  status text not null,
  version integer not null,
  name text not null,
  -- SHA-256 of the whole key. The key itself is shown once and kept nowhere.
  hash bytea not null,
  last_four text not null,
  scopes jsonb not null,
  allowed_cidrs jsonb not null,
  expires_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (org_id, id),
  constraint api_keys_status check (status in ('active', 'revoked')),
  constraint api_keys_version check (version >= 1),
  constraint api_keys_hash check (octet_length(hash) = 32)
);
-- A request arrives with nothing but its key: this is the one look-up that does not begin with the organization.
create unique index api_keys_by_hash on api_keys (hash);

create table customers (
  org_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  status text not null,
  version integer not null,
  name text,
  email text,
  phone text,
  reference text,
  metadata jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (org_id, id),
  constraint customers_status check (status in ('active', 'archived')),
  constraint customers_version check (version >= 1),
  constraint customers_named check (name is not null or email is not null)
);
create index customers_by_status on customers (org_id, status, id);

create table payments (
  org_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  status text not null,
  version integer not null,
  amount bigint not null,
  currency text not null,
  amount_capturable bigint not null,
  amount_captured bigint not null,
  amount_refunded bigint not null,
  amount_disputed bigint not null,
  fee_amount bigint not null,
  capture_method text not null,
  payment_method_type text not null,
  customer_id text collate "C",
  description text,
  reference text,
  metadata jsonb not null,
  scenario jsonb not null,
  auto_advance boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (org_id, id),
  constraint payments_status check (status in ('pending')),
  constraint payments_version check (version >= 1),
  constraint payments_amount check (amount between 1 and 999999999999),
  constraint payments_currency check (currency ~ '^[A-Z]{3}$'),
  constraint payments_capture_method check (capture_method in ('automatic', 'manual')),
  constraint payments_payment_method check (payment_method_type in ('card', 'bank_debit', 'bank_transfer', 'wallet')),
  constraint payments_captured check (amount_capturable >= 0 and amount_captured >= 0 and amount_capturable + amount_captured <= amount),
  constraint payments_returned check (amount_refunded >= 0 and amount_disputed >= 0 and amount_refunded + amount_disputed <= amount_captured),
  constraint payments_fee check (fee_amount between 0 and amount)
);
create index payments_by_status on payments (org_id, status, id);
create index payments_by_customer on payments (org_id, customer_id, id) where customer_id is not null;

create table state_history (
  org_id text collate "C" not null,
  resource_id text collate "C" not null,
  version integer not null,
  resource text not null,
  action text not null,
  from_status text,
  to_status text not null,
  event_id text collate "C",
  actor_kind text not null,
  actor_id text not null,
  request_id text not null,
  at timestamptz not null,
  primary key (org_id, resource_id, version)
);
create trigger state_history_append_only before update or delete on state_history for each row execute function refuse_change();
create trigger state_history_no_truncate before truncate on state_history execute function refuse_change();

create table events (
  org_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  type text not null,
  resource text not null,
  resource_id text collate "C" not null,
  sequence integer not null,
  request_id text not null,
  -- json and not jsonb: the bytes are signed later, so they must come back as they were.
  data json not null,
  created_at timestamptz not null,
  primary key (org_id, id),
  constraint events_sequence check (sequence >= 1)
);
create trigger events_append_only before update or delete on events for each row execute function refuse_change();
create trigger events_no_truncate before truncate on events execute function refuse_change();

create table audit (
  org_id text collate "C" not null,
  id text collate "C" not null,
  at timestamptz not null,
  actor_kind text not null,
  actor_id text not null,
  app_id text collate "C",
  action text not null,
  resource text,
  resource_id text collate "C",
  request_id text not null,
  ip text,
  outcome text not null,
  code text,
  primary key (org_id, id),
  constraint audit_actor check (actor_kind in ('api_key', 'system')),
  constraint audit_outcome check (outcome in ('accepted', 'refused') and (outcome = 'refused') = (code is not null))
);
create trigger audit_append_only before update or delete on audit for each row execute function refuse_change();
create trigger audit_no_truncate before truncate on audit execute function refuse_change();

create table idempotency (
  org_id text collate "C" not null,
  app_id text collate "C" not null,
  key text collate "C" not null,
  fingerprint bytea not null,
  status integer not null,
  body text not null,
  created_at timestamptz not null,
  primary key (org_id, app_id, key),
  constraint idempotency_key_length check (length(key) between 1 and 255),
  constraint idempotency_fingerprint check (octet_length(fingerprint) = 32)
);
-- For the reaper alone. Rows arrive in order of time, which is what a block range index is for: it costs a create next to nothing.
create index idempotency_by_age on idempotency using brin (created_at) with (pages_per_range = 32);
