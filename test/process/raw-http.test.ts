import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../src/kernel/errors.ts';
import { type ServerProcess, startServer } from '../support/processes.ts';
import { head, type RawAnswer, RawConnection } from '../support/raw-connection.ts';
import {
  API_KEY,
  createPayment,
  expectRefusal,
  listPayments,
  PAYMENTS,
  temporaryFolder,
} from './support/client.ts';

const folder = temporaryFolder();
let server: ServerProcess;
let created = 0;
const open: RawConnection[] = [];

beforeAll(async () => {
  server = await startServer({ dataDir: 'memory', seed: folder.seed });
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
  folder.remove();
});

// After every test the next client is served, and no unexpected payment exists.
afterEach(async () => {
  for (const connection of open.splice(0)) connection.close();
  created += 1;
  expect((await createPayment(server.url, `after-${created}`, 'after')).status).toBe(201);
  expect(await listPayments(server.url)).toHaveLength(created);
  expect(server.logs()).not.toContain('"level":50');
});

async function connection(): Promise<RawConnection> {
  const opened = await RawConnection.open(server.url);
  open.push(opened);
  return opened;
}

/** Sends the bytes on a new connection and returns the first complete response; undefined when the server closes it before. */
async function answerTo(...bytes: readonly (string | Uint8Array)[]): Promise<RawAnswer | undefined> {
  const raw = await connection();
  for (const piece of bytes) raw.send(piece);
  return raw.next();
}

const bodyOf = ({ text }: RawAnswer): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>;

function expectRefused(answer: RawAnswer | undefined, code: ErrorCode): void {
  if (answer === undefined) throw new Error('The connection was closed without a response.');
  expectRefusal({ status: answer.status, headers: answer.headers, body: bodyOf(answer) }, code);
}

const authorization = `Authorization: Bearer ${API_KEY}`;
const json = 'Content-Type: application/json';

/** The head of a create request. */
function createHead(key: string, ...lines: readonly string[]): string {
  return head(`POST ${PAYMENTS}`, authorization, json, `Idempotency-Key: ${key}`, ...lines);
}

const payment = '{"amount":1250,"currency":"EUR"}';
const withLength = `Content-Length: ${payment.length}`;

describe('bytes that are not an HTTP request', () => {
  it.each([
    ['plain text', 'hello there\r\n\r\n'],
    ['the start of TLS', Uint8Array.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03])],
    ['the start of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an absurd method', head('BREW /_api/developer_api_payments')],
    ['an absurd version', 'GET /healthz HTTP/7.7\r\nHost: sandbank\r\n\r\n'],
    ['a header without a colon', head('GET /healthz', 'no colon here')],
    ['a zero byte in a header', head('GET /healthz', 'X-Odd: a\0b')],
    ['a header that is folded', head('GET /healthz', 'X-Odd: a', ' b')],
    ['two lengths', createHead('two-lengths', withLength, 'Content-Length: 5') + payment],
    ['a length that is not a number', createHead('odd-length', 'Content-Length: many') + payment],
    ['a negative length', createHead('negative-length', 'Content-Length: -1')],
    ['a length beside chunks', createHead('both', withLength, 'Transfer-Encoding: chunked') + payment],
    ['a header of 32 KiB', head('GET /healthz', `X-Long: ${'a'.repeat(32 * 1024)}`)],
    ['a path of 32 KiB', head(`GET /${'a'.repeat(32 * 1024)}`)],
    ['no host', 'GET /healthz HTTP/1.1\r\n\r\n'],
  ])('are rejected with the error envelope: %s', async (_what, bytes) => {
    expectRefused(await answerTo(bytes), 'invalid_request');
  });

  it('get one response when a chunk size is invalid', async () => {
    const raw = await connection();
    raw.send(`${createHead('bad-chunk', 'Transfer-Encoding: chunked')}5\r\n{"amo\r\nzz\r\nunt\r\n0\r\n\r\n`);
    const answers = await raw.rest();
    expect(answers).toHaveLength(1);
    expectRefused(answers[0], 'invalid_request');
  });
});

describe('a truncated request', () => {
  const cuts = {
    'in its head': createHead('cut-head', withLength).slice(0, 60),
    'in its body': createHead('cut-body', withLength) + payment.slice(0, 10),
    'in a chunk': `${createHead('cut-chunk', 'Transfer-Encoding: chunked')}20\r\n${payment.slice(0, 10)}`,
  };

  it.each(Object.entries(cuts))('%s creates nothing, and any response is an error', async (_where, bytes) => {
    const raw = await connection();
    raw.send(bytes);
    raw.finish();
    for (const answer of await raw.rest()) expectRefused(answer, 'invalid_request');
  });

  it.each(Object.entries(cuts))(
    '%s by a client that resets the connection creates nothing',
    async (_where, bytes) => {
      const raw = await connection();
      raw.send(bytes);
      raw.reset();
    },
  );
});

describe('a connection', () => {
  it('answers pipelined requests in order, whatever their outcome', async () => {
    const raw = await connection();
    raw.send(
      [
        head('GET /_api/developer_api_status', authorization),
        createHead('pipelined', withLength) + payment,
        createHead('pipelined', withLength) + payment,
        head('GET /_api/nothing', authorization),
        head(`GET ${PAYMENTS}`),
        head('GET /healthz'),
      ].join(''),
    );
    const answers: RawAnswer[] = [];
    for (let i = 0; i < 6; i += 1) answers.push((await raw.next()) as RawAnswer);
    created += 1;

    expect(answers.map(({ status }) => status)).toEqual([200, 201, 201, 404, 401, 200]);
    const [status, first, second, missing, keyless, health] = answers as [
      RawAnswer,
      RawAnswer,
      RawAnswer,
      RawAnswer,
      RawAnswer,
      RawAnswer,
    ];
    expect(bodyOf(status).object).toBe('api_status');
    expect(second.text).toBe(first.text);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expectRefused(missing, 'route_not_found');
    expectRefused(keyless, 'api_key_missing');
    expect(bodyOf(health).object).toBe('health');
  });

  it('gets 100 Continue before it sends the body', async () => {
    const raw = await connection();
    raw.send(createHead('expect', withLength, 'Expect: 100-continue'));
    expect((await raw.next())?.status).toBe(100);
    raw.send(payment);
    expect((await raw.next())?.status).toBe(201);
    created += 1;
  });

  it('accepts a body in chunks of one byte', async () => {
    const raw = await connection();
    raw.send(createHead('chunks', 'Transfer-Encoding: chunked'));
    for (const byte of payment) raw.send(`1\r\n${byte}\r\n`);
    raw.send('0\r\n\r\n');
    expect((await raw.next())?.status).toBe(201);
    created += 1;
  });

  it('is closed after a response to HTTP/1.0', async () => {
    const raw = await connection();
    raw.send('GET /healthz HTTP/1.0\r\n\r\n');
    const answers = await raw.rest();
    expect(answers.map(({ status }) => status)).toEqual([200]);
  });
});

describe('a body of more than 256 KiB', () => {
  const large = Buffer.alloc(300 * 1024, 'a');

  it('is rejected by its Content-Length before it is read', async () => {
    expectRefused(
      await answerTo(createHead('large', `Content-Length: ${large.length}`)),
      'payload_too_large',
    );
  });

  it('is rejected while its chunks arrive', async () => {
    const chunk = Buffer.concat([Buffer.from('4000\r\n'), large.subarray(0, 0x4000), Buffer.from('\r\n')]);
    const chunks = Array.from({ length: 20 }, () => chunk);
    expectRefused(
      await answerTo(createHead('large-chunks', 'Transfer-Encoding: chunked'), ...chunks, '0\r\n\r\n'),
      'payload_too_large',
    );
  });
});

describe('unusual but valid HTTP requests', () => {
  const cases: readonly (readonly [string, string, ErrorCode])[] = [
    ['a percent sign alone', head('GET /%', authorization), 'invalid_request'],
    ['a zero byte in the path', head('GET /_api/%00', authorization), 'route_not_found'],
    ['a byte that is not UTF-8 in an id', head(`GET ${PAYMENTS}/%ff`, authorization), 'invalid_request'],
    ['a zero byte in an id', head(`GET ${PAYMENTS}/%00`, authorization), 'resource_not_found'],
    ['a zero byte in a cursor', head(`GET ${PAYMENTS}?cursor=%00`, authorization), 'invalid_cursor'],
    [
      'a byte that is not UTF-8 in a parameter',
      head(`GET ${PAYMENTS}?limit=%ff`, authorization),
      'invalid_request',
    ],
    ['__proto__ as a parameter', head(`GET ${PAYMENTS}?__proto__=1`, authorization), 'invalid_request'],
    ['dots in the path', head('GET /_api/../../etc/passwd', authorization), 'route_not_found'],
    ['a star', head('OPTIONS *', authorization), 'route_not_found'],
    [
      'a method that the path does not support',
      head(`PROPFIND ${PAYMENTS}`, authorization),
      'method_not_allowed',
    ],
    ['TRACE', head(`TRACE ${PAYMENTS}`, authorization), 'method_not_allowed'],
    [
      'two idempotency keys',
      createHead('one', 'Idempotency-Key: two', withLength) + payment,
      'idempotency_key_invalid',
    ],
    ['an empty key', head(`GET ${PAYMENTS}`, 'Authorization:'), 'api_key_missing'],
    ['an upgrade', head(`GET ${PAYMENTS}`, 'Connection: Upgrade', 'Upgrade: websocket'), 'api_key_missing'],
    ['an unknown expectation', head(`GET ${PAYMENTS}`, 'Expect: miracles'), 'invalid_request'],
    ['no body', createHead('no-body', 'Content-Length: 0'), 'invalid_request'],
    [
      'a compressed body',
      createHead('gzip', 'Content-Encoding: gzip', withLength) + payment,
      'unsupported_media_type',
    ],
  ];

  it.each(cases)('are rejected with the error envelope: %s', async (_what, bytes, code) => {
    expectRefused(await answerTo(bytes), code);
  });

  it('may close the connection without a response: CONNECT', async () => {
    for (const answer of await (async () => {
      const raw = await connection();
      raw.send(head('CONNECT sandbank:443'));
      return raw.rest();
    })()) {
      expectRefused(answer, 'method_not_allowed');
    }
  });
});
