-- The last reports of each receiver, so that a report can be opened again. Operational data like the request log: written after the
-- examination, up to a fixed number for each endpoint. A node of the release before does not write it.
create table examinations (
  org_id text collate "C" not null,
  webhook_id text collate "C" not null,
  id text collate "C" not null,
  at timestamptz not null,
  report jsonb not null,
  primary key (org_id, webhook_id, id)
);
