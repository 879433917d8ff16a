import { useEffect, useRef } from 'react';
import { address } from './request.ts';
import { useScope } from './scope.ts';
import type { EventRecord } from './shapes.ts';

/** Calls back with every new event of the application while the component is shown. The browser reconnects by itself. */
export function useEventStream(onEvent: (event: EventRecord) => void, isEnabled = true): void {
  const scope = useScope();
  const latest = useRef(onEvent);
  latest.current = onEvent;
  useEffect(() => {
    if (!isEnabled || scope.appId === null) return;
    const source = new EventSource(address('app/event_stream', scope));
    source.addEventListener('event', (message) => {
      latest.current(JSON.parse(message.data) as EventRecord);
    });
    return () => source.close();
  }, [scope, isEnabled]);
}
