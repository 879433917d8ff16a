// DNS rebinding: a web page whose own name resolves to this server is "same origin" with it, so the server accepts
// only known hosts.
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listen } from '../../src/http/http-server.ts';
import type { Server } from '../../src/server.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { openApp, openServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
);
let server: Server;
let acme: Tenant;

beforeAll(async () => {
  server = await openServer('pglite', {
    publicUrl: 'https://sandbank.example.com:8443',
    allowedHosts: ['sandbank', 'FD00::1', '*.preview.test'],
    hasMetrics: true,
  });
  acme = await tenant(server);
});
afterAll(() => server?.close());

const request = (host: string, url: string, method: 'GET' | 'POST' = 'GET') =>
  server.app.inject({ method, url, headers: { host, authorization: `Bearer ${acme.key}` } });
const status = '/_api/developer_api_status';
const foreign = [
  'evil.test',
  'rebind.evil.test:4000',
  'localhost.evil.test',
  'evil-localhost',
  '127.0.0.1.evil.test',
  'preview.test',
  'evilpreview.test',
  'sandbank.evil.test',
  '10.0.0.5:4000',
  '[fd00::2]:4000',
  'sandbank.example.com.evil.test',
  'localhost@evil.test',
  'localhost:4000:4000',
  'localhost/x',
  '[::1',
];

describe('a request for another host', () => {
  test('is rejected with 421 before any other check, on every kind of route', async () => {
    const urls = [
      status,
      '/console',
      '/console/api/session',
      '/docs',
      '/openapi.json',
      '/seed.schema.json',
      '/metrics',
      '/',
      '/nothing',
    ];
    for (const url of [...urls, '/_operator/organizations'])
      for (const method of ['GET', 'POST'] as const) {
        const answer = await request('evil.test', url, method);
        expect([answer.statusCode, answer.json().error.code], `${method} ${url}`).toEqual([
          421,
          ...expectedErrorCodes.hosts,
        ]);
        expect(answer.json()).toMatchObject({ object: 'error', sandbox: true, error: { param: 'Host' } });
      }
    for (const host of foreign) expect((await request(host, status)).statusCode, host).toBe(421);
  });

  test('is served for health probes, which reveal nothing', async () => {
    for (const url of ['/healthz', '/readyz'])
      for (const host of foreign) expect((await request(host, url)).statusCode, host).toBe(200);
  });
});

describe('a request is served', () => {
  test.each([
    ...['localhost', 'LOCALHOST:1', 'localhost.', '127.0.0.1', '127.0.0.1:65535', '[::1]', '[::1]:4000'],
    ...['sandbank.example.com', 'sandbank.example.com:8443', 'Sandbank.Example.com'],
    ...['sandbank', 'sandbank:4000', '[fd00::1]:4000', 'a.preview.test', 'a.b.preview.test:80'],
  ])('for %s', async (host) => {
    expect((await request(host, status)).statusCode).toBe(200);
  });

  test("for the server's listen address, and for the connection's local address", async () => {
    const elsewhere = await openServer('pglite', { host: '127.0.0.2', allowedHosts: [] });
    const { port } = new URL(await elsewhere.listen());
    const everywhere = openApp(server, { allowedHosts: [] });
    await everywhere.listen({ port: 0, host: '0.0.0.0' });
    const wide = everywhere.server.address();
    const widePort = typeof wide === 'object' ? wide?.port : 0;
    for (const [connect, host, expected] of [
      [`127.0.0.2:${port}`, '127.0.0.2', 404],
      [`127.0.0.3:${widePort}`, `127.0.0.3:${widePort}`, 404],
      [`127.0.0.3:${widePort}`, '127.0.0.4', 421],
      [`127.0.0.1:${widePort}`, 'evil.test', 421],
      [`127.0.0.1:${widePort}`, '', 421],
    ] as const) {
      const connection = await RawConnection.open(`http://${connect}`);
      connection.send(`GET /nothing HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      expect((await connection.next())?.status, `${host} on ${connect}`).toBe(expected);
      connection.close();
    }
    await everywhere.close();
    await elsewhere.close();
  });

  test('without a Host header over HTTP/1.0', async () => {
    const connection = await RawConnection.open(await server.listen());
    connection.send('GET /nothing HTTP/1.0\r\n\r\n');
    expect((await connection.next())?.status).toBe(404);
    connection.close();
  });
});

test.runIf(hasIpv6)('localhost is served on both of its addresses until the server closes', async () => {
  const app = openApp(server);
  const addresses = [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ];
  const port = await listen(app, 0, 'localhost', async () => addresses);
  const urls = [`http://127.0.0.1:${port}/healthz`, `http://[::1]:${port}/healthz`];
  for (const url of urls) expect((await fetch(url)).status, url).toBe(200);
  await app.close();
  for (const url of urls) await expect(fetch(url), url).rejects.toThrow();
});
