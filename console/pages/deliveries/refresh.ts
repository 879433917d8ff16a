import { useEffect, useRef } from 'react';
import { usePaused } from '../../client/paused.ts';

/** Polls while `isOn` and the page is not paused, for records that are still in progress. */
export function useRefresh(refresh: () => void, isOn: boolean, everyMs = 4_000): void {
  const latest = useRef(refresh);
  latest.current = refresh;
  const isPolling = !usePaused() && isOn;
  useEffect(() => {
    if (!isPolling) return;
    const timer = setInterval(() => latest.current(), everyMs);
    return () => clearInterval(timer);
  }, [isPolling, everyMs]);
}
