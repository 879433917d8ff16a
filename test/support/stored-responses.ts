/**
 * The stored responses of idempotency keys as a subquery, with their whole body. The server stores only the id of the event if the
 * response is the record of an event.
 */
export const storedResponses = `(select i.org_id, i.app_id, i.key, coalesce(i.event_status, i.status) as status,
  case when i.event_id is null then i.body
    else regexp_replace(e.data::text, '"sandbox":true', '"sandbox":true,"requestId":"' || e.request_id || '"') end as body
  from idempotency i left join events e on e.org_id = i.org_id and e.id = i.event_id) as stored`;
