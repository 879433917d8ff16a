/**
 * The server processes of the chaos test, and a client that repeats each request until it knows the final response. Imports nothing of the
 * server.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ServerProcess } from '../../support/processes.ts';

type Start = () => Promise<ServerProcess>;

/** A node is up, or it was killed and is starting again. `node` waits while none is up. */
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

  /** The first node creates the schema, the others use it. */
  async open(): Promise<void> {
    for (let i = 0; i < this.#nodes.length; i += 1) this.#nodes[i] = await this.#ready();
    this.#wake();
  }

  /** A node that is up; `chance` from 0 to 1 selects it. */
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

  /** Sends SIGKILL and starts a new process on the same data. Does nothing when the node is already down. */
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
    this.#starts = Promise.all([this.#starts, started]).then(() => this.#wake());
    await started;
  }

  /** Waits for pending starts, then sends SIGTERM to every node. Each must exit with 0. */
  async close(): Promise<void> {
    await this.#starts;
    const nodes = this.#nodes.splice(0).filter((node) => node !== undefined);
    this.#nodes.push(...nodes.map(() => undefined));
    for (const node of nodes) {
      const code = await node.stop();
      if (code !== 0) throw new Error(`A server ended with ${code}:\n${node.logs()}`);
    }
  }

  /** Kills every node, after a failed test. */
  async abandon(): Promise<void> {
    await this.#starts;
    await Promise.all(this.#nodes.map((node) => node?.kill()));
  }

  /** Starts a node and waits until /readyz is 200. */
  async #ready(): Promise<ServerProcess> {
    const node = await this.#startAgain();
    for (let attempt = 0; attempt < READY_ATTEMPTS_MAX; attempt += 1) {
      const answer = await fetch(`${node.url}/readyz`).catch(() => undefined);
      if (answer?.status === 200) return node;
      await delay(READY_PAUSE_MS);
    }
    throw new Error(`A server is listening and not ready:\n${node.logs()}`);
  }

  /** A server whose database connection is cut during its start exits; a supervisor would start it again. */
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

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

const CUT = /Sandbank did not start\. The database cannot be used: terminating connection/;
const STARTS_MAX = 3;
const READY_ATTEMPTS_MAX = 600;
const READY_PAUSE_MS = 50;

export interface App {
  readonly name: string;
  readonly organization: string;
  readonly key: string;
}

export interface ClientRequest {
  readonly app: App;
  /** Without the common prefix: `payments/pay_.../advance`. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

// biome-ignore lint/suspicious/noExplicitAny: bodies are JSON of any shape; the audit checks their content.
export type Body = Readonly<Record<string, any>>;

/** A request and its final response. Times are of the wall clock. */
export interface CompletedRequest extends ClientRequest {
  readonly key: string;
  readonly status: number;
  readonly text: string;
  readonly response: Body;
  readonly sentAt: number;
  readonly answeredAt: number;
  readonly attempts: number;
}

const ANSWER_MS_MAX = 120_000;
const PAUSE_MS = 40;
/** Responses with these codes are not final: the request is sent again. */
const retriedCodes: readonly string[] = [
  'idempotency_in_progress',
  'clock_advancing',
  'service_unavailable',
  'rate_limited',
];

export interface Transport {
  readonly fleet: Fleet;
  readonly chance: () => number;
  /** Called before every attempt, with the node that gets it. */
  readonly onSend: (request: ClientRequest, node: ServerProcess) => void;
}

/** Sends the same request with the same Idempotency-Key to any node that is up until it gets a final response. */
export async function sendUntilFinal(
  request: ClientRequest,
  key: string,
  transport: Transport,
): Promise<CompletedRequest> {
  const sentAt = Date.now();
  for (let attempts = 1; Date.now() - sentAt < ANSWER_MS_MAX; attempts += 1) {
    const node = await transport.fleet.node(transport.chance());
    transport.onSend(request, node);
    const received = await post(node.url, request, key);
    if (received) {
      const { status, text } = received;
      const response = JSON.parse(text) as Body;
      if (status === 500) throw new Error(`${request.path} has status 500: ${text}\n${node.logs()}`);
      if (!retriedCodes.includes(response.error?.code))
        return { ...request, key, status, text, response, sentAt, answeredAt: Date.now(), attempts };
    }
    await delay(PAUSE_MS);
  }
  throw new Error(`${request.path} with the key ${key} has no final response after ${ANSWER_MS_MAX} ms`);
}

/** Undefined when the connection was lost: the outcome is unknown. */
async function post(
  url: string,
  { app, path, body }: ClientRequest,
  key: string,
): Promise<{ status: number; text: string } | undefined> {
  try {
    const response = await fetch(addressOf(url, path), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${app.key}`,
        'idempotency-key': key,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    return { status: response.status, text: await response.text() };
  } catch {
    return undefined;
  }
}

export async function readJson(url: string, app: App, path: string): Promise<Body> {
  return JSON.parse(await readText(url, app, path, 'application/json')) as Body;
}

const READS_MAX = 4;

/** A read right after the database connection was cut gets 503, as documented, and is sent again. Any other status fails. */
export async function readText(url: string, app: App, path: string, accept: string): Promise<string> {
  for (let read = 1; ; read += 1) {
    const response = await fetch(addressOf(url, path), {
      headers: { authorization: `Bearer ${app.key}`, accept },
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    const text = await response.text();
    if (response.status === 200) return text;
    if (response.status !== 503 || read >= READS_MAX)
      throw new Error(`${path} has status ${response.status}: ${text}`);
  }
}

function addressOf(url: string, path: string): string {
  return `${url}/_api/developer_api_${path}`;
}
