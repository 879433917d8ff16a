import type { EventFilter, EventType, SandbankEvent } from './generated/shapes.ts';

/** The event types that a filter selects: `payment.*` selects all types that start with `payment.`. */
export type EventTypeOf<Filter extends EventFilter> = Filter extends '*'
  ? EventType
  : Filter extends `${infer Resource}.*`
    ? Extract<EventType, `${Resource}.${string}`>
    : Extract<Filter, EventType>;

/** The events that a filter selects, with their `data`: `EventOf<'payment.settled'>` has a `Payment`. */
export type EventOf<
  Filter extends EventFilter,
  Event extends { type: EventType } = SandbankEvent,
> = '*' extends Filter
  ? Event
  : Event extends unknown
    ? [Event['type'] & EventTypeOf<Filter>] extends [never]
      ? never
      : Event & { type: EventTypeOf<Filter> }
    : never;
