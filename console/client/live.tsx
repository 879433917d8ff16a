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
import { PausedContext } from './paused.ts';
import { refetchOrganization } from './queries.ts';
import { apiUrl } from './request.ts';
import { useScope } from './scope.ts';
import { Throttle } from './throttle.ts';

/**
 * `connecting` until the server responds, then `open`. After a disconnect the browser reconnects: `connecting` again.
 * After an error response the browser gives up: `lost`, and a new connection is opened after some seconds.
 */
export type LiveState = 'connecting' | 'open' | 'lost';

export interface Live {
  readonly state: LiveState;
  /** Paused pages change only when the person does something or refreshes. */
  readonly isPaused: boolean;
  readonly setPaused: (isPaused: boolean) => void;
  readonly refresh: () => void;
  readonly isRefreshing: boolean;
}

const reopenMs = 5_000;
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

function useEventStream(onChange: () => void): LiveState {
  const scope = useScope();
  const isVisible = useVisible();
  const [state, setState] = useState<LiveState>('connecting');
  const [connection, setConnection] = useState(0);
  const hadConnection = useRef(false);
  useEffect(() => {
    // A browser has only six HTTP/1.1 connections per server: hidden tabs must not hold one.
    if (scope.appId === null || !isVisible) return;
    const source = new EventSource(apiUrl('app/event_stream', scope));
    let timer: ReturnType<typeof setTimeout> | undefined;
    source.onopen = () => {
      setState('open');
      // Something may have happened since the previous connection.
      if (hadConnection.current || connection > 0) onChange();
      hadConnection.current = true;
    };
    source.onerror = () => {
      if (source.readyState !== EventSource.CLOSED) return setState('connecting');
      setState('lost');
      timer = setTimeout(() => setConnection((count) => count + 1), reopenMs);
    };
    for (const type of ['event', 'replay', 'activity']) source.addEventListener(type, onChange);
    return () => {
      clearTimeout(timer);
      source.close();
    };
  }, [scope, isVisible, connection, onChange]);
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
