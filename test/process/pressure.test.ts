import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import http from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Server } from '../../src/server.ts';
import { openApp, openEngine, openServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';
import { API_KEY } from './support/client.ts';

const payments = 'developer_api_payments';
const IDLE = 2_000;
// A page has a quarter of a megabyte; the kernel buffers about four of them before the server has to wait.
const PAGES_REQUESTED = 30;
const SLOW_READERS = 8;
// Longer than all pages take, or the last reader is dropped before its first page arrives.
const SILENCE_MS_MAX = 5_000;

let server: Server;
let acme: Tenant;
let port = 0;
/** The server's end of each connection. */
const accepted = new Set<Socket>();

beforeAll(async () => {
  server = await openServer('postgres');
  server.app.server.on('connection', (socket) => {
    accepted.add(socket);
    socket.once('close', () => accepted.delete(socket));
  });
  port = Number(new URL(await server.listen()).port);
  acme = await tenant(server, { key: API_KEY });
  const metadata = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, 'x'.repeat(400)]));
  await Promise.all(
    Array.from({ length: 100 }, () => acme.client.post(payments, { amount: 5, currency: 'EUR', metadata })),
  );
});
afterAll(() => server?.close());

/** A request over a new connection. */
async function get(path: string): Promise<number | undefined> {
  const headers = { authorization: `Bearer ${API_KEY}` };
  const request = http.get({ port, host: '127.0.0.1', path, headers, agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
  return response.statusCode;
}

async function open(): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

describe('more writes than the queue holds', () => {
  it('are rejected with Retry-After, and each retry is executed once', async () => {
    const engine = openEngine(server.database, { queueMax: 20, batchMax: 8 });
    const { client, clientOn } = await tenant(server);
    const limited = clientOn(openApp(server, { engine }));
    const keys = Array.from({ length: 150 }, (_, i) => `queued-${i}`);
    const create = (idempotencyKey: string) =>
      limited.post(payments, { amount: 9, currency: 'EUR', reference: idempotencyKey }, { idempotencyKey });
    const refused = (await Promise.all(keys.map(create))).filter(({ status }) => status !== 201);
    expect(refused.length).toBeGreaterThan(50);
    for (const { status, headers, body } of refused) {
      expect({ status, wait: headers['retry-after'] }).toEqual({ status: 503, wait: '1' });
      expect(body.error.message).toContain('Too many writes are waiting');
    }
    expect(engine.queueLength).toBe(0);
    let left: readonly string[] = keys;
    for (let round = 0; left.length > 0; round += 1) {
      expect(round).toBeLessThan(100);
      const answers = await Promise.all(left.slice(0, 15).map(create));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
      left = left.slice(15);
    }
    const pages = [await client.get(payments, 'limit=100')];
    const cursor = pages[0]?.body.nextCursor;
    pages.push(await client.get(payments, `limit=100&cursor=${encodeURIComponent(String(cursor))}`));
    const references = pages.flatMap(({ body }) => body.data.map(({ reference }) => reference));
    expect(references.sort()).toEqual([...keys].sort());
  });
});

describe('clients that do not read their responses', () => {
  it('do not block others and are disconnected when they have read nothing for a while', async () => {
    const { timeout } = server.app.server;
    expect(timeout).toBe(120_000);
    server.app.server.timeout = SILENCE_MS_MAX;
    const request = `GET /_api/${payments}?limit=100 HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${API_KEY}\r\n\r\n`;
    const readers = await Promise.all(Array.from({ length: SLOW_READERS }, open));
    await vi.waitUntil(() => accepted.size === SLOW_READERS, { interval: 5 });
    server.app.server.timeout = timeout;
    for (const socket of readers) {
      socket.pause();
      socket.write(request.repeat(PAGES_REQUESTED));
    }
    const stuck = () => [...accepted].filter((socket) => socket.writableLength > 0).length;
    await vi.waitUntil(() => stuck() === SLOW_READERS, { interval: 10 });
    // The server responds while all of them are stuck, before it disconnects one.
    expect(await get(`/_api/${payments}?limit=1`)).toBe(200);
    expect(accepted.size).toBeGreaterThanOrEqual(SLOW_READERS);
    await vi.waitUntil(() => accepted.size === 0, { interval: 20 });
    for (const socket of readers) socket.destroy();
    expect(await get(`/_api/${payments}?limit=1`)).toBe(200);
  });
});

describe('thousands of idle connections', () => {
  it('do not block other clients, are limited, and free their slots when they close', async () => {
    expect(server.app.server.maxConnections).toBe(10_000);
    // Both ends are in this process.
    const files = Number(execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }).trim()) || 1_000_000;
    const count = Math.min(IDLE, Math.floor((files - 200) / 2));
    const idle: Socket[] = [];
    while (idle.length < count)
      idle.push(...(await Promise.all(Array.from({ length: Math.min(100, count - idle.length) }, open))));
    await vi.waitUntil(() => accepted.size >= count, { interval: 10 });
    expect(await get(`/_api/${payments}?limit=10`)).toBe(200);
    expect(accepted.size).toBeGreaterThanOrEqual(count);

    server.app.server.maxConnections = accepted.size;
    await expect(get('/healthz')).rejects.toThrow();
    for (const socket of idle) socket.destroy();
    await vi.waitUntil(() => accepted.size === 0, { interval: 10 });
    expect(await get('/healthz')).toBe(200);
  });
});
