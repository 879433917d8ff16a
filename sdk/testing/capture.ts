import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Sandbank } from '../client.ts';
import { TimeoutError } from '../errors.ts';
import { matchesEventFilter } from '../event-filter.ts';
import type { EventOf } from '../event-of.ts';
import type { EventFilter, SandbankEvent } from '../generated/shapes.ts';
import { type OptionNames, rejectUnknownOptions } from '../options.ts';
import { verifyWebhook } from '../webhooks.ts';
import { rejectUnknownEventTypes } from './event-filter.ts';

export interface Captured<Event extends SandbankEvent = SandbankEvent> {
  readonly event: Event;
  readonly headers: IncomingMessage['headers'];
  /** The body as it was received. */
  readonly rawBody: string;
  /** 1 for the first request with this event, 2 for the next: retries and duplicates. */
  readonly attempt: number;
}

/** A status, or a function that writes the response. */
export type CaptureReply = number | ((captured: Captured, response: ServerResponse) => void | Promise<void>);

export interface CaptureOptions {
  /** All by default. */
  readonly eventTypes?: readonly EventFilter[] | undefined;
  /** `none` by default: a delivery that the receiver rejects is not retried. */
  readonly retryProfile?: 'standard' | 'fast' | 'none' | undefined;
  /** How the receiver responds; 204 by default. */
  readonly reply?: CaptureReply | undefined;
}

const captureOptionNames: OptionNames<CaptureOptions> = { eventTypes: true, retryProfile: true, reply: true };

export interface WaitOptions<Filter extends EventFilter = EventFilter> {
  /** Selects one of the webhooks of this type. */
  readonly where?: ((captured: Captured<EventOf<Filter>>) => boolean) | undefined;
  /** How long to wait for a webhook that has not arrived yet; 10,000 by default. */
  readonly timeoutMs?: number | undefined;
}

const waitOptionNames: OptionNames<WaitOptions> = { where: true, timeoutMs: true };

const timeoutMsDefault = 10_000;
const bytesMax = 1_024 * 1_024;

/** A test receiver: a real endpoint that records all webhooks in the order in which they arrive. */
export class CapturedWebhooks {
  readonly url: string;
  readonly webhookId: string;
  readonly secret: string;
  readonly all: Captured[] = [];
  /** Requests with a wrong signature, or without an event. There should be none. */
  readonly refused: { readonly reason: string; readonly rawBody: string }[] = [];
  readonly #server: Server;
  readonly #waiting = new Set<() => void>();
  #reply: CaptureReply;

  constructor(
    server: Server,
    endpoint: { url: string; webhookId: string; secret: string },
    reply: CaptureReply,
  ) {
    this.#server = server;
    this.url = endpoint.url;
    this.webhookId = endpoint.webhookId;
    this.secret = endpoint.secret;
    this.#reply = reply;
  }

  /** Changes how the receiver responds from now on. */
  replyWith(reply: CaptureReply): void {
    this.#reply = reply;
  }

  /** The first webhook with an event of this type, whether it has already arrived or is still to come. */
  async waitFor<Filter extends EventFilter>(
    type: Filter,
    options: WaitOptions<Filter> = {},
  ): Promise<Captured<EventOf<Filter>>> {
    rejectUnknownEventTypes([type]);
    rejectUnknownOptions('webhooks.waitFor()', options, waitOptionNames);
    const { where = () => true, timeoutMs = timeoutMsDefault } = options;
    const isWanted = (captured: Captured): captured is Captured<EventOf<Filter>> =>
      matchesEventFilter([type], captured.event.type) && where(captured as Captured<EventOf<Filter>>);
    const find = () => this.all.find(isWanted);
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

  /** Called by the HTTP server of this receiver. */
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
    for (const check of this.#waiting) check();
  }

  #later<Found>(find: () => Found | undefined, timeoutMs: number): Promise<Found | undefined> {
    return new Promise((resolve) => {
      const end = (found: Found | undefined) => {
        clearTimeout(timer);
        this.#waiting.delete(check);
        resolve(found);
      };
      const check = () => {
        const found = find();
        if (found) end(found);
      };
      const timer = setTimeout(() => end(undefined), timeoutMs);
      this.#waiting.add(check);
    });
  }
}

export async function captureWebhooks(client: Sandbank, options: CaptureOptions): Promise<CapturedWebhooks> {
  rejectUnknownOptions('webhooks.capture()', options, captureOptionNames);
  const { eventTypes = ['*'], retryProfile = 'none', reply = 204 } = options;
  rejectUnknownEventTypes(eventTypes);
  let captured: CapturedWebhooks | undefined;
  const server = createServer((request, response) => {
    if (captured) void captured.receive(request, response);
    else response.writeHead(503).end();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  // A test process that does not close the receiver can still exit.
  server.unref();
  server.on('connection', (socket) => socket.unref());
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
