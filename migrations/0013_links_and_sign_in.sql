-- Links know their creator, sign-in has budgets, seeded accounts are marked, and TOTP codes are single-use.
--
-- Nodes of the release before run beside this one: new columns are nullable, and none of their rows is refused.

-- The person who created the invitation, or 'operator'. The invitation is valid while the creator's membership has this version:
-- every change of role and every removal counts it up. Null (created by a node of the release before) is not accepted.
alter table invitations add column creator_id text collate "C", add column creator_version integer;

-- Open invitations of before: the creator is in the history. Those whose creator could not create them now get no version.
update invitations i set creator_id = h.actor_id, creator_version = m.version
  from state_history h left join members m on m.org_id = h.org_id and m.person_id = h.actor_id and m.status = 'active'
    and m.role in ('owner', 'admin')
  where i.status = 'pending' and h.org_id = i.org_id and h.resource_id = i.id and h.version = 1
    and (m.role is null or m.role = 'owner' or i.role <> 'owner');

-- Links with which a person chooses a new password. Better Auth's own tokens know neither creator nor memberships.
create table password_reset_links (
  -- SHA-256 of the token.
  hash bytea primary key,
  person_id text collate "C" not null references persons (id) on delete cascade,
  -- The person who created it; null is the operator.
  creator_id text collate "C",
  -- Digest of the password and, for a link of a person, of the memberships it depends on. Any change ends the link.
  state text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  constraint password_reset_links_hash check (octet_length(hash) = 32)
);
create index password_reset_links_by_person on password_reset_links (person_id, created_at);
create index password_reset_links_by_end on password_reset_links (expires_at);

-- Set while a sign-up with an invitation has not joined yet: the account is removed when it never does.
alter table persons add column provisional_until timestamptz;

-- When a seed created this account or took it over; null for people who signed up themselves.
alter table persons add column seeded_at timestamptz;
update persons p set seeded_at = now() where exists (
  select from members m join state_history h on h.org_id = m.org_id and h.resource_id = m.id
  where m.person_id = p.id and h.actor_kind = 'system' and h.actor_id = 'seed');

-- The time step of the last TOTP code that was accepted (RFC 6238, section 5.2).
alter table person_two_factors add column last_counter bigint;

-- Budgets for failed sign-ins, as a generic cell rate algorithm: the time at which the budget is full again. The subject is a hash.
create table sign_in_budgets (
  subject text collate "C" primary key,
  full_at timestamptz not null
);
create index sign_in_budgets_by_end on sign_in_budgets (full_at);
