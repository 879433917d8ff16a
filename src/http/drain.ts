import type { Socket } from 'node:net';
import { setTimeout as passed } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

const drainMsMax = 10_000;
const sweepMs = 50;

/**
 * The connections of a server, known from the start so that a close ends them in order. Requests under way are answered, up to a
 * bound. Node closes connections that are idle when the close begins, and forgets two kinds: one whose last answer was begun
 * before and sent after, and one that has never said a word, as browsers and connection pools open them for later. Both would
 * hold up the end for as long as the bound is.
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
   * Goes on as before while a balancer, which asks every few seconds whether this node is ready, finds out that it will stop: a
   * connection that is refused or cut is a request that failed.
   */
  wait(seconds: number): Promise<void> {
    return seconds === 0 ? Promise.resolve() : passed(seconds * 1_000);
  }

  async close(): Promise<void> {
    const { server } = this.#app;
    const cut = setTimeout(() => server.closeAllConnections(), drainMsMax);
    let silent: ReadonlySet<Socket> = new Set();
    const sweep = setInterval(() => {
      server.closeIdleConnections();
      // Twice, so that a request which has arrived and was not read yet is not taken for silence.
      for (const socket of silent) if (socket.bytesRead === 0) socket.destroy();
      silent = new Set([...this.#open].filter(({ bytesRead }) => bytesRead === 0));
    }, sweepMs);
    await this.#app.close();
    clearInterval(sweep);
    clearTimeout(cut);
  }
}
