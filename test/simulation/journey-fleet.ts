/** The server processes of a journey, and their deaths: one on the embedded database, two on PostgreSQL. */
import type { ServerProcess } from '../support/processes.ts';

type Start = () => Promise<ServerProcess>;

/**
 * A node is up, or it was killed and is starting again. Who asks for a node while none is up waits for the first one that
 * comes up.
 */
export class Fleet {
  readonly #start: Start;
  readonly #nodes: (ServerProcess | undefined)[];
  #waiting: (() => void)[] = [];
  #starts: Promise<unknown> = Promise.resolve();
  #failure: unknown;
  #kills = 0;

  constructor(count: number, start: Start) {
    this.#start = start;
    this.#nodes = Array.from({ length: count }, () => undefined);
  }

  get kills(): number {
    return this.#kills;
  }

  /** The first node makes the database, the others join it. */
  async open(): Promise<void> {
    for (let i = 0; i < this.#nodes.length; i += 1) this.#nodes[i] = await this.#ready();
    this.#tell();
  }

  /** Any node that is up; `chance` from 0 to 1 says which. */
  async node(chance: number): Promise<ServerProcess> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      const up = this.#nodes.filter((node) => node !== undefined);
      const node = up[Math.floor(chance * up.length)];
      if (node) return node;
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
  }

  /** kill -9, and a new start on the same data. A node that is down already dies no second time. */
  async kill(node: ServerProcess): Promise<void> {
    const i = this.#nodes.indexOf(node);
    if (i < 0) return;
    this.#nodes[i] = undefined;
    this.#kills += 1;
    await node.kill();
    const started = this.#ready().then(
      (again) => {
        this.#nodes[i] = again;
      },
      (error: unknown) => {
        this.#failure = error;
      },
    );
    this.#starts = Promise.all([this.#starts, started]).then(() => this.#tell());
    await started;
  }

  /** SIGTERM to all that are up, once all are; each must end cleanly. */
  async close(): Promise<void> {
    await this.#starts;
    const nodes = this.#nodes.splice(0).filter((node) => node !== undefined);
    this.#nodes.push(...nodes.map(() => undefined));
    for (const node of nodes) {
      const code = await node.stop();
      if (code !== 0) throw new Error(`A server ended with ${code}:\n${node.logs()}`);
    }
  }

  /** For the end of a test that failed on its way. */
  async abandon(): Promise<void> {
    await this.#starts;
    await Promise.all(this.#nodes.map((node) => node?.kill()));
  }

  /** Listening, and able to serve. */
  async #ready(): Promise<ServerProcess> {
    const node = await this.#startAgain();
    for (let attempt = 0; attempt < READY_ATTEMPTS_MAX; attempt += 1) {
      const answer = await fetch(`${node.url}/readyz`).catch(() => undefined);
      if (answer?.status === 200) return node;
      await pause(READY_PAUSE_MS);
    }
    throw new Error(`A server listens and is not ready:\n${node.logs()}`);
  }

  /** A start that a cut of the database meets ends with one sentence, and is begun anew, as whoever looks after a service does. */
  async #startAgain(): Promise<ServerProcess> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#start();
      } catch (error) {
        const wasCut = error instanceof Error && CUT.test(error.message);
        if (!wasCut || attempt === STARTS_MAX) throw error;
      }
    }
  }

  #tell(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

const CUT = /Sandbank did not start\. The database cannot be used: terminating connection/;
const STARTS_MAX = 3;
const READY_ATTEMPTS_MAX = 600;
const READY_PAUSE_MS = 50;

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
