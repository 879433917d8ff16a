import { useQueryClient } from '@tanstack/react-query';
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { followStream, type StreamState } from './event-stream.ts';
import { PausedContext } from './paused.ts';
import { refetchOrganization } from './queries.ts';
import { apiUrl } from './request.ts';
import { useScope } from './scope.ts';
import { Throttle } from './throttle.ts';

export interface Live {
  readonly state: StreamState;
  /** Paused pages change only when the person does something or refreshes. */
  readonly isPaused: boolean;
  readonly setPaused: (isPaused: boolean) => void;
  readonly refresh: () => void;
  readonly isRefreshing: boolean;
}

// Without a stream, pages are read again this often.
const pollMs = 10_000;

const LiveContext = createContext<Live>({
  state: 'connecting',
  isPaused: false,
  setPaused: () => undefined,
  refresh: () => undefined,
  isRefreshing: false,
});

export function useLive(): Live {
  return useContext(LiveContext);
}

/**
 * Keeps every page of an organization up to date. The stream only signals that something changed: pages always show what
 * the API returns, so filters, order and cursors hold, and nothing is shown twice.
 */
export function LiveProvider({ children }: { readonly children: ReactNode }) {
  const scope = useScope();
  const client = useQueryClient();
  const [isPaused, setPaused] = useState(false);
  const [isRefreshing, setRefreshing] = useState(false);
  const isHeld = useRef(isPaused);
  isHeld.current = isPaused;
  const refetch = useCallback(() => refetchOrganization(client, scope), [client, scope]);
  const throttle = useMemo(() => new Throttle(refetch), [refetch]);
  useEffect(() => () => throttle.stop(), [throttle]);
  const onChange = useCallback(() => {
    if (!isHeld.current) throttle.call();
  }, [throttle]);
  const state = useEventStream(onChange);
  useEffect(() => {
    if (state !== 'lost') return;
    const timer = setInterval(onChange, pollMs);
    return () => clearInterval(timer);
  }, [state, onChange]);
  const live = useMemo<Live>(
    () => ({
      state,
      isPaused,
      isRefreshing,
      setPaused: (next) => {
        setPaused(next);
        if (!next) throttle.call();
      },
      refresh: () => {
        setRefreshing(true);
        void refetch().finally(() => setRefreshing(false));
      },
    }),
    [state, isPaused, isRefreshing, throttle, refetch],
  );
  return (
    <LiveContext value={live}>
      <PausedContext value={isPaused}>{children}</PausedContext>
    </LiveContext>
  );
}

function useEventStream(onChange: () => void): StreamState {
  const scope = useScope();
  const isVisible = useVisible();
  const [state, setState] = useState<StreamState>('connecting');
  // Whether the stream was open or lost before: changes between then and the next `open` were not received.
  const hasMissed = useRef(false);
  useEffect(() => {
    // A hidden tab needs no connection: it is read again when it is shown.
    if (scope.appId === null || !isVisible) return;
    let previous: StreamState | undefined;
    return followStream(apiUrl('app/event_stream', scope), {
      onChange,
      onState: (next) => {
        if (next === previous) return;
        previous = next;
        setState(next);
        if (next === 'open' && hasMissed.current) onChange();
        if (next !== 'connecting') hasMissed.current = true;
      },
    });
  }, [scope, isVisible, onChange]);
  return state;
}

function useVisible(): boolean {
  return useSyncExternalStore(
    (onVisibility) => {
      document.addEventListener('visibilitychange', onVisibility);
      return () => document.removeEventListener('visibilitychange', onVisibility);
    },
    () => document.visibilityState === 'visible',
  );
}
