-- Deleting organizations, and letting those that were created for a test expire.
--
-- A node of the release before knows neither: it creates organizations that do not expire, and may write to a deleted one for as
-- long as it remembers a key of it, half a second. A worker of this release removes such rows.

-- When the organization is deleted; null for never.
alter table organizations add column expires_at timestamptz;

-- Ids of organizations that were deleted: their rows are gone, except for the audit trail, which says who deleted them.
create table deleted_organizations (
  org_id text collate "C" not null,
  deleted_at timestamptz not null,
  primary key (org_id)
);
create index deleted_organizations_by_time on deleted_organizations (deleted_at);

-- As hold_organizations, for writers that must not bring rows back: a deletion takes the organization alone, so whoever gets it
-- afterwards sees the row above. The same error as for an organization that is being reset: the caller is asked to come again,
-- and then its key is unknown.
create function hold_live_organizations(org_ids text[]) returns boolean language plpgsql as $$
begin
  perform hold_organizations(org_ids);
  if exists (select from deleted_organizations d where d.org_id = any(org_ids)
      and d.org_id is distinct from current_setting('sandbank.deletion_of', true)) then
    raise exception 'the organization was deleted' using errcode = 'lock_not_available', constraint = 'organization_held';
  end if;
  return true;
end
$$;
