import type { ServerResponse } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  NotFoundError,
  Sandbank,
  SandbankError,
  type StreamedEvent,
  type StreamOptions,
} from '../../sdk/client.ts';
import { readServerSent } from '../../sdk/server-sent.ts';
import { streamPath } from '../../sdk/stream.ts';
import { openReceiver, type Received } from '../support/receiver.ts';

describe('readServerSent', () => {
  async function read(...chunks: (string | Uint8Array)[]) {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const chunk of chunks)
          controller.enqueue(typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk);
        controller.close();
      },
    });
    const messages = [];
    for await (const message of readServerSent(body)) messages.push(message);
    return messages;
  }
  const message = { event: 'message', data: '', id: undefined, retryMs: undefined };

  test.each([
    ['LF', 'id: 1\nevent: event\ndata: {}\n\n'],
    ['CRLF', 'id: 1\r\nevent: event\r\ndata: {}\r\n\r\n'],
    ['CR', 'id: 1\revent: event\rdata: {}\r\r\n'],
    ['LF and no space after the colon', 'id:1\nevent:event\ndata:{}\n\n'],
  ])('parses lines that end with %s', async (_name, text) => {
    expect(await read(text)).toEqual([{ ...message, event: 'event', data: '{}', id: '1' }]);
  });

  test('parses the same messages wherever the chunk boundary is', async () => {
    const text = 'retry: 2000\n\nid: evt_1\r\nevent: event\r\ndata: {"a":"ü🎈"}\r\n\r\ndata: b\ndata: c\n\n';
    const whole = await read(text);
    expect(whole).toEqual([
      { ...message, retryMs: 2000 },
      { ...message, event: 'event', id: 'evt_1', data: '{"a":"ü🎈"}' },
      { ...message, data: 'b\nc' },
    ]);
    const bytes = new TextEncoder().encode(text);
    for (let at = 1; at < bytes.length; at += 1)
      expect(await read(bytes.subarray(0, at), bytes.subarray(at)), `cut at ${at}`).toEqual(whole);
  });

  test('ignores comments, unknown fields and an incomplete message', async () => {
    expect(await read(': hello\n\nfoo: bar\ndata\n\ndata: half')).toEqual([message]);
  });
});

const sseEvent = (id: string, kind = 'event') =>
  `id: ${id}\nevent: ${kind}\ndata: ${JSON.stringify({ object: 'event', id, type: 'payment.created', data: {} })}\n\n`;

/** A server that streams like Sandbank; each connection has its own script. */
async function openStream(
  connections: readonly ((response: ServerResponse, request: Received) => void)[],
  options: StreamOptions = {},
) {
  const receiver = await openReceiver((request, response, count) => {
    const connection = connections[count - 1];
    if (connection) connection(response, request);
    else response.writeHead(204).end();
  });
  onTestFinished(receiver.close);
  const waits: number[] = [];
  const sandbank = new Sandbank({
    apiKey: 'sbk_sandbox_x',
    baseUrl: `http://127.0.0.1:${receiver.port}`,
    random: () => 1,
    sleep: async (ms) => void waits.push(ms),
  });
  return { receiver, waits, events: sandbank.events.stream(options) };
}

const open = (response: ServerResponse, text: string) =>
  response
    .writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' })
    .write(`retry: 1500\n\n${text}`);

async function take(events: AsyncIterable<StreamedEvent>, count: number): Promise<StreamedEvent[]> {
  const taken: StreamedEvent[] = [];
  for await (const event of events) if (taken.push(event) === count) break;
  return taken;
}
const idsOf = (events: readonly StreamedEvent[]) => events.map(({ id }) => id);

describe('an event stream', () => {
  test('sends event types and last event id, yields events, and closes the connection when the loop breaks', async () => {
    let isClosed: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => {
      isClosed = resolve;
    });
    const { receiver, events } = await openStream(
      [
        (response) => {
          response.once('close', isClosed);
          open(response, `event: ping\ndata: {}\n\n${sseEvent('evt_2')}${sseEvent('evt_3')}`);
        },
      ],
      { eventTypes: ['payment.*', 'refund.created'], lastEventId: 'evt_1' },
    );
    expect(receiver.received).toHaveLength(0);
    expect(await take(events, 2)).toEqual([
      expect.objectContaining({ id: 'evt_2', type: 'payment.created', isReplay: false }),
      expect.objectContaining({ id: 'evt_3' }),
    ]);
    await closed;
    const [request] = receiver.received;
    const url = new URL(request?.path ?? '', 'http://x');
    expect([url.pathname, url.searchParams.get('eventTypes')]).toEqual([
      streamPath,
      'payment.*,refund.created',
    ]);
    expect(request?.headers).toMatchObject({
      accept: 'text/event-stream',
      'last-event-id': 'evt_1',
      authorization: 'Bearer sbk_sandbox_x',
    });
  });

  test('reconnects after the last event with the retry delay of the server, and yields no event twice except replays', async () => {
    const { receiver, events, waits } = await openStream([
      (response) => {
        open(response, sseEvent('evt_1') + sseEvent('evt_2'));
        response.write('data: half of a mess', () => response.destroy());
      },
      (response) => {
        open(
          response,
          sseEvent('evt_1') + sseEvent('evt_2') + sseEvent('evt_1', 'replay') + sseEvent('evt_3'),
        );
        response.end();
      },
      (response) => open(response, sseEvent('evt_3') + sseEvent('evt_4')),
    ]);
    const taken = await take(events, 5);
    expect(idsOf(taken)).toEqual(['evt_1', 'evt_2', 'evt_1', 'evt_3', 'evt_4']);
    expect(taken.map(({ isReplay }) => isReplay)).toEqual([false, false, true, false, false]);
    expect(receiver.received.map(({ headers }) => headers['last-event-id'])).toEqual([
      undefined,
      'evt_2',
      'evt_3',
    ]);
    expect(waits).toEqual([1500, 1500]);
  });

  test('calls onOpen for every connection', async () => {
    const calls: string[] = [];
    const { events } = await openStream(
      [
        (response) => {
          open(response, '');
          response.end();
        },
        (response) => open(response, sseEvent('evt_1')),
      ],
      { onOpen: () => calls.push('open') },
    );
    await take(events, 1);
    expect(calls).toEqual(['open', 'open']);
  });

  test('backs off while the server fails, and honours Retry-After', async () => {
    const unavailable =
      (headers: Record<string, string> = {}) =>
      (response: ServerResponse) =>
        response.writeHead(503, headers).end();
    const { events, waits } = await openStream([
      unavailable(),
      unavailable({ 'Retry-After': '4' }),
      (response) => response.destroy(),
      (response) => open(response, sseEvent('evt_1')),
    ]);
    expect(idsOf(await take(events, 1))).toEqual(['evt_1']);
    expect(waits).toEqual([2_000, 4_000, 2_000]);
  });

  test('gives up after reconnectsMax consecutive failures', async () => {
    const lost = (response: ServerResponse) => response.destroy();
    const { events, receiver } = await openStream([lost, lost, lost, lost], { reconnectsMax: 2 });
    await expect(take(events, 1)).rejects.toBeInstanceOf(SandbankError);
    expect(receiver.received.length).toBe(3);
  });

  test('a client error is thrown without a retry', async () => {
    const error = { code: 'route_not_found', message: 'no', retryable: false, docUrl: '' };
    const { events, receiver } = await openStream([
      (response) => response.writeHead(404).end(JSON.stringify({ object: 'error', error })),
    ]);
    await expect(take(events, 1)).rejects.toBeInstanceOf(NotFoundError);
    expect(receiver.received).toHaveLength(1);
  });

  test('ends without an error when the signal is aborted, while it reads and while it waits', async () => {
    const listening = new AbortController();
    const one = await openStream([(response) => open(response, sseEvent('evt_1'))], {
      signal: listening.signal,
    });
    const taken: StreamedEvent[] = [];
    for await (const event of one.events) {
      taken.push(event);
      listening.abort();
    }
    expect(idsOf(taken)).toEqual(['evt_1']);
    expect(one.receiver.received).toHaveLength(1);

    const waiting = new AbortController();
    const receiver = await openReceiver((_request, response) => {
      response.writeHead(503).end(() => setImmediate(() => waiting.abort()));
    });
    onTestFinished(receiver.close);
    const sandbank = new Sandbank({ apiKey: 'x', baseUrl: `http://127.0.0.1:${receiver.port}` });
    expect(await take(sandbank.events.stream({ signal: waiting.signal }), 1)).toEqual([]);
  });

  test('reconnects when a connection is silent for silenceMsMax', async () => {
    const { events, receiver } = await openStream(
      [(response) => open(response, sseEvent('evt_1')), (response) => open(response, sseEvent('evt_2'))],
      { silenceMsMax: 40 },
    );
    expect(idsOf(await take(events, 2))).toEqual(['evt_1', 'evt_2']);
    expect(receiver.received).toHaveLength(2);
  });
});
