import { instantToText } from '../kernel/list.ts';
import type { Effect } from '../resources/clocks/machine.ts';
import type { MoveOfRequest } from '../resources/clocks/store.ts';
import type { AttemptOfRequest } from '../resources/webhooks/delivery-store.ts';

/** The effect of an advance for a move from the history. */
export function effectOfMove({
  at,
  resource,
  resourceId,
  action,
  fromStatus,
  toStatus,
  eventType,
}: MoveOfRequest): Effect {
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

/** The effect of an advance for a delivery attempt. */
export function effectOfAttempt({ at, deliveryId, status, eventType }: AttemptOfRequest): Effect {
  return {
    at: instantToText(at),
    type: 'delivery',
    id: deliveryId,
    action: 'attempt',
    to: status,
    event: eventType,
  };
}
