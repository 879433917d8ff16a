-- The response to a request that changed one record is that record, and the event of the change contains the same record. So the
-- stored response of such a request refers to the event instead of storing the record a second time.
--
-- A row that refers to an event has status 0, which means in progress. A node of the release before does not know the new columns and
-- answers a retry with 409 and `Retry-After`, until the retry reaches a node that knows them.
alter table idempotency
  add column event_id text collate "C",
  -- The HTTP status of the response.
  add column event_status integer;
