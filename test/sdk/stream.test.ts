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

describe('the reader of server-sent events', () => {
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
    ['no space behind the colon', 'id:1\nevent:event\ndata:{}\n\n'],
  ])('knows lines that end with %s', async (_name, text) => {
    expect(await read(text)).toEqual([{ ...message, event: 'event', data: '{}', id: '1' }]);
  });

  test('reads the same wherever the bytes are cut', async () => {
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

  test('leaves out comments, unknown fields, and a message that was not finished', async () => {
    expect(await read(': hello\n\nfoo: bar\ndata\n\ndata: half')).toEqual([message]);
  });
});

const told = (id: string, kind = 'event') =>
  `id: ${id}\nevent: ${kind}\ndata: ${JSON.stringify({ object: 'event', id, type: 'payment.created', data: {} })}\n\n`;

/** A server that streams as ours does, each connection by a script of its own. */
async function streaming(
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

describe('a stream of events', () => {
  test('asks for the types and the place, gives events as they come, and ends the connection when the loop is left', async () => {
    let isClosed: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => {
      isClosed = resolve;
    });
    const { receiver, events } = await streaming(
      [
        (response) => {
          response.once('close', isClosed);
          open(response, `event: ping\ndata: {}\n\n${told('evt_2')}${told('evt_3')}`);
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

  test('reconnects behind the last event, after the pause that the server asked for, and tells nothing twice but replays', async () => {
    const { receiver, events, waits } = await streaming([
      (response) => {
        open(response, told('evt_1') + told('evt_2'));
        response.write('data: half of a mess', () => response.destroy());
      },
      (response) => {
        open(response, told('evt_1') + told('evt_2') + told('evt_1', 'replay') + told('evt_3'));
        response.end();
      },
      (response) => open(response, told('evt_3') + told('evt_4')),
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

  test('says each time when it is open', async () => {
    const heard: string[] = [];
    const { events } = await streaming(
      [
        (response) => {
          open(response, '');
          response.end();
        },
        (response) => open(response, told('evt_1')),
      ],
      { onOpen: () => heard.push('open') },
    );
    await take(events, 1);
    expect(heard).toEqual(['open', 'open']);
  });

  test('waits longer while the server fails, and as long as it asks', async () => {
    const refuse =
      (headers: Record<string, string> = {}) =>
      (response: ServerResponse) =>
        response.writeHead(503, headers).end();
    const { events, waits } = await streaming([
      refuse(),
      refuse({ 'Retry-After': '4' }),
      (response) => response.destroy(),
      (response) => open(response, told('evt_1')),
    ]);
    expect(idsOf(await take(events, 1))).toEqual(['evt_1']);
    expect(waits).toEqual([2_000, 4_000, 2_000]);
  });

  test('gives up after so many failures in a row', async () => {
    const lost = (response: ServerResponse) => response.destroy();
    const { events, receiver } = await streaming([lost, lost, lost, lost], { reconnectsMax: 2 });
    await expect(take(events, 1)).rejects.toBeInstanceOf(SandbankError);
    expect(receiver.received.length).toBe(3);
  });

  test('a refusal is thrown at once', async () => {
    const error = { code: 'route_not_found', message: 'no', retryable: false, docUrl: '' };
    const { events, receiver } = await streaming([
      (response) => response.writeHead(404).end(JSON.stringify({ object: 'error', error })),
    ]);
    await expect(take(events, 1)).rejects.toBeInstanceOf(NotFoundError);
    expect(receiver.received).toHaveLength(1);
  });

  test('ends quietly with its signal, while it listens and while it waits', async () => {
    const listening = new AbortController();
    const one = await streaming([(response) => open(response, told('evt_1'))], { signal: listening.signal });
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

  test('a connection that has gone silent is given up for another', async () => {
    const { events, receiver } = await streaming(
      [(response) => open(response, told('evt_1')), (response) => open(response, told('evt_2'))],
      { silenceMsMax: 40 },
    );
    expect(idsOf(await take(events, 2))).toEqual(['evt_1', 'evt_2']);
    expect(receiver.received).toHaveLength(2);
  });
});
