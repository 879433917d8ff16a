-- New deliveries notify the senders once per statement and endpoint. A trigger for each row took a third of the insert time, and
-- PostgreSQL merges equal notifications of one transaction anyway. The payload is unchanged: nodes of the previous version understand it.
create function announce_deliveries() returns trigger language plpgsql as $$
begin
  perform pg_notify('sandbank_work', concat_ws(' ', i.org_id, i.webhook_id)) from (
    select distinct d.org_id, d.webhook_id from inserted d) i;
  return null;
end
$$;
create or replace trigger deliveries_announced after insert on deliveries referencing new table as inserted for each statement
  when (current_setting('sandbank.announces', true) = 'on') execute function announce_deliveries();

-- A claim updates its row in place only if the page has room for a second version of each row; otherwise it also writes to every index. With
-- 70, two thirds of the claims were in place, with 50 nearly all. The table is not larger: with 70, the second versions needed further pages.
alter table deliveries set (fillfactor = 50);
