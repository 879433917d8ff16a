import type { Socket } from 'node:net';
import { setTimeout as passed } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

const drainMsMax = 10_000;
const sweepMs = 50;

/**
 * Tracks the connections of a server from the start, so that shutdown can close them in order. In-flight requests are answered,
 * up to a time limit. Node closes connections that are idle when the shutdown begins, but misses two kinds: a connection whose
 * last response started before and ended after that, and a connection that never sent a byte, as browsers and connection pools
 * open in advance. Both would delay the shutdown until the time limit.
 */
export class Drain {
  readonly #app: FastifyInstance;
  readonly #open = new Set<Socket>();

  constructor(app: FastifyInstance) {
    this.#app = app;
    app.server.on('connection', (socket: Socket) => {
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
    });
  }

  /**
   * Keeps serving until the load balancer, which polls /readyz every few seconds, stops sending requests to this node. A refused
   * or closed connection would be a failed request.
   */
  wait(seconds: number): Promise<void> {
    return seconds === 0 ? Promise.resolve() : passed(seconds * 1_000);
  }

  async close(): Promise<void> {
    const { server } = this.#app;
    const timeout = setTimeout(() => server.closeAllConnections(), drainMsMax);
    let silent: ReadonlySet<Socket> = new Set();
    const sweep = setInterval(() => {
      server.closeIdleConnections();
      // A socket must be silent at two checks: bytes of a request may have arrived that were not read yet.
      for (const socket of silent) if (socket.bytesRead === 0) socket.destroy();
      silent = new Set([...this.#open].filter(({ bytesRead }) => bytesRead === 0));
    }, sweepMs);
    await this.#app.close();
    clearInterval(sweep);
    clearTimeout(timeout);
  }
}
