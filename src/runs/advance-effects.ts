import { instantToText } from '../kernel/list.ts';
import type { Happening } from '../resources/clocks/machine.ts';
import type { MoveOfRequest } from '../resources/clocks/store.ts';
import type { AttemptOfRequest } from '../resources/webhooks/delivery-store.ts';

/** What an advance tells of a move, read from the history. */
export function happeningOfMove({
  at,
  resource,
  resourceId,
  action,
  fromStatus,
  toStatus,
  eventType,
}: MoveOfRequest): Happening {
  return {
    at: instantToText(at),
    type: resource,
    id: resourceId,
    action,
    ...(fromStatus === null ? {} : { from: fromStatus }),
    to: toStatus,
    ...(eventType === null ? {} : { event: eventType }),
  };
}

/** And of an attempt to deliver an event. */
export function happeningOfAttempt({ at, deliveryId, status, eventType }: AttemptOfRequest): Happening {
  return {
    at: instantToText(at),
    type: 'delivery',
    id: deliveryId,
    action: 'attempt',
    to: status,
    event: eventType,
  };
}
