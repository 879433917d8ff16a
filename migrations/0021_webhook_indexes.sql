-- outside a transaction
-- A request to an inbox names the endpoint and not its organization.
create index concurrently if not exists webhooks_inboxes on webhooks (id) where inbox is not null;
-- Every event reads the endpoints of its application. Deleted ones must not make it slower.
create index concurrently if not exists webhooks_not_deleted on webhooks (org_id, app_id) where status <> 'deleted';
