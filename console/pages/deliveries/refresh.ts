import { useEffect, useRef } from 'react';

/** Polls while `isOn`, for records that are still in progress. */
export function useRefresh(refresh: () => void, isOn: boolean, everyMs = 4_000): void {
  const latest = useRef(refresh);
  latest.current = refresh;
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(() => latest.current(), everyMs);
    return () => clearInterval(timer);
  }, [isOn, everyMs]);
}
