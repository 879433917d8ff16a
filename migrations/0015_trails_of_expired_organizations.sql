-- The audit trail of a temporary organization (one with an expiry) is deleted a week after the organization. Otherwise a server would
-- grow with every run of a test suite that creates an organization for each test. Other trails are never deleted.
--
-- A node of the release before writes no `audit_until`, so the trails of organizations that it deletes are retained.

-- Until when the audit trail is retained; null means permanently.
alter table deleted_organizations add column audit_until timestamptz;

-- The database refuses to delete a trail before that time, and never lets the trail of a permanent organization be deleted.
create function refuse_early_deletion() returns trigger language plpgsql as $$
begin
  if exists (select from deleted_organizations d where d.org_id = old.org_id and d.audit_until <= now()) then
    return old;
  end if;
  raise exception '% is append-only: delete is refused', tg_table_name using errcode = 'restrict_violation';
end
$$;
create or replace trigger audit_append_only before update on audit for each row execute function refuse_change();
create trigger audit_no_delete before delete on audit for each row execute function refuse_early_deletion();
create or replace trigger audit_seals_append_only before update on audit_seals for each row execute function refuse_change();
create trigger audit_seals_no_delete before delete on audit_seals for each row execute function refuse_early_deletion();
