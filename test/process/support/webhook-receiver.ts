/** A webhook receiver that records every request, its connection, its response, and how many were open at the same time. */
import type { Socket } from 'node:net';
import { openReceiver, type Received } from '../../support/receiver.ts';

/** One request. It is open until it is answered, or until its sender closes the connection. */
export interface Arrival extends Received {
  readonly endpoint: string;
  /** The header `webhook-id`. */
  readonly id: string;
  readonly socket: Socket;
  /** The status it was answered with. */
  answered: number | 'open' | 'cut';
  endedAt: number | null;
}

interface PlannedResponse {
  readonly status: number;
  readonly afterMs: number;
}

/** How an endpoint answers the nth arrival of an event; undefined: never. */
export type ResponsePolicy = (id: string, nth: number) => PlannedResponse | undefined;

export interface Inbox {
  readonly arrivals: readonly Arrival[];
  urlOf(name: string): string;
  /** Replaces how an endpoint answers, for its open requests as well. */
  answer(name: string, policy: ResponsePolicy): void;
  of(name: string): readonly Arrival[];
  open(): readonly Arrival[];
  /** When a connection was closed; undefined while it is not. */
  closedAt(socket: Socket): number | undefined;
  /** The largest number of requests that were open at an endpoint at the same time. */
  peak(name: string): number;
  close(): Promise<void>;
}

export const acceptImmediately: ResponsePolicy = () => ({ status: 204, afterMs: 0 });

export async function openInbox(policies: Readonly<Record<string, ResponsePolicy>>): Promise<Inbox> {
  const currentPolicies = new Map(Object.entries(policies));
  const arrivals: Arrival[] = [];
  const seen = new Map<string, number>();
  const open = new Map<Arrival, () => void>();
  const opens = new Map<string, number>();
  const peaks = new Map<string, number>();
  const closed = new Map<Socket, number | undefined>();

  const receiver = await openReceiver((received, response) => {
    const { socket } = response;
    if (socket === null) return;
    if (!closed.has(socket)) {
      closed.set(socket, undefined);
      socket.once('close', () => closed.set(socket, performance.now()));
    }
    const id = String(received.headers['webhook-id']);
    const endpoint = received.path.slice(1);
    const nth = (seen.get(`${endpoint} ${id}`) ?? 0) + 1;
    seen.set(`${endpoint} ${id}`, nth);
    const arrival: Arrival = { ...received, endpoint, id, socket, answered: 'open', endedAt: null };
    arrivals.push(arrival);
    count(endpoint, 1);

    let timer: NodeJS.Timeout | undefined;
    const end = (answered: Arrival['answered']): void => {
      if (!open.delete(arrival)) return;
      clearTimeout(timer);
      count(endpoint, -1);
      arrival.answered = answered;
      arrival.endedAt = performance.now();
    };
    const plan = (): void => {
      const planned = currentPolicies.get(endpoint)?.(id, nth);
      if (planned === undefined) return;
      const reply = (): void => {
        // Before the response is sent: the sender may use the free slot as soon as it arrives.
        end(planned.status);
        response.writeHead(planned.status).end();
      };
      if (planned.afterMs === 0) reply();
      else timer = setTimeout(reply, planned.afterMs);
    };
    open.set(arrival, plan);
    response.once('close', () => end('cut'));
    plan();
  });

  function count(endpoint: string, by: 1 | -1): void {
    const now = (opens.get(endpoint) ?? 0) + by;
    opens.set(endpoint, now);
    peaks.set(endpoint, Math.max(peaks.get(endpoint) ?? 0, now));
  }

  return {
    arrivals,
    urlOf: (name) => `http://127.0.0.1:${receiver.port}/${name}`,
    answer: (name, next) => {
      currentPolicies.set(name, next);
      for (const [{ endpoint }, plan] of [...open]) if (endpoint === name) plan();
    },
    of: (name) => arrivals.filter(({ endpoint }) => endpoint === name),
    open: () => [...open.keys()],
    closedAt: (socket) => closed.get(socket),
    peak: (name) => peaks.get(name) ?? 0,
    close: () => receiver.close(),
  };
}

/** A number from 0 to 1 that depends on the event only, so that its response does not depend on when it arrives. */
export function chanceOf(id: string): number {
  let bits = 2_166_136_261;
  for (const character of id) bits = Math.imul(bits ^ character.charCodeAt(0), 16_777_619) >>> 0;
  return bits / 2 ** 32;
}
