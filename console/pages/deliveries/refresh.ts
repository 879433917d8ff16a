import { useEffect, useRef } from 'react';

/** Asks again while something is still under way; what has come to rest is left alone. */
export function useRefresh(refresh: () => void, isOn: boolean, everyMs = 4_000): void {
  const latest = useRef(refresh);
  latest.current = refresh;
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(() => latest.current(), everyMs);
    return () => clearInterval(timer);
  }, [isOn, everyMs]);
}
