import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { RequestQueue, type RequestQueueSettings } from './request-queue.ts';

const sockets: Socket[] = [];

afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(sockets.splice(0).map((socket) => closed(socket)));
});

async function closed(socket: Socket): Promise<void> {
  if (socket.closed) return;
  socket.destroy();
  await once(socket, 'close');
}

function opened(queue: RequestQueue, served: string[]) {
  const socket = new Socket();
  sockets.push(socket);
  return { socket, send: (name: string, isComplete = true) => send(queue, socket, served, name, isComplete) };
}

function send(queue: RequestQueue, socket: Socket, served: string[], name: string, isComplete: boolean) {
  const request = new IncomingMessage(socket);
  request.complete = isComplete;
  const response = new ServerResponse(request);
  queue.add(request, response, () => served.push(name));
  return {
    response,
    answer: async () => {
      response.emit('close');
      await turn();
    },
  };
}

function setUp(settings: RequestQueueSettings = {}) {
  const queue = new RequestQueue(settings);
  const served: string[] = [];
  return { queue, served, open: () => opened(queue, served) };
}

describe('the requests of a connection', () => {
  test('are served one at a time, in their order', async () => {
    const { queue, served, open } = setUp();
    const { socket, send } = open();
    const [first, second] = [send('1'), send('2')];
    send('3');
    expect([served, queue.waiting, socket.isPaused()]).toEqual([['1'], 2, true]);
    await first.answer();
    expect([served, queue.waiting, socket.isPaused()]).toEqual([['1', '2'], 1, true]);
    await second.answer();
    expect([served, queue.waiting, socket.isPaused()]).toEqual([['1', '2', '3'], 0, false]);
  });

  test('do not wait for those of another connection', () => {
    const { queue, served, open } = setUp();
    open().send('1');
    open().send('2');
    expect([served, queue.waiting]).toEqual([['1', '2'], 0]);
  });

  test('after an answer are served at once', async () => {
    const { served, open } = setUp();
    const { send } = open();
    await send('1').answer();
    send('2');
    expect(served).toEqual(['1', '2']);
  });

  test('leave the socket paused while one waits, even if other code resumes it', async () => {
    const { open } = setUp();
    const { socket, send } = open();
    send('1');
    send('2');
    socket.resume();
    await turn();
    expect(socket.isPaused()).toBe(true);
  });

  test('that wait are dropped when the connection closes', async () => {
    const { queue, served, open } = setUp();
    const { socket, send } = open();
    const first = send('1');
    send('2');
    await closed(socket);
    expect(queue.waiting).toBe(0);
    await first.answer();
    expect(served).toEqual(['1']);
    send('3');
    send('4');
    expect(queue.waiting).toBe(0);
  });
});

describe('too many waiting requests', () => {
  test('end the connection that adds one more', () => {
    const { queue, open } = setUp({ waitingMax: 20 });
    const { socket, send } = open();
    for (let i = 0; i < 21; i += 1) send(String(i));
    expect([queue.waiting, socket.destroyed]).toEqual([20, false]);
    send('one more');
    expect([queue.waiting, socket.destroyed]).toEqual([20, true]);
  });

  test('leave sixteen to every other connection', () => {
    const { queue, open } = setUp({ waitingMax: 20 });
    const [greedy, modest] = [open(), open()];
    for (let i = 0; i < 21; i += 1) greedy.send(String(i));
    for (let i = 0; i < 17; i += 1) modest.send(String(i));
    expect([queue.waiting, modest.socket.destroyed]).toEqual([36, false]);
    modest.send('one more');
    expect([modest.socket.destroyed, greedy.socket.destroyed]).toEqual([true, false]);
  });

  test('are 10,000 unless set', () => {
    const { queue, open } = setUp();
    const { socket, send } = open();
    for (let i = 0; i < 10_001; i += 1) send(String(i));
    expect([queue.waiting, socket.destroyed]).toEqual([10_000, false]);
    send('one more');
    expect(socket.destroyed).toBe(true);
  });
});

describe('bytes that are not HTTP', () => {
  function broken() {
    const { queue, open } = setUp();
    const connection = open();
    const ended: string[] = [];
    connection.socket.destroySoon = () => ended.push('closed');
    const fail = () => queue.onClientError(connection.socket, () => ended.push('refused'));
    return { ...connection, queue, ended, fail };
  }

  test('are refused at once, and once, on a connection without requests', () => {
    const { ended, fail } = broken();
    fail();
    fail();
    expect(ended).toEqual(['refused']);
  });

  test('are refused after the requests before them are answered', async () => {
    const { ended, fail, send, socket } = broken();
    const [first, second] = [send('1'), send('2')];
    fail();
    expect([ended, socket.isPaused()]).toEqual([[], true]);
    await first.answer();
    expect(ended).toEqual([]);
    await second.answer();
    expect(ended).toEqual(['refused']);
  });

  test('within the body of the request that is served end it', () => {
    const { ended, fail, send } = broken();
    send('1', false);
    fail();
    fail();
    expect(ended).toEqual(['refused', 'closed']);
  });

  test('within the body of a request that has its response only close the connection', async () => {
    const { ended, fail, send } = broken();
    const { response, answer } = send('1', false);
    response.writeHead(200);
    fail();
    expect(ended).toEqual([]);
    await answer();
    expect(ended).toEqual(['closed']);
  });

  test('within the body of a waiting request take its place', async () => {
    const { queue, ended, fail, send } = broken();
    const first = send('1');
    send('2', false);
    fail();
    expect(queue.waiting).toBe(0);
    await first.answer();
    expect(ended).toEqual(['refused']);
  });

  test('are not answered on a connection that is gone', async () => {
    const { ended, fail, send, socket } = broken();
    const first = send('1');
    fail();
    socket.destroy();
    await first.answer();
    expect(ended).toEqual([]);
  });
});

describe('unread responses', () => {
  /** Connections with unread bytes, at each of the checks. */
  function unread(max: number, ...bytes: (readonly number[])[]) {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { open } = setUp({ unreadBytesMax: max });
    return bytes.map((checks) => {
      const { socket, send } = open();
      let check = -1;
      Object.defineProperty(socket, 'writableLength', {
        get: () => {
          check += 1;
          return checks[Math.min(check, checks.length - 1)];
        },
      });
      send('1');
      return socket;
    });
  }
  const destroyed = (all: readonly Socket[]) => all.map((socket) => socket.destroyed);

  test('over the limit end the connection with the most, and no more than needed', () => {
    const all = unread(100, [30], [60], [40]);
    vi.advanceTimersByTime(1_000);
    expect(destroyed(all)).toEqual([false, false, false]);
    vi.advanceTimersByTime(1_000);
    expect(destroyed(all)).toEqual([false, true, false]);
  });

  test('at the limit end none', () => {
    const all = unread(100, [60], [40]);
    vi.advanceTimersByTime(5_000);
    expect(destroyed(all)).toEqual([false, false]);
  });

  test('spare a connection that was read from since the last check', () => {
    const all = unread(100, [90, 89], [20, 20]);
    vi.advanceTimersByTime(2_000);
    expect(destroyed(all)).toEqual([false, true]);
  });

  test('spare a connection that had none at the last check', () => {
    const all = unread(100, [0, 90], [20, 20]);
    vi.advanceTimersByTime(2_000);
    expect(destroyed(all)).toEqual([false, true]);
  });

  test('are checked only while there are connections', async () => {
    const all = unread(100, [0], [0]);
    expect(vi.getTimerCount()).toBe(1);
    await closed(all[0] as Socket);
    expect(vi.getTimerCount()).toBe(1);
    await closed(all[1] as Socket);
    expect(vi.getTimerCount()).toBe(0);
  });
});
