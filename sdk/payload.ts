import type { Event } from './generated/shapes.ts';

/** What is needed of an event as the API shows it, in a list or in the stream. */
export type ShownEvent = Pick<
  Event,
  'id' | 'originRequestId' | 'type' | 'apiVersion' | 'timestamp' | 'sequence' | 'data'
>;

/**
 * The text that webhooks get of this event, as the server writes it: the fields in its order, and `requestId` is that of the
 * request that brought it about. For whoever forwards events from the stream or from a list.
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
