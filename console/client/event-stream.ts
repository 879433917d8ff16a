/**
 * `connecting` until the server responds, then `open`. After a disconnect the browser reconnects: `connecting` again.
 * After an error response the browser gives up: `lost`, and a new connection is opened after some seconds.
 */
export type StreamState = 'connecting' | 'open' | 'lost';

export interface StreamListener {
  /** Something changed on the server. */
  readonly onChange: () => void;
  readonly onState: (state: StreamState) => void;
}

/** The messages between tabs. A new tab asks for the state; everything else is sent by the tab with the connection. */
type Message = 'ask' | 'change' | StreamState;

const reopenMs = 5_000;

/**
 * Follows an event stream until the returned function is called. All tabs of the browser share one connection: the tab with
 * the lock has it, and the next one takes over when that tab is closed. A browser has only six HTTP/1.1 connections per
 * server, so six visible tabs with a connection each would leave none for requests.
 */
export function followStream(url: string, listener: StreamListener): () => void {
  // Outside of https and localhost, browsers have no locks. Every tab then has its own connection.
  if (navigator.locks === undefined) return connect(url, listener);
  const channel = new BroadcastChannel(url);
  const send = (message: Message) => channel.postMessage(message);
  const end = new AbortController();
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data === 'change') listener.onChange();
    else if (data !== 'ask') listener.onState(data);
  };
  const lead = () =>
    new Promise<void>((release) => {
      // The lock may be granted just as the tab stops.
      if (end.signal.aborted) return release();
      let state: StreamState = 'connecting';
      channel.onmessage = ({ data }: MessageEvent<Message>) => {
        if (data === 'ask') send(state);
      };
      const disconnect = connect(url, {
        onChange: () => {
          listener.onChange();
          send('change');
        },
        onState: (next) => {
          state = next;
          listener.onState(next);
          send(next);
        },
      });
      end.signal.addEventListener('abort', () => {
        disconnect();
        release();
      });
    });
  send('ask');
  // Rejects only if the tab stops waiting for the lock.
  navigator.locks.request(url, { signal: end.signal }, lead).catch(() => undefined);
  return () => {
    end.abort();
    channel.close();
  };
}

function connect(url: string, { onChange, onState }: StreamListener): () => void {
  let source: EventSource;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const open = () => {
    source = new EventSource(url);
    source.onopen = () => onState('open');
    source.onerror = () => {
      if (source.readyState !== EventSource.CLOSED) return onState('connecting');
      onState('lost');
      timer = setTimeout(open, reopenMs);
    };
    for (const type of ['event', 'replay', 'activity']) source.addEventListener(type, onChange);
  };
  onState('connecting');
  open();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}
