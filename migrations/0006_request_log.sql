-- What was asked over the API lately and what was answered, how much of it there was each minute, and when each key was last used.
--
-- None of this is asked for by a command, and losing the last second of it in a crash is no harm: it is written behind the
-- answers, many rows at a time. Only what every node writes in the same way is counted in place.

create table requests (
  org_id text collate "C" not null,
  -- Made when the request came: newest first is the primary key backwards, and a span of time is a span of ids.
  id text collate "C" not null,
  -- Empty where the whole organization is concerned, as in the console's own routes.
  app_id text collate "C" not null,
  at timestamptz not null,
  method text not null,
  path text not null,
  query text,
  -- The operation of the OpenAPI document.
  route text not null,
  http_status integer not null,
  duration_us integer not null,
  error_code text,
  actor_kind text not null,
  actor_id text not null,
  ip text,
  idempotency_key text,
  is_replay boolean not null,
  -- Redacted and cut; null when there was none or there was too much to keep.
  request_body text,
  response_body text,
  primary key (org_id, id),
  constraint requests_path check (length(path) <= 500 and length(query) <= 500),
  constraint requests_actor check (actor_kind in ('api_key', 'person', 'system'))
);
-- The console shows one application at a time; a quiet one would else be searched for among the requests of a busy one.
create index requests_by_app on requests (org_id, app_id, id);
create index requests_refused on requests (org_id, id) where error_code is not null;
-- For retention alone; rows arrive in order of time.
create index requests_by_age on requests using brin (at) with (pages_per_range = 32);

create table request_minutes (
  org_id text collate "C" not null,
  app_id text collate "C" not null,
  minute timestamptz not null,
  requests integer not null,
  client_errors integer not null,
  server_errors integer not null,
  -- Counted here and nowhere else: there were more than the log keeps.
  not_kept integer not null,
  -- How many took at most so long, and longer than the column before.
  us500 integer not null,
  ms1 integer not null,
  ms2 integer not null,
  ms5 integer not null,
  ms10 integer not null,
  ms20 integer not null,
  ms50 integer not null,
  ms100 integer not null,
  ms200 integer not null,
  ms500 integer not null,
  s1 integer not null,
  s5 integer not null,
  beyond integer not null,
  primary key (org_id, app_id, minute)
) with (fillfactor = 70);
create index request_minutes_by_age on request_minutes using brin (minute) with (pages_per_range = 32);

-- Apart from the keys, because a use is no change of a key. Fillfactor: a key in use is written again four times a second.
create table api_key_uses (
  org_id text collate "C" not null,
  id text collate "C" not null,
  last_used_at timestamptz not null,
  last_used_ip text,
  primary key (org_id, id)
) with (fillfactor = 50);
