-- outside a transaction
-- A key lists the deliveries of its application. Without these, an application without deliveries read those of all others: 62 ms for 100,000.
create index concurrently if not exists deliveries_by_application on deliveries (org_id, app_id, id);
create index concurrently if not exists deliveries_by_application_status on deliveries (org_id, app_id, status, id);
