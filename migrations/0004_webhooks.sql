-- Webhook endpoints, the deliveries of events to them with every attempt, and replays of a window.
--
-- A node of the version before goes on beside this one, but it makes no deliveries: upgrade all nodes before webhooks are made.

create table webhooks (
  org_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  status text not null,
  version integer not null,
  url text not null,
  description text,
  -- '*', 'payment.*' or exact.
  event_types jsonb not null,
  retry_profile text not null,
  concurrency_max integer not null,
  -- Encrypted, the newest first; one that was rotated away has an end.
  secrets jsonb not null,
  disabled_reason text,
  -- Since when it has been enabled, or disabled.
  since timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (org_id, id),
  constraint webhooks_status check (status in ('enabled', 'disabled')),
  constraint webhooks_version check (version >= 1),
  constraint webhooks_event_types check (jsonb_typeof(event_types) = 'array'),
  constraint webhooks_retry_profile check (retry_profile in ('standard', 'fast', 'none')),
  constraint webhooks_concurrency check (concurrency_max between 1 and 64),
  constraint webhooks_secrets check (jsonb_typeof(secrets) = 'array' and jsonb_array_length(secrets) between 1 and 2),
  constraint webhooks_disabled check ((status = 'disabled') = (disabled_reason is not null))
);
-- A delivery takes its id from its event and the last six characters of its endpoint, which are therefore unlike in one
-- application. The index also finds the endpoints of an application for each event that is written.
create unique index webhooks_by_app on webhooks (org_id, app_id, right(id, 6));

-- How an endpoint has been doing, and which process sends to it. Apart from its configuration, because nobody asks for these.
create table webhook_health (
  org_id text collate "C" not null,
  webhook_id text collate "C" not null,
  -- One process at a time: it alone can then keep to the endpoint's limit of open requests. Wall time.
  sender text collate "C",
  sender_until timestamptz,
  -- Since when every attempt has failed; null after one that did not.
  failing_since timestamptz,
  last_success_at timestamptz,
  last_failure_at timestamptz,
  primary key (org_id, webhook_id),
  constraint webhook_health_sender check ((sender is null) = (sender_until is null))
) with (fillfactor = 50);

create table deliveries (
  org_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  webhook_id text collate "C" not null,
  event_id text collate "C" not null,
  event_type text not null,
  -- What it was made for: its event, a replay of it, or a test of the endpoint.
  trigger text not null,
  replay_id text collate "C",
  status text not null,
  -- Attempts in the history, and how many of them count for the retry profile: one that was cut short by us does not.
  attempts integer not null default 0,
  tries integer not null default 0,
  -- By the clock of the application; 1970 for a first attempt, which is due whatever the clock says.
  due_at timestamptz not null,
  -- Wall time until which the process that sends it is believed to live, and the number of its claim.
  lease_until timestamptz,
  token integer not null default 0,
  last_response_status integer,
  last_error text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (org_id, id),
  constraint deliveries_status check (status in ('pending', 'succeeded', 'failed')),
  constraint deliveries_trigger check (trigger in ('event', 'replay', 'test')),
  constraint deliveries_tries check (tries between 0 and attempts),
  constraint deliveries_lease check (status = 'pending' or lease_until is null)
) with (fillfactor = 70);
-- The queue: an endpoint's own, so that a slow one holds up nobody else. No index knows of leases: a claim then writes none.
create index deliveries_due on deliveries (org_id, webhook_id, due_at, id) where status = 'pending';
create index deliveries_by_webhook on deliveries (org_id, webhook_id, id);
create index deliveries_by_event on deliveries (org_id, event_id, id);
create index deliveries_by_status on deliveries (org_id, status, id);
create index deliveries_by_replay on deliveries (org_id, replay_id) where replay_id is not null;

create table delivery_attempts (
  org_id text collate "C" not null,
  delivery_id text collate "C" not null,
  number integer not null,
  -- By the clock of the application, and by the wall.
  at timestamptz not null,
  sent_at timestamptz not null,
  request_headers jsonb,
  response_status integer,
  response_headers jsonb,
  response_body text,
  duration_ms integer not null,
  error text,
  -- Where the delivery stood after it, and the advance of the clock that it was part of.
  status text not null,
  request_id text collate "C",
  bodies_cleared boolean not null default false,
  primary key (org_id, delivery_id, number)
);
create index delivery_attempts_by_request on delivery_attempts (org_id, request_id) where request_id is not null;
-- For retention alone; rows arrive in order of time.
create index delivery_attempts_by_age on delivery_attempts using brin (sent_at) with (pages_per_range = 32);

-- Deliveries again of all events in a window, made in steps: `cursor` is the event that was reached.
create table replays (
  org_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  status text not null,
  version integer not null,
  window_from timestamptz not null,
  window_to timestamptz not null,
  selection text not null,
  webhook_id text collate "C",
  cursor text collate "C" not null,
  last_event_id text collate "C" not null,
  matched integer not null,
  replayed integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (org_id, id),
  constraint replays_status check (status in ('running', 'completed')),
  constraint replays_version check (version >= 1),
  constraint replays_selection check (selection in ('failed', 'missing', 'all'))
);
create index replays_running on replays (updated_at) where status = 'running';

-- Events by what they tell and whom they tell of.
create index events_by_type on events (org_id, type, id);
create index events_by_resource on events (org_id, resource_id, id);

-- Tells the senders of all nodes when a change is committed that concerns them: a new delivery, an endpoint that was changed, a
-- clock that was moved. An embedded database has one process, which is told directly.
create function announce_work() returns trigger language plpgsql as $$
begin
  perform pg_notify('sandbank_work', concat_ws(' ', new.org_id, to_jsonb(new) ->> tg_argv[0], nullif(tg_argv[1], '')));
  return null;
end
$$;
create trigger deliveries_announced after insert on deliveries for each row
  when (current_setting('sandbank.announces', true) = 'on') execute function announce_work('webhook_id', '');
create trigger webhooks_announced after update on webhooks for each row
  when (current_setting('sandbank.announces', true) = 'on') execute function announce_work('id', 'changed');
create trigger clocks_announced after insert or update on clocks for each row
  when (current_setting('sandbank.announces', true) = 'on') execute function announce_work('app_id', '');
