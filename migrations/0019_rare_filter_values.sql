-- PostgreSQL plans a page for any value of its filter. Where all rows had the same value, as with refunds that have all succeeded, it concluded that
-- any value is as frequent, and searched for failed refunds by reading all refunds, newest first. It now assumes that a value is rare: that there
-- are 200 different states, types, days and applications, and one id or reference for every twenty rows.
alter table payments alter column status set (n_distinct = 200), alter column customer_id set (n_distinct = -0.05),
  alter column reference set (n_distinct = -0.05);
alter table refunds alter column status set (n_distinct = 200), alter column payment_id set (n_distinct = -0.05);
alter table disputes alter column status set (n_distinct = 200), alter column payment_id set (n_distinct = -0.05);
alter table transfers alter column status set (n_distinct = 200), alter column customer_id set (n_distinct = -0.05),
  alter column reference set (n_distinct = -0.05);
alter table customers alter column status set (n_distinct = 200), alter column reference set (n_distinct = -0.05);
alter table events alter column "type" set (n_distinct = 200), alter column resource_id set (n_distinct = -0.05);
alter table deliveries alter column app_id set (n_distinct = 200), alter column status set (n_distinct = 200),
  alter column webhook_id set (n_distinct = -0.05), alter column event_id set (n_distinct = -0.05);
alter table ledger_entries alter column payment_id set (n_distinct = -0.05), alter column transfer_id set (n_distinct = -0.05);
alter table provider_events alter column payment_id set (n_distinct = -0.05), alter column transfer_id set (n_distinct = -0.05);
alter table settlement_lines alter column settled_on set (n_distinct = 200);

-- The assumption takes effect with the next statistics. An empty table gets none: it would be planned as one that stays empty.
do $$
declare
  name text;
begin
  foreach name in array array['payments', 'refunds', 'disputes', 'transfers', 'customers', 'events', 'deliveries', 'ledger_entries',
    'provider_events', 'settlement_lines']
  loop
    if pg_relation_size(name::regclass) > 0 then execute format('analyze %I', name); end if;
  end loop;
end
$$;
