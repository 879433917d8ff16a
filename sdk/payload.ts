import type { Event } from './generated/shapes.ts';

/** The fields of an API event, from a list or from the stream, that a webhook payload has. */
export type ShownEvent = Pick<
  Event,
  'id' | 'originRequestId' | 'type' | 'apiVersion' | 'timestamp' | 'sequence' | 'data'
>;

/**
 * The webhook payload of this event as the server writes it: the fields in the same order, and the `requestId` of the request
 * that caused the event. For programs that forward events from the stream or from a list.
 */
export function webhookPayload(event: ShownEvent): string {
  const { id, originRequestId, type, apiVersion, timestamp, sequence, data } = event;
  return JSON.stringify({
    object: 'event',
    id,
    sandbox: true,
    requestId: originRequestId,
    status: 'ok',
    type,
    apiVersion,
    timestamp,
    sequence,
    data,
  });
}
