-- Stored responses with secrets, and API keys that may reset their organization.
--
-- The copy of a response that still shows its secret is stored apart from the copy without it, sealed, and for less than an hour.
-- A node of the release before does not know this table: it replays the copy without the secret.
create table idempotency_secrets (
  org_id text collate "C" not null,
  app_id text collate "C" not null,
  key text collate "C" not null,
  sealed_body text not null,
  created_at timestamptz not null,
  primary key (org_id, app_id, key)
);
-- For retention: a round deletes the oldest rows.
create index idempotency_secrets_by_age on idempotency_secrets (created_at);

-- A reset deletes all records of the organization: a key needs a permission for it that only an owner or admin grants.
alter table api_keys add column may_reset boolean not null default false;
