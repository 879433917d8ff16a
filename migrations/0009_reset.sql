-- Resetting an organization: all of its records go, in one transaction, while other nodes go on.
--
-- Whoever writes rows of an organization holds it, together with all others who do, until its transaction ends; a reset takes
-- it, alone. So a batch sees all records or none, and a reset deletes all that was committed before it. The locks are advisory:
-- a lock on the row of the organization would be a write of its own in every batch.
--
-- A node of the version before holds nothing. It can go on beside this one, but an organization that it writes to should not be
-- reset meanwhile.

create function hold_organizations(org_ids text[]) returns boolean language plpgsql as $$
declare
  org text;
begin
  foreach org in array org_ids loop
    -- The common case, apart from the other because a block with a handler is a subtransaction.
    if not pg_try_advisory_xact_lock_shared(hashtextextended(org, 0)) then
      begin
        perform pg_advisory_xact_lock_shared(hashtextextended(org, 0));
      exception when lock_not_available then
        raise exception '% is being reset', org using errcode = 'lock_not_available', constraint = 'organization_held';
      end;
    end if;
  end loop;
  return true;
end
$$;

create function take_organization(org_id text) returns boolean language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended(org_id, 0));
  return true;
exception when lock_not_available then
  raise exception '% is being written to', org_id using errcode = 'lock_not_available', constraint = 'organization_held';
end
$$;

-- What was written once stays as it is, but for the reset of its own organization, which says so in its transaction. It deletes
-- rows, and what it keeps of the history (that of endpoints) no longer names events. Conditions of triggers, not functions: a
-- reset of 200 payments deletes thousands of rows, and calling a function for each was most of its time.
create or replace trigger events_append_only before update on events for each row execute function refuse_change();
create trigger events_no_delete before delete on events for each row
  when (current_setting('sandbank.reset_of', true) is distinct from old.org_id) execute function refuse_change();
create or replace trigger state_history_append_only before update on state_history for each row
  when (current_setting('sandbank.reset_of', true) is distinct from old.org_id
    or to_jsonb(new) is distinct from to_jsonb(old) || '{"event_id": null}')
  execute function refuse_change();
create trigger state_history_no_delete before delete on state_history for each row
  when (current_setting('sandbank.reset_of', true) is distinct from old.org_id) execute function refuse_change();
create or replace trigger ledger_entries_append_only before update on ledger_entries for each row execute function refuse_change();
create trigger ledger_entries_no_delete before delete on ledger_entries for each row
  when (current_setting('sandbank.reset_of', true) is distinct from old.org_id) execute function refuse_change();
create or replace trigger provider_events_append_only before update on provider_events for each row execute function refuse_change();
create trigger provider_events_no_delete before delete on provider_events for each row
  when (current_setting('sandbank.reset_of', true) is distinct from old.org_id) execute function refuse_change();
create or replace trigger settlement_lines_append_only before update on settlement_lines for each row execute function refuse_change();
create trigger settlement_lines_no_delete before delete on settlement_lines for each row
  when (current_setting('sandbank.reset_of', true) is distinct from old.org_id) execute function refuse_change();
