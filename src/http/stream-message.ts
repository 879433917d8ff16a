import { type EventRow, presentEvent } from '../kernel/event.ts';
import type { EventPosition, FoundEvent, PositionedEvent } from '../resources/events/store.ts';

/** An event to send. Its text is built when the first stream needs it. */
export interface StreamMessage {
  readonly event: EventRow;
  /** Undefined for replays, which all streams receive. */
  readonly position: EventPosition | undefined;
  readonly text: () => string;
}

/** A window that is replayed to several endpoints returns an event once per endpoint, in consecutive rows. */
export function replayMessages(events: readonly FoundEvent[]): readonly StreamMessage[] {
  return events
    .filter(({ id }, i) => id !== events[i - 1]?.id)
    .map(({ foundBy: _foundBy, ...event }) => createMessage(event, undefined, 'event: replay\n'));
}

export function messageOf({ position, ...event }: PositionedEvent): StreamMessage {
  return createMessage(event, position, `id: ${event.id}\nevent: event\n`);
}

function createMessage(event: EventRow, position: EventPosition | undefined, start: string): StreamMessage {
  let text: string | undefined;
  return {
    event,
    position,
    text: () => {
      text ??= `${start}data: ${JSON.stringify(presentEvent(event))}\n\n`;
      return text;
    },
  };
}
