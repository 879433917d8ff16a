-- The audit trail of an organization that was created to expire is deleted a week after the organization. Without that, a server on
-- which every test has an organization of its own would grow with every test run. All other trails stay for good.
--
-- A node of the release before writes no `audit_until`: trails of organizations that it deletes stay.

-- Until when the audit trail stays; null for good.
alter table deleted_organizations add column audit_until timestamptz;

-- The database itself refuses to delete a trail before its time, and that of an organization that was not to expire at any time.
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
