-- The security history of people, and organizations that require a second factor.
--
-- Nodes of the release before run beside this one: they write neither, and do not check the second factor.

-- What happened to an account: sign-ins, failed attempts and changes. Only its person sees it; it is deleted after 90 days.
create table account_events (
  person_id text collate "C" not null references persons (id) on delete cascade,
  id bigint generated always as identity,
  at timestamptz not null,
  action text collate "C" not null,
  ip text,
  user_agent text,
  primary key (person_id, id)
);
create index account_events_by_age on account_events (at);

-- Members without a second factor have no access to the organization.
alter table organizations add column requires_two_factor boolean not null default false;
