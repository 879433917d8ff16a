/** Typical webhook receivers: a correct one, and variants with one fault each. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { onTestFinished } from 'vitest';
import type { Bounds } from '../../src/examiner/examination.ts';

export const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** For tests that do not depend on time: a busy machine must not appear as a receiver fault. */
export const relaxedBounds: Bounds = {
  overallMs: 120_000,
  requestMs: 60_000,
  latency: { good: 50_000, max: 55_000 },
};

export interface Event {
  readonly id: string;
  readonly type: string;
  readonly sequence: number;
  readonly sandbox: boolean;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Handled {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly headers: Record<string, string>;
  readonly rawBody: Buffer;
}

/** Overrides of the receiver's steps. */
export interface Fault {
  /** Runs first; true when it has answered, or leaves the request unanswered. */
  readonly before?: (handled: Handled) => boolean | Promise<boolean>;
  /** Reads the body; default: all bytes. */
  readonly read?: (request: IncomingMessage) => Promise<Buffer>;
  /** Throws to reject; default: verification with the library. */
  readonly verify?: (handled: Handled) => unknown;
  /** Answers a rejected request; default: 401 with an empty body. */
  readonly refuse?: (error: Error, handled: Handled) => void;
  /** Runs after the verification; true when it has answered. */
  readonly handle?: (event: Event, handled: Handled) => boolean | Promise<boolean>;
}

export interface Examinee {
  readonly url: string;
  readonly port: number;
  readonly handled: readonly Handled[];
  close(): Promise<void>;
}

export const verified = ({ rawBody, headers }: Pick<Handled, 'rawBody' | 'headers'>, key = secret): unknown =>
  new Webhook(key).verify(rawBody, headers);

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Closed when the test ends. */
export async function openExaminee(
  fault: Fault = {},
  finished: (close: () => Promise<void>) => void = onTestFinished,
): Promise<Examinee> {
  const handled: Handled[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const rawBody = await (fault.read ?? bytesOf)(request);
    const one: Handled = { request, response, rawBody, headers: request.headers as Record<string, string> };
    handled.push(one);
    if (await fault.before?.(one)) return;
    if (request.method !== 'POST') return void response.writeHead(405, { allow: 'POST' }).end();
    let event: Event;
    try {
      event = (fault.verify ?? verified)(one) as Event;
    } catch (error) {
      if (fault.refuse) return fault.refuse(error as Error, one);
      return void response.writeHead(401).end();
    }
    if (await fault.handle?.(event, one)) return;
    response.writeHead(204).end();
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  let isOpen = true;
  const close = async () => {
    if (!isOpen) return;
    isOpen = false;
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  finished(close);
  return { url: `http://127.0.0.1:${port}/hook`, port, handled, close };
}
