-- An inbox is an endpoint that Sandbank hosts itself: the column has its behavior, and is null for other endpoints. Custom headers may be
-- credentials: their names are stored in plain text, their values encrypted like a secret. A deleted endpoint is retained for its delivery
-- history, without its secrets.
--
-- A node of the release before sends to the URL of an inbox like to any other URL, sends no custom headers, and may still create deliveries
-- for a deleted endpoint; they are never sent, and a node of this release ends them.
alter table webhooks
  add column inbox jsonb,
  add column headers jsonb,
  drop constraint webhooks_status,
  drop constraint webhooks_secrets;
alter table webhooks add constraint webhooks_status check (status in ('enabled', 'disabled', 'deleted')) not valid;
alter table webhooks add constraint webhooks_secrets check (
  jsonb_typeof(secrets) = 'array'
  and jsonb_array_length(secrets) between case when status = 'deleted' then 0 else 1 end and 2) not valid;
alter table webhooks add constraint webhooks_inbox check (
  inbox is null
  or inbox = '{"type": "timeout"}'
  or (inbox ->> 'type' = 'respond' and (inbox ->> 'responseStatus')::integer between 200 and 599
    and (inbox ->> 'delayMs')::integer between 0 and 9000) is true) not valid;
alter table webhooks add constraint webhooks_headers check (
  headers is null or (jsonb_typeof(headers -> 'names') = 'array') is true) not valid;
