import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Sandbank } from '../client.ts';
import { TimeoutError } from '../errors.ts';
import type { EventFilter, SandbankEvent } from '../generated/shapes.ts';
import { verifyWebhook } from '../webhooks.ts';
import { fitsFilter } from './event-filter.ts';

export interface Captured {
  readonly event: SandbankEvent;
  readonly headers: IncomingMessage['headers'];
  /** The bytes as they came. */
  readonly rawBody: string;
  /** 1 for the first request with this event, 2 for the next: retries and duplicates. */
  readonly attempt: number;
}

/** A status, or all of the answer. */
export type CaptureReply = number | ((captured: Captured, response: ServerResponse) => void | Promise<void>);

export interface CaptureOptions {
  /** All unless told. */
  readonly eventTypes?: readonly EventFilter[] | undefined;
  /** `none` unless told, so that a refusal of the receiver is final. */
  readonly retryProfile?: 'standard' | 'fast' | 'none' | undefined;
  /** How the receiver answers; 204 unless told. */
  readonly reply?: CaptureReply | undefined;
}

export interface WaitOptions {
  readonly where?: ((captured: Captured) => boolean) | undefined;
  readonly timeoutMs?: number | undefined;
}

const timeoutMsDefault = 10_000;
const bytesMax = 1_024 * 1_024;

/** A receiver of a test: a real endpoint, which keeps what comes in the order in which it came. */
export class CapturedWebhooks {
  readonly url: string;
  readonly webhookId: string;
  readonly secret: string;
  readonly all: Captured[] = [];
  /** What came with a wrong signature, or was no event. There should be none. */
  readonly refused: { readonly reason: string; readonly rawBody: string }[] = [];
  readonly #server: Server;
  readonly #waiting = new Set<() => void>();
  #reply: CaptureReply;

  constructor(server: Server, made: { url: string; webhookId: string; secret: string }, reply: CaptureReply) {
    this.#server = server;
    this.url = made.url;
    this.webhookId = made.webhookId;
    this.secret = made.secret;
    this.#reply = reply;
  }

  /** How the receiver answers from now on. */
  replyWith(reply: CaptureReply): void {
    this.#reply = reply;
  }

  /** The first request with an event of this type, whether it has come already or is still to come. */
  async waitFor(
    type: EventFilter,
    { where = () => true, timeoutMs = timeoutMsDefault }: WaitOptions = {},
  ): Promise<Captured> {
    const find = () => this.all.find((captured) => fitsFilter(captured.event.type, type) && where(captured));
    const found = find() ?? (await this.#later(find, timeoutMs));
    if (found) return found;
    const seen = this.all.map(({ event }) => event.type).join(', ') || 'none';
    const refused = this.refused.length === 0 ? '' : ` Refused: ${this.refused[0]?.reason}`;
    throw new TimeoutError({
      code: 'timed_out',
      message: `No webhook ${type} within ${timeoutMs} ms. Received: ${seen}.${refused}`,
    });
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** For the server that this belongs to. */
  async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const rawBody = await bodyOf(request);
    try {
      const event = await verifyWebhook(rawBody, request.headers, this.secret);
      const attempt = 1 + this.all.filter((other) => other.event.id === event.id).length;
      const captured = { event, headers: request.headers, rawBody, attempt };
      this.all.push(captured);
      if (typeof this.#reply === 'number') response.writeHead(this.#reply).end();
      else await this.#reply(captured, response);
    } catch (error) {
      this.refused.push({ reason: error instanceof Error ? error.message : String(error), rawBody });
      if (!response.headersSent) response.writeHead(400).end();
    }
    for (const look of this.#waiting) look();
  }

  #later(find: () => Captured | undefined, timeoutMs: number): Promise<Captured | undefined> {
    return new Promise((resolve) => {
      const end = (found: Captured | undefined) => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve(found);
      };
      const look = () => {
        const found = find();
        if (found) end(found);
      };
      const timer = setTimeout(() => end(undefined), timeoutMs);
      this.#waiting.add(look);
    });
  }
}

export async function captureWebhooks(client: Sandbank, options: CaptureOptions): Promise<CapturedWebhooks> {
  const { eventTypes = ['*'], retryProfile = 'none', reply = 204 } = options;
  let captured: CapturedWebhooks | undefined;
  const server = createServer((request, response) => {
    if (captured) void captured.receive(request, response);
    else response.writeHead(503).end();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  // A test that forgets to close it still ends.
  server.unref();
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/webhooks`;
  try {
    const { id, secret } = await client.webhooks.create({ url, eventTypes: [...eventTypes], retryProfile });
    if (secret === undefined) throw new Error('The response to the webhook creation has no secret.');
    captured = new CapturedWebhooks(server, { url, webhookId: id, secret }, reply);
    return captured;
  } catch (error) {
    server.close();
    throw error;
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= bytesMax) chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
