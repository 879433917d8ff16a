import { useEffect, useRef, useState } from 'react';
import { apiUrl } from '../../client/request.ts';
import { useScope } from '../../client/scope.ts';
import type { EventRecord } from '../../client/shapes.ts';

/**
 * `connecting` until the server responds, then `open`. After a disconnect the browser reconnects: `connecting` again.
 * After an error response the browser gives up: `lost`, and the hook opens a new connection after 15 seconds.
 */
export type LiveState = 'connecting' | 'open' | 'lost';

const reopenMs = 15_000;

/** The live event stream. Calls `onReconnect` after a gap, so that the caller can load the missed events. */
export function useEventStream(onEvent: (event: EventRecord) => void, onReconnect: () => void): LiveState {
  const scope = useScope();
  const [state, setState] = useState<LiveState>('connecting');
  const [connection, setConnection] = useState(0);
  const latest = useRef({ onEvent, onReturn: onReconnect });
  latest.current = { onEvent, onReturn: onReconnect };
  useEffect(() => {
    if (scope.appId === null) return;
    const source = new EventSource(apiUrl('app/event_stream', scope));
    let wasDisconnected = connection > 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    source.onopen = () => {
      setState('open');
      if (wasDisconnected) latest.current.onReturn();
      wasDisconnected = false;
    };
    source.onerror = () => {
      wasDisconnected = true;
      if (source.readyState !== EventSource.CLOSED) return setState('connecting');
      setState('lost');
      timer = setTimeout(() => setConnection((count) => count + 1), reopenMs);
    };
    source.addEventListener('event', (message) => {
      latest.current.onEvent(JSON.parse(message.data) as EventRecord);
    });
    return () => {
      clearTimeout(timer);
      source.close();
    };
  }, [scope, connection]);
  return state;
}
