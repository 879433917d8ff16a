import { once } from 'node:events';
import http from 'node:http';
import { vi } from 'vitest';

/** A server-sent event. */
interface Sent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: {
    readonly id: string;
    readonly type: string;
    readonly resourceId: string;
    readonly applicationId: string;
  };
}

export interface Listener {
  readonly response: http.IncomingMessage;
  readonly text: () => string;
  readonly sent: (event?: 'event' | 'replay' | 'activity') => Sent[];
  readonly end: Promise<unknown>;
  close(): void;
}

/** Opens a stream over a real socket and reads it until it is closed. */
export async function listenTo(url: string, headers: Record<string, string>): Promise<Listener> {
  const request = http.get(url, { headers, agent: false });
  request.on('error', () => undefined);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  let text = '';
  response.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  response.on('error', () => undefined);
  return {
    response,
    text: () => text,
    sent: (which) => sentIn(text).filter(({ event }) => event === (which ?? event) && event !== 'ping'),
    end: new Promise((resolve) => response.once('close', resolve)),
    close: () => request.destroy(),
  };
}

function sentIn(text: string): Sent[] {
  // An event is complete only with its empty line.
  const blocks = text.split('\n\n').slice(0, -1);
  return blocks.flatMap((block) => {
    const fields = new Map(
      block.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]),
    );
    const data = fields.get('data');
    if (data === undefined) return [];
    return {
      id: fields.get('id'),
      event: fields.get('event') ?? 'message',
      data: JSON.parse(data) as Sent['data'],
    };
  });
}

export const soon = (check: () => void | Promise<void>) => vi.waitFor(check, { interval: 10 });
