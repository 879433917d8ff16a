import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request that a receiver got. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** By `performance.now()`, when its last byte was there. */
  readonly at: number;
}

export type Reply = (received: Received, response: ServerResponse, count: number) => void;

export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly received: readonly Received[];
  /** How requests are answered from now on; 204 unless told. */
  answer(reply: Reply): void;
  /** Resolves when at least so many requests have come, or rejects after a while with what there was. */
  waitFor(count: number, msMax?: number): Promise<readonly Received[]>;
  close(): Promise<void>;
}

const waitMsMax = 240_000;

/** A real HTTP server, on a free port unless told, which keeps what it gets. */
export async function openReceiver(
  reply: Reply = (_received, response) => response.writeHead(204).end(),
  wantedPort = 0,
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
      for (const look of waiting) look();
    });
  });
  server.listen(wantedPort, '127.0.0.1');
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
          waiting.delete(look);
          reject(new Error(`${received.length} of ${count} requests came within ${msMax} ms`));
        }, msMax);
        const look = () => {
          if (received.length < count) return;
          clearTimeout(timer);
          waiting.delete(look);
          resolve(received);
        };
        waiting.add(look);
        look();
      }),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Answers with a status and nothing else. */
export const withStatus =
  (status: number, headers: Record<string, string> = {}): Reply =>
  (_received, response) => {
    response.writeHead(status, headers).end();
  };
