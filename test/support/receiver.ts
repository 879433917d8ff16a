import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request to the receiver. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The `performance.now()` of its last byte. */
  readonly at: number;
}

export type Reply = (received: Received, response: ServerResponse, count: number) => void;

export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly received: readonly Received[];
  /** Replaces the response to later requests. The default is 204. */
  answer(reply: Reply): void;
  /** Resolves when at least this many requests have arrived, or rejects after `msMax`. */
  waitFor(count: number, msMax?: number): Promise<readonly Received[]>;
  close(): Promise<void>;
}

const waitMsMax = 240_000;

/** A real HTTP server that records its requests; on a free port by default. */
export async function openReceiver(
  reply: Reply = (_received, response) => response.writeHead(204).end(),
  requestedPort = 0,
): Promise<Receiver> {
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  let answer = reply;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined);
    request.on('end', () => {
      const one: Received = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
        at: performance.now(),
      };
      received.push(one);
      answer(one, response, received.length);
      for (const check of waiting) check();
    });
  });
  server.listen(requestedPort, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    answer: (next) => {
      answer = next;
    },
    waitFor: (count, msMax = waitMsMax) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(check);
          reject(new Error(`${received.length} of ${count} requests arrived within ${msMax} ms`));
        }, msMax);
        const check = () => {
          if (received.length < count) return;
          clearTimeout(timer);
          waiting.delete(check);
          resolve(received);
        };
        waiting.add(check);
        check();
      }),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Responds with a status and an empty body. */
export const withStatus =
  (status: number, headers: Record<string, string> = {}): Reply =>
  (_received, response) => {
    response.writeHead(status, headers).end();
  };
