-- Seals of the audit trail, and the indexes by which people search.
--
-- A node of the version before goes on writing audit rows beside this one; they are sealed by whichever node seals.

-- A seal names the rows that it covers, because they do not become visible in the order of their ids: an id is minted when a
-- request arrives, and the row is there when its batch is committed. What a seal names is never more than a thousand rows.
create table audit_seals (
  org_id text collate "C" not null,
  -- From 1, without gaps: the primary key lets one of several nodes make the next one.
  number bigint not null,
  -- In their order.
  audit_ids text[] collate "C" not null,
  first_id text collate "C" not null,
  last_id text collate "C" not null,
  -- The hash of the seal before; zeros for the first.
  previous bytea not null,
  hash bytea not null,
  sealed_at timestamptz not null,
  primary key (org_id, number),
  constraint audit_seals_number check (number >= 1),
  constraint audit_seals_ids check (cardinality(audit_ids) between 1 and 1000
    and audit_ids[1] = first_id and audit_ids[cardinality(audit_ids)] = last_id),
  constraint audit_seals_hashes check (octet_length(previous) = 32 and octet_length(hash) = 32)
);
-- Up to where the trail is sealed, and which seals may name the rows between two ids.
create index audit_seals_by_reach on audit_seals (org_id, last_id, first_id);
create trigger audit_seals_append_only before update or delete on audit_seals for each row execute function refuse_change();
create trigger audit_seals_no_truncate before truncate on audit_seals execute function refuse_change();

-- What a seal says of a row. Sealing and verifying both ask here. Every column is named, and the time is a count of
-- microseconds, so that neither the settings of a session nor a later column change what was sealed. An array as text quotes
-- its fields and tells an absent one from an empty one, so no two rows become the same text; fields with their lengths in
-- front would do as well, at 25 microseconds a row instead of 5.
create function audit_digest(a audit) returns bytea language sql stable parallel safe as $$
  select sha256(convert_to(array[a.org_id, a.id, (extract(epoch from a.at) * 1000000)::bigint::text, a.actor_kind, a.actor_id,
    a.app_id, a.action, a.resource, a.resource_id, a.request_id, a.ip, a.outcome, a.code]::text, 'UTF8'))
$$;

-- Found by people, who remember a reference, a name or an address, or how it begins. The operators of patterns compare bytes,
-- so that a beginning is a range, whatever the language of the database.
create index payments_by_reference on payments (org_id, reference text_pattern_ops, id) where reference is not null;
create index transfers_by_reference on transfers (org_id, reference text_pattern_ops, id) where reference is not null;
create index customers_by_reference on customers (org_id, reference text_pattern_ops, id) where reference is not null;
create index customers_by_email on customers (org_id, lower(email) text_pattern_ops, id) where email is not null;
create index customers_by_name on customers (org_id, lower(name) text_pattern_ops, id) where name is not null;
