-- The people behind the console: who they are and how they sign in, the organizations they belong to, and invitations.
--
-- Nodes of the version before go on beside this one: every new column has a default, and no row of theirs is refused.

-- A person may belong to several organizations, so these tables belong to none. They are written by the library that signs
-- people in; what a person may do is said by `members`, which the engine writes.
create table persons (
  id text collate "C" primary key,
  name text not null,
  email text not null,
  email_verified boolean not null default false,
  image text,
  two_factor_enabled boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint persons_email check (email = lower(email))
);
create unique index persons_by_email on persons (email);

create table person_accounts (
  id text collate "C" primary key,
  person_id text collate "C" not null references persons (id) on delete cascade,
  account_id text not null,
  provider_id text not null,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz,
  refresh_token_expires_at timestamptz,
  scope text,
  -- scrypt with its figures; never the password.
  password text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index person_accounts_by_person on person_accounts (person_id);

create table person_sessions (
  id text collate "C" primary key,
  person_id text collate "C" not null references persons (id) on delete cascade,
  token text not null,
  expires_at timestamptz not null,
  ip_address text,
  user_agent text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index person_sessions_by_token on person_sessions (token);
create index person_sessions_by_person on person_sessions (person_id);
create index person_sessions_by_end on person_sessions (expires_at);

create table person_verifications (
  id text collate "C" primary key,
  identifier text not null,
  value text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index person_verifications_by_identifier on person_verifications (identifier);
create index person_verifications_by_end on person_verifications (expires_at);

create table person_two_factors (
  id text collate "C" primary key,
  person_id text collate "C" not null references persons (id) on delete cascade,
  -- Encrypted, both of them.
  secret text not null,
  backup_codes text not null,
  verified boolean not null default true,
  failed_verification_count integer not null default 0,
  locked_until timestamptz
);
create index person_two_factors_by_person on person_two_factors (person_id);
create index person_two_factors_by_secret on person_two_factors (secret);

-- How often signing in was tried of late, by account and by address. The subject is a hash.
create table sign_in_tries (
  subject text collate "C" primary key,
  tries integer not null,
  since timestamptz not null
);
create index sign_in_tries_by_age on sign_in_tries (since);

create table members (
  org_id text collate "C" not null,
  -- The suffix of the person's own id, so that a person is a member once.
  id text collate "C" not null,
  person_id text collate "C" not null,
  role text not null,
  status text not null,
  version integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (org_id, id),
  constraint members_role check (role in ('owner', 'admin', 'developer', 'viewer')),
  constraint members_status check (status in ('active', 'removed')),
  constraint members_version check (version >= 1)
);
-- A person who signs in asks for all organizations at once.
create index members_by_person on members (person_id);

create table invitations (
  org_id text collate "C" not null,
  id text collate "C" not null,
  -- For this address alone, or for whoever has the link.
  email text,
  role text not null,
  status text not null,
  version integer not null,
  -- SHA-256 of what the link carries.
  hash bytea not null,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (org_id, id),
  constraint invitations_role check (role in ('owner', 'admin', 'developer', 'viewer')),
  constraint invitations_status check (status in ('pending', 'accepted', 'revoked')),
  constraint invitations_version check (version >= 1),
  constraint invitations_hash check (octet_length(hash) = 32)
);
-- A link names nothing but itself.
create unique index invitations_by_hash on invitations (hash);

-- Kept with the organization, so that two owners who leave at once cannot leave it without one.
alter table organizations add column owners integer not null default 0;

alter table applications
  drop constraint applications_status,
  add constraint applications_status check (status in ('active', 'archived')),
  add column webhook_defaults jsonb not null default '{"eventTypes":["*"],"maxConcurrency":10,"retryProfile":"standard"}';

-- A rotated key and the one that takes over name each other.
alter table api_keys add column replaces text collate "C", add column replaced_by text collate "C";

-- Not checked on the rows that are there: they passed the narrower rule, and looking at each would hold up all writes.
alter table audit
  drop constraint audit_actor,
  add constraint audit_actor check (actor_kind in ('api_key', 'person', 'system')) not valid;
