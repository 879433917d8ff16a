/**
 * A client that does not give up: the same request with the same key, to whatever node is up, until it is answered for good.
 * So of every command the final answer is known, and what the database holds can be held against it.
 */
import type { ServerProcess } from '../support/processes.ts';
import { type Fleet, pause } from './journey-fleet.ts';

/** An application, as its own key sees it. */
export interface App {
  readonly name: string;
  readonly organization: string;
  readonly key: string;
}

export interface Asked {
  readonly app: App;
  /** Without what all have in common: `payments/pay_.../advance`. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

// biome-ignore lint/suspicious/noExplicitAny: bodies are JSON of any shape; the auditor says what they must be.
export type Body = Readonly<Record<string, any>>;

/** A command and its final answer. Instants are of the wall clock. */
export interface Told extends Asked {
  readonly key: string;
  readonly status: number;
  readonly text: string;
  readonly answer: Body;
  readonly sentAt: number;
  readonly answeredAt: number;
  readonly attempts: number;
}

const ANSWER_MS_MAX = 120_000;
const PAUSE_MS = 40;
/** What is answered so is no answer yet. */
const unfinished: readonly string[] = [
  'idempotency_in_progress',
  'clock_advancing',
  'service_unavailable',
  'rate_limited',
];

export interface Sending {
  readonly fleet: Fleet;
  readonly chance: () => number;
  /** Told of every attempt, with the node that gets it. */
  readonly onSend: (asked: Asked, node: ServerProcess) => void;
}

export async function tell(asked: Asked, key: string, sending: Sending): Promise<Told> {
  const sentAt = Date.now();
  for (let attempts = 1; Date.now() - sentAt < ANSWER_MS_MAX; attempts += 1) {
    const node = await sending.fleet.node(sending.chance());
    sending.onSend(asked, node);
    const answered = await post(node.url, asked, key);
    if (answered) {
      const { status, text } = answered;
      const answer = JSON.parse(text) as Body;
      if (status === 500) throw new Error(`${asked.path} is answered with ${text}\n${node.logs()}`);
      if (!unfinished.includes(answer.error?.code))
        return { ...asked, key, status, text, answer, sentAt, answeredAt: Date.now(), attempts };
    }
    await pause(PAUSE_MS);
  }
  throw new Error(`${asked.path} with the key ${key} has no answer after ${ANSWER_MS_MAX} ms`);
}

/** Undefined when the connection was lost: then nobody knows whether it was done. */
async function post(
  url: string,
  { app, path, body }: Asked,
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

export async function look(url: string, app: App, path: string): Promise<Body> {
  return JSON.parse(await lookAt(url, app, path, 'application/json')) as Body;
}

const READS_MAX = 4;

/** A read on a connection that was just cut is 503, as documented, and is sent again as a client would; other answers are failures. */
export async function lookAt(url: string, app: App, path: string, accept: string): Promise<string> {
  for (let read = 1; ; read += 1) {
    const response = await fetch(addressOf(url, path), {
      headers: { authorization: `Bearer ${app.key}`, accept },
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    const text = await response.text();
    if (response.status === 200) return text;
    if (response.status !== 503 || read >= READS_MAX)
      throw new Error(`${path} is answered with ${response.status} ${text}`);
  }
}

function addressOf(url: string, path: string): string {
  return `${url}/_api/developer_api_${path}`;
}
