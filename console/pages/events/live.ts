import { useEffect, useRef, useState } from 'react';
import { address } from '../../client/request.ts';
import { useScope } from '../../client/scope.ts';
import type { EventRecord } from '../../client/shapes.ts';

/**
 * `connecting` until the server answers, then `open`. A cut makes it `connecting` again, and the browser tries by itself;
 * a refusal makes it `lost`, which the browser gives up on, so it is opened anew after a while.
 */
export type LiveState = 'connecting' | 'open' | 'lost';

const reopenMs = 15_000;

/** The live stream. It tells how the connection does and when it has come back, so that nothing is missed silently. */
export function useLive(onEvent: (event: EventRecord) => void, onReturn: () => void): LiveState {
  const scope = useScope();
  const [state, setState] = useState<LiveState>('connecting');
  const [round, setRound] = useState(0);
  const latest = useRef({ onEvent, onReturn });
  latest.current = { onEvent, onReturn };
  useEffect(() => {
    if (scope.appId === null) return;
    const source = new EventSource(address('app/event_stream', scope));
    let hadCut = round > 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    source.onopen = () => {
      setState('open');
      if (hadCut) latest.current.onReturn();
      hadCut = false;
    };
    source.onerror = () => {
      hadCut = true;
      if (source.readyState !== EventSource.CLOSED) return setState('connecting');
      setState('lost');
      timer = setTimeout(() => setRound((count) => count + 1), reopenMs);
    };
    source.addEventListener('event', (message) => {
      latest.current.onEvent(JSON.parse(message.data) as EventRecord);
    });
    return () => {
      clearTimeout(timer);
      source.close();
    };
  }, [scope, round]);
  return state;
}
