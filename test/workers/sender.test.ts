import { once } from 'node:events';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { AddressGuard, type AddressGuardSettings } from '../../src/delivery/address-guard.ts';
import { type Outcome, Sender } from '../../src/delivery/sender.ts';
import { limits } from '../../src/kernel/limits.ts';
import {
  type Behave,
  type Hostile,
  type HostileSettings,
  onRequest,
  openHostile,
  repeatForever,
  respondWith,
  responseBytes,
  selfSigned,
  stallAfter,
} from '../support/hostile.ts';
import { openReceiver } from '../support/receiver.ts';

type Resolve = NonNullable<AddressGuardSettings['resolve']>;

const bytesMax = limits.webhookResponseBytesMax;
const body = JSON.stringify({ object: 'event', sandbox: true });
const headers = { 'content-type': 'application/json' };
const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
);

const resolvesTo =
  (...addresses: readonly string[]): Resolve =>
  (_host, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
const failsWith =
  (code: string): Resolve =>
  (host, _options, callback) =>
    callback(Object.assign(new Error(`queryA ${code} ${host}`), { code, syscall: 'queryA' }), []);

let sender: Sender;
beforeEach(() => {
  sender = new Sender(new AddressGuard({ allowsPrivate: true }));
});
afterEach(() => sender.stop());

async function send(url: string, by = sender, text = body): Promise<Outcome> {
  const outcome = await by.send({ url }, headers, text, Date.now);
  if (!outcome) throw new Error('the sender has stopped');
  expectStorable(outcome);
  return outcome;
}

/** Every outcome can be stored: text without NUL and lone surrogates, within the documented size. */
function expectStorable({ responseBody, responseHeaders, error, durationMs }: Outcome): void {
  const texts = [responseBody ?? '', error ?? '', JSON.stringify(responseHeaders)];
  for (const text of texts) {
    expect(text).not.toContain('\u0000');
    expect(text.isWellFormed()).toBe(true);
  }
  expect(responseBody?.length ?? 0).toBeLessThanOrEqual(bytesMax);
  expect(Object.values(responseHeaders ?? {}).every((value) => typeof value === 'string')).toBe(true);
  if (error !== null) expect(error).toMatch(/^\S[^\n]*\.$/);
  expect(Number.isInteger(durationMs)).toBe(true);
}

async function openUntilTestEnds(behave: Behave, settings?: HostileSettings): Promise<Hostile> {
  const hostile = await openHostile(behave, settings);
  onTestFinished(() => hostile.close());
  return hostile;
}

/** Sends to a receiver with this behaviour. */
async function sendTo(behave: Behave, text = body): Promise<Outcome> {
  return send((await openUntilTestEnds(behave)).url, sender, text);
}

const senderWith = (guard: Partial<AddressGuardSettings>): Sender => {
  const created = new Sender(new AddressGuard({ allowsPrivate: true, ...guard }));
  onTestFinished(() => created.stop());
  return created;
};

const noResponse = { responseStatus: null, responseHeaders: null, responseBody: null, retryAfterSeconds: 0 };

/** Expects a failure without a response, well before the timeout, with an error that begins with this prefix. */
function expectNoResponse(outcome: Outcome, prefix: string): void {
  expect(outcome).toMatchObject(noResponse);
  expect(outcome.error?.slice(0, prefix.length + 2)).toBe(`${prefix}: `);
  expect(outcome.durationMs).toBeLessThan(9_000);
}

describe('a connection that ends without a response', () => {
  const ends: Readonly<Record<string, Behave>> = {
    'is closed immediately': (socket) => socket.end(),
    'is destroyed immediately': (socket) => socket.destroy(),
    'is reset immediately': (socket) => socket.resetAndDestroy(),
    'is closed after the request': respondWith(''),
    'is reset after the request': onRequest((socket) => socket.resetAndDestroy()),
    'is closed in the middle of the status line': respondWith('HTTP/1.1 20'),
    'is closed in the middle of a header': respondWith('HTTP/1.1 200 OK\r\ncontent-le'),
    'is closed before the headers end': respondWith('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n'),
    'is closed after an early hint': respondWith('HTTP/1.1 103 Early Hints\r\n\r\n'),
    'is reset in the middle of a header': onRequest((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nx');
      setTimeout(() => socket.resetAndDestroy(), 50);
    }),
    'is upgraded to another protocol': respondWith(
      'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: ws\r\n\r\n',
    ),
  };
  test.each(Object.entries(ends))('%s', async (_name, behave) => {
    expectNoResponse(await sendTo(behave), 'Connection closed');
  });

  test('is refused when nothing listens', async () => {
    const port = await freePort();
    const outcome = await send(`http://127.0.0.1:${port}/`);
    expectNoResponse(outcome, 'Connection refused');
    expect(outcome.error).toContain(`127.0.0.1:${port}`);
  });

  test('is refused when nothing listens at any address of a host name', async () => {
    const url = `http://shop.test:${await freePort()}/`;
    expectNoResponse(
      await send(url, senderWith({ resolve: resolvesTo('127.0.0.1', '127.0.0.2') })),
      'Connection refused',
    );
  });

  test('names no address when the local network rejects it', async () => {
    const outcome = await send('http://shop.test:9/', senderWith({ resolve: resolvesTo('fe80::1') }));
    expectNoResponse(outcome, 'Connection failed');
    expect(outcome.error).toMatch(/^Connection failed: E[A-Z]+\.$/);
  });

  test('is replaced by a new one for the next request', async () => {
    const hostile = await openUntilTestEnds((socket, connection) =>
      connection === 1 ? socket.destroy() : respondWith(responseBytes('204 No Content'))(socket, connection),
    );
    expectNoResponse(await send(hostile.url), 'Connection closed');
    expect(await send(hostile.url)).toMatchObject({ responseStatus: 204, error: null });
  });
});

describe('a response that is not HTTP', () => {
  const ok = 'HTTP/1.1 200 OK\r\n';
  const answers: Readonly<Record<string, string>> = {
    'another protocol': 'SSH-2.0-OpenSSH_9.6\r\n',
    'plain text': 'hello\r\n\r\n',
    'a page without a head': '<html><body>200 OK</body></html>',
    'a newer version': 'HTTP/2 200 OK\r\n\r\n',
    'a status of letters': 'HTTP/1.1 abc OK\r\n\r\n',
    'a status of one digit': 'HTTP/1.1 2 OK\r\n\r\n',
    'a request': 'GET / HTTP/1.1\r\nhost: a\r\n\r\n',
    'bare line feeds': 'HTTP/1.1 200 OK\ncontent-length: 0\n\n',
    'a NUL in a header': `${ok}x-a: a\u0000b\r\ncontent-length: 0\r\n\r\n`,
    'a header without a name': `${ok}: a\r\n\r\n`,
    'a header with a space in its name': `${ok}x a: a\r\n\r\n`,
    'a length below zero': `${ok}content-length: -1\r\n\r\n`,
    'a length that is not a number': `${ok}content-length: many\r\n\r\n`,
    'a length that overflows': `${ok}content-length: 99999999999999999999999999\r\n\r\n`,
    'two lengths': `${ok}content-length: 2\r\ncontent-length: 3\r\n\r\nabc`,
    'a length and chunks': `${ok}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n`,
  };
  test.each(Object.entries(answers))('%s', async (_name, text) => {
    expectNoResponse(await sendTo(respondWith(text)), 'Response');
  });

  test('TLS where HTTP is expected', async () => {
    const { port } = await openUntilTestEnds(() => undefined, { certificate: selfSigned(2020, 2120) });
    const outcome = await send(`http://127.0.0.1:${port}/`);
    expect(outcome).toMatchObject(noResponse);
    expect(outcome.error).toMatch(/^(Response|Connection closed): /);
  });

  test('an invalid status is not a success', async () => {
    for (const status of ['000', '099', '199', '600', '999']) {
      const outcome = await sendTo(respondWith(responseBytes(`${status} Odd`)));
      expect.soft(outcome.error, status).toMatch(/^(Status \d+|Response|Connection closed): /);
    }
  });
});

describe('headers', () => {
  const oversized: Readonly<Record<string, Behave>> = {
    'one header of 20 KiB': respondWith(responseBytes('200 OK', 'hi', `x-a: ${'a'.repeat(20_480)}\r\n`)),
    'thousands of headers': respondWith(responseBytes('200 OK', 'hi', 'x-a: aaaaaaaa\r\n'.repeat(2_000))),
    'an endless header': repeatForever('HTTP/1.1 200 OK\r\nx-a: ', 'a'.repeat(65_536)),
    'endless headers': repeatForever('HTTP/1.1 200 OK\r\n', 'x-a: a\r\n'.repeat(8_192)),
    'an endless header name': repeatForever('HTTP/1.1 200 OK\r\n', 'a'.repeat(65_536)),
    'an endless early hint': repeatForever('HTTP/1.1 103 Hint\r\n', 'link: a\r\n'.repeat(8_192)),
  };
  test.each(Object.entries(oversized))('exceed the limit: %s', async (_name, behave) => {
    expectNoResponse(await sendTo(behave), 'Response');
  });

  test('are stored when they are just below 16 KiB', async () => {
    const { responseHeaders, error } = await sendTo(
      respondWith(responseBytes('200 OK', 'hi', `x-a: ${'a'.repeat(16_000)}\r\n`)),
    );
    expect(error).toBeNull();
    expect(responseHeaders?.['x-a']).toHaveLength(16_000);
  });

  test('with the same name are joined, and special names are harmless', async () => {
    const names = [
      '__proto__',
      'constructor',
      'toString',
      'hasOwnProperty',
      'length',
      'set-cookie',
      'X-Twice',
    ];
    const twice = names.map((name) => `${name}: a\r\n${name}: b\r\n`).join('');
    const { responseHeaders, error } = await sendTo(respondWith(responseBytes('200 OK', '', twice)));
    expect(error).toBeNull();
    const expected = names.map((name) => [name.toLowerCase(), 'a, b']);
    expect(Object.entries(responseHeaders ?? {})).toEqual([...expected, ['content-length', '0']]);
  });

  test('with bytes beyond ASCII are decoded', async () => {
    const bytes = Buffer.from(responseBytes('200 OK', '', 'x-a: caf\u00e9 \u00ff\u0080\r\n'), 'latin1');
    expect((await sendTo(respondWith(bytes))).error).toBeNull();
  });

  test('may set Retry-After in seconds or as a date', async () => {
    const date = 'Tue, 04 Mar 2031 10:00:00 GMT';
    const later = `date: ${date}\r\nretry-after: ${date.replace('10:00:00', '10:02:00')}\r\n`;
    const retryAfterOf = async (lines: string) =>
      (await sendTo(respondWith(responseBytes('503 No', '', lines)))).retryAfterSeconds;
    expect(await retryAfterOf('retry-after: 7\r\n')).toBe(7);
    expect(await retryAfterOf(later)).toBe(120);
    for (const odd of ['-1', 'soon', '1e9', '9'.repeat(400), 'Infinity', '1, 2', '']) {
      expect(await retryAfterOf(`retry-after: ${odd}\r\n`), odd).toBeGreaterThanOrEqual(0);
      expect(Number.isSafeInteger(await retryAfterOf(`retry-after: ${odd}\r\n`)), odd).toBe(true);
    }
  });
});

describe('a body', () => {
  const storedBody = async (bytes: string | Buffer, more = '') => {
    const head = Buffer.from(`HTTP/1.1 200 OK\r\n${more}content-length: ${Buffer.byteLength(bytes)}\r\n\r\n`);
    const outcome = await sendTo(respondWith(Buffer.concat([head, Buffer.from(bytes)])));
    expect(outcome).toMatchObject({ responseStatus: 200, error: null });
    return outcome.responseBody ?? '';
  };

  test('is stored up to 16 KiB', async () => {
    expect(await storedBody('')).toBe('');
    expect(await storedBody('a'.repeat(bytesMax))).toBe('a'.repeat(bytesMax));
    expect(await storedBody(`${'a'.repeat(bytesMax)}b`)).toBe('a'.repeat(bytesMax));
    expect(await storedBody(`${'a'.repeat(bytesMax - 1)}\u20ac`)).toBe(`${'a'.repeat(bytesMax - 1)}\ufffd`);
  });

  test('with arbitrary bytes becomes text that a database can store', async () => {
    expect(await storedBody('a\u0000b')).toBe('a\ufffdb');
    expect(
      await storedBody(Buffer.from([0x61, 0xff, 0xfe, 0x00, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0x62])),
    ).toMatch(/^a\ufffd+.*b$/);
    const all = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    expect((await storedBody(all)).length).toBeGreaterThan(127);
  });

  test('is not decompressed', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    const text = await storedBody(bomb, 'content-encoding: gzip\r\n');
    expect(text.startsWith('\u001f\ufffd\b')).toBe(true);
  });

  test('that ends too early is stored as far as it arrived', async () => {
    const early = {
      'fewer bytes than Content-Length': respondWith('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart'),
      'no last chunk': respondWith('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\npart\r\n'),
      'a reset': onRequest((socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart');
        setTimeout(() => socket.resetAndDestroy(), 100);
      }),
      'an invalid chunk': onRequest((socket) => {
        socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\npart\r\n');
        setTimeout(() => socket.end('zz\r\n'), 100);
      }),
    };
    for (const [name, behave] of Object.entries(early)) {
      const outcome = await sendTo(behave);
      expect.soft(outcome, name).toMatchObject({ responseStatus: 200, responseBody: 'part', error: null });
    }
  });

  test('is read although the status is an error', async () => {
    const outcome = await sendTo(respondWith(responseBytes('500 Broken', 'stack trace')));
    expect(outcome).toMatchObject({ responseStatus: 500, responseBody: 'stack trace' });
    expect(outcome.error).toBe('Status 500: only 2xx counts as delivered.');
  });

  test('appended to the previous response is not used as the next response', async () => {
    const hostile = await openUntilTestEnds((socket, connection) => {
      const ready = responseBytes('204 No Content') + responseBytes('200 Forged', 'forged');
      socket.on('data', () => socket.write(connection === 1 ? ready : responseBytes('500 Honest')));
    });
    expect(await send(hostile.url)).toMatchObject({ responseStatus: 204 });
    expect((await send(hostile.url)).responseStatus).not.toBe(200);
  });

  test('may follow early hints', async () => {
    const hints = 'HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n'.repeat(1_000);
    const outcome = await sendTo(respondWith(hints + responseBytes('200 OK', 'hi')));
    expect(outcome).toMatchObject({ responseStatus: 200, responseBody: 'hi', error: null });
    expect(outcome.responseHeaders).toEqual({ 'content-length': '2' });
  });
});

describe('an endless response', () => {
  const chunk = `10000\r\n${'a'.repeat(65_536)}\r\n`;
  const chunked = 'transfer-encoding: chunked\r\n\r\n';
  const endless: Readonly<Record<string, readonly [status: number, behave: Behave]>> = {
    'endless chunks': [200, repeatForever(`HTTP/1.1 200 OK\r\n${chunked}`, chunk)],
    'a gigabyte': [
      200,
      repeatForever('HTTP/1.1 200 OK\r\ncontent-length: 1073741824\r\n\r\n', 'a'.repeat(65_536)),
    ],
    'no length at all': [200, repeatForever('HTTP/1.1 200 OK\r\n\r\n', 'a'.repeat(65_536))],
    'an endless error response': [500, repeatForever(`HTTP/1.1 500 No\r\n${chunked}`, chunk)],
  };

  test.each(Object.entries(endless))('of %s is dropped after 16 KiB', async (_name, [status, behave]) => {
    const hostile = await openUntilTestEnds(behave);
    const outcome = await send(hostile.url);
    expect(outcome).toMatchObject({ responseStatus: status, responseBody: 'a'.repeat(bytesMax) });
    expect(outcome.error === null).toBe(status === 200);
    expect(outcome.durationMs).toBeLessThan(9_000);
    await expect.poll(() => hostile.seen.open).toBe(0);
    // At most the buffers of the two sockets, not everything that the receiver tried to send.
    expect(hostile.seen.bytes).toBeLessThan(16 * 1024 * 1024);
  });

  test('does not fill the memory, even with a hundred concurrent ones', async () => {
    const hostile = await openUntilTestEnds(repeatForever(`HTTP/1.1 200 OK\r\n${chunked}`, chunk));
    const memory = watchMemory();
    const outcomes = await Promise.all(Array.from({ length: 100 }, () => send(hostile.url)));
    expect(outcomes.every(({ responseBody }) => responseBody?.length === bytesMax)).toBe(true);
    await expect.poll(() => hostile.seen.open).toBe(0);
    expect(memory.stop()).toBeLessThan(100);
  });

  test('with endless trailers is dropped', async () => {
    const start = `HTTP/1.1 200 OK\r\n${chunked}2\r\nhi\r\n0\r\n`;
    const outcome = await sendTo(repeatForever(start, 'x-a: a\r\n'.repeat(8_192)));
    expect(outcome).toMatchObject({ responseStatus: 200, responseBody: 'hi', error: null });
    expect(outcome.durationMs).toBeLessThan(9_000);
  });
});

describe('the timeout of ten seconds', () => {
  const ok = 'HTTP/1.1 200 OK\r\n';
  /** A few megabytes a second: enough to show in memory, and little enough to leave CPU for the other cases. */
  const flood = (start: string, bytes: string) =>
    repeatForever(start, bytes.repeat(65_536 / bytes.length), 10);
  const unanswered: Readonly<Record<string, Behave>> = {
    'accepts and sends nothing': stallAfter(),
    'accepts and does not even read': (socket) => socket.pause(),
    'sends half a status line': stallAfter('HTTP/1.1 20'),
    'sends headers without a blank line': stallAfter(`${ok}content-length: 0\r\n`),
    'sends a header every 100 ms': repeatForever(ok, 'x-a: a\r\n', 100),
    'sends a byte of a header every 100 ms': repeatForever(`${ok}x-a: `, 'a', 100),
    'sends endless early hints': flood('', 'HTTP/1.1 103 Hint\r\nlink: <a>\r\n\r\n'),
    'sends early hints slowly': repeatForever('', 'HTTP/1.1 102 Wait\r\n\r\n', 100),
    'sends an endless reason phrase': flood('HTTP/1.1 200 ', 'because '),
    'sends endless empty lines': repeatForever('', '\r\n', 100),
  };
  const answered: Readonly<Record<string, readonly [behave: Behave, status: number, body: RegExp]>> = {
    'drips a body': [repeatForever(`${ok}content-length: 100000\r\n\r\n`, 'a', 100), 200, /^a{60,105}$/],
    'drips chunks': [
      repeatForever(`${ok}transfer-encoding: chunked\r\n\r\n`, '1\r\na\r\n', 100),
      200,
      /^a{60,105}$/,
    ],
    'sends no body': [stallAfter(`${ok}content-length: 10\r\n\r\n`), 200, /^$/],
    'sends a part of a body': [stallAfter(`${ok}content-length: 10\r\n\r\npart`), 200, /^part$/],
    'fails and sends a part of a body': [
      stallAfter('HTTP/1.1 500 No\r\ncontent-length: 10\r\n\r\npart'),
      500,
      /^part$/,
    ],
    'sends an endless chunk extension': [
      flood(`${ok}transfer-encoding: chunked\r\n\r\n1;`, 'a=b;'),
      200,
      /^$/,
    ],
    'responds 410 and does not end': [
      stallAfter('HTTP/1.1 410 Gone\r\ncontent-length: 10\r\n\r\n'),
      410,
      /^$/,
    ],
  };

  const expectAtLimit = (name: string, { durationMs }: Outcome) => {
    expect.soft(durationMs, name).toBeGreaterThanOrEqual(limits.webhookTimeoutMs - 100);
    expect.soft(durationMs, name).toBeLessThan(limits.webhookTimeoutMs * 3);
  };
  const expectTimeout = (name: string, outcome: Outcome) => {
    expect.soft(outcome, name).toMatchObject(noResponse);
    expect.soft(outcome.error, name).toBe('Timeout: no response within 10 seconds.');
    expectAtLimit(name, outcome);
  };

  test('applies to every receiver; a received status decides the outcome, and the received part of the body is stored', async () => {
    const memory = watchMemory();
    const hostiles: Hostile[] = [];
    const at = async (behave: Behave, settings?: HostileSettings) => {
      const hostile = await openUntilTestEnds(behave, settings);
      hostiles.push(hostile);
      return hostile;
    };
    const silentTls = await at(() => undefined);
    const neverResolved = senderWith({ resolve: () => undefined });
    await Promise.all([
      ...Object.entries(unanswered).map(async ([name, behave]) =>
        expectTimeout(name, await send((await at(behave)).url)),
      ),
      ...Object.entries(answered).map(async ([name, [behave, status, text]]) => {
        const outcome = await send((await at(behave)).url);
        expect.soft(outcome.responseStatus, name).toBe(status);
        expect.soft(outcome.responseBody, name).toMatch(text);
        expect.soft(outcome.error === null, name).toBe(status === 200);
        expectAtLimit(name, outcome);
      }),
      (async () => {
        const { url } = await at((socket) => socket.pause());
        expectTimeout('does not read a large request', await send(url, sender, 'a'.repeat(8 * 1024 * 1024)));
      })(),
      (async () => {
        const outcome = await send(`https://127.0.0.1:${silentTls.port}/`);
        expectTimeout('does not respond to a TLS handshake', outcome);
      })(),
      (async () => {
        expectTimeout('has a host name that never resolves', await send('http://shop.test/', neverResolved));
      })(),
    ]);
    // No connection is left open, and memory did not grow.
    await expect.poll(() => hostiles.reduce((sum, { seen }) => sum + seen.open, 0)).toBe(0);
    expect(memory.stop()).toBeLessThan(100);
  });
});

describe('a redirect', () => {
  test.each([300, 301, 302, 303, 304, 305, 307, 308])('%i is not followed', async (status) => {
    const other = await openReceiver();
    onTestFinished(() => other.close());
    for (const to of ['http://169.254.169.254/latest/meta-data/', other.url, '/other', '//127.0.0.1:1/']) {
      let requests = 0;
      const hostile = await openUntilTestEnds((socket) => {
        socket.on('data', () => {
          requests += 1;
          socket.write(
            responseBytes(`${status} Elsewhere`, '', `location: ${to}\r\nrefresh: 0; url=${to}\r\n`),
          );
        });
      });
      const outcome = await send(hostile.url);
      expect(outcome).toMatchObject({ responseStatus: status, responseHeaders: { location: to } });
      expect(outcome.error).toBe(`Status ${status}: redirects are not followed.`);
      expect(requests).toBe(1);
    }
    expect(other.received).toEqual([]);
  });
});

describe('TLS', () => {
  test.each([
    ['that is self-signed', selfSigned(2020, 2120), /self-signed/],
    ['that has expired', selfSigned(2010, 2011), /expired/],
    ['that is not valid yet', selfSigned(2110, 2120), /not yet valid/],
  ])('with a certificate %s fails before anything is sent', async (_name, certificate, message) => {
    let read = 0;
    const hostile = await openUntilTestEnds(
      (socket) => socket.on('data', (bytes) => (read += bytes.length)),
      {
        certificate,
      },
    );
    const outcome = await send(hostile.url);
    expectNoResponse(outcome, 'TLS');
    expect(outcome.error).toMatch(message);
    expect(read).toBe(0);
  });

  test('with a plain HTTP receiver fails with a one-line error', async () => {
    const receiver = await openReceiver();
    onTestFinished(() => receiver.close());
    const outcome = await send(`https://127.0.0.1:${receiver.port}/`);
    expectNoResponse(outcome, 'TLS');
    expect(outcome.error).not.toMatch(/\.c:|openssl/);
    expect(receiver.received).toEqual([]);
  });

  test('with a receiver that closes the connection during the handshake fails', async () => {
    const { port } = await openUntilTestEnds(respondWith(''));
    const outcome = await send(`https://127.0.0.1:${port}/`);
    expect(outcome.error).toMatch(/^(TLS|Connection closed): /);
  });
});

describe('a host name', () => {
  test.each(['ENOTFOUND', 'EAI_AGAIN', 'ETIMEOUT', 'ECANCELLED', 'EINVAL'])(
    'whose lookup fails with %s is reported as a DNS error',
    async (code) => {
      const outcome = await send('http://shop.test:8080/', senderWith({ resolve: failsWith(code) }));
      expectNoResponse(outcome, 'DNS');
      expect(outcome.error).toContain('the name shop.test ');
    },
  );

  test('is sent as the Host header', async () => {
    const receiver = await openReceiver();
    onTestFinished(() => receiver.close());
    const by = senderWith({ resolve: resolvesTo('127.0.0.1') });
    const outcome = await send(`http://shop.test:${receiver.port}/a?b=c#d`, by);
    expect(outcome).toMatchObject({ responseStatus: 204, responseBody: '', error: null });
    const [got] = receiver.received;
    expect(got).toMatchObject({ method: 'POST', path: '/a?b=c', body });
    expect(got?.headers).toMatchObject({ host: `shop.test:${receiver.port}`, ...headers });
  });

  test('is reached at its next address when the first does not respond', async () => {
    const receiver = await openReceiver();
    onTestFinished(() => receiver.close());
    const by = senderWith({ resolve: resolvesTo('::1', '127.0.0.2', '127.0.0.1') });
    expect(await send(`http://shop.test:${receiver.port}/`, by)).toMatchObject({ responseStatus: 204 });
  });

  test.skipIf(!hasIpv6)('may resolve to IPv6', async () => {
    const hostile = await openUntilTestEnds(respondWith(responseBytes('200 OK', 'six')), { host: '::1' });
    expect(await send(hostile.url)).toMatchObject({ responseBody: 'six', error: null });
    const by = senderWith({ resolve: resolvesTo('::1') });
    expect(await send(`http://shop.test:${hostile.port}/`, by)).toMatchObject({ responseBody: 'six' });
  });

  test('that resolves to a private address is rejected unless private addresses are allowed', async () => {
    const receiver = await openReceiver();
    onTestFinished(() => receiver.close());
    const by = senderWith({ allowsPrivate: false, resolve: resolvesTo('127.0.0.1', '::1') });
    expect(await send(`http://shop.test:${receiver.port}/`, by)).toMatchObject({
      ...noResponse,
      error: expect.stringMatching(/^shop\.test does not resolve to a public address/),
    });
    for (const host of ['127.0.0.1', '0', '0x7f.1', '[::ffff:127.0.0.1]', '127.0.0.1.'])
      expect((await send(`http://${host}:${receiver.port}/`, by)).error).toMatch(/is not a public address/);
    expect((await send(`http://a:b@127.0.0.1:${receiver.port}/`)).error).toMatch(
      /^The URL contains credentials/,
    );
    expect((await send('file:///etc/passwd')).error).toMatch(/Use http or https/);
    expect(receiver.received).toEqual([]);
  });

  test('that starts to resolve to a private address is rejected (DNS rebinding)', async () => {
    const receiver = await openReceiver((_received, response) => {
      response.writeHead(204, { connection: 'close' }).end();
    });
    onTestFinished(() => receiver.close());
    let lookups = 0;
    const resolve: Resolve = (host, options, callback) => {
      lookups += 1;
      resolvesTo(lookups === 1 ? '203.0.114.1' : '127.0.0.1')(host, options, callback);
    };
    const guard = new AddressGuard({ allowsPrivate: false, resolve });
    const url = `http://shop.test:${receiver.port}/`;
    expect(await guard.problemOf(url)).toBeNull();
    const by = new Sender(guard);
    onTestFinished(() => by.stop());
    expect((await send(url, by)).error).toMatch(/^shop\.test does not resolve to a public address/);
    expect(lookups).toBe(2);
    expect(receiver.received).toEqual([]);
  });
});

describe('stopping a sender', () => {
  test('cancels pending requests without an outcome and sends no more', async () => {
    const hostile = await openUntilTestEnds(stallAfter());
    const dripping = await openUntilTestEnds(repeatForever('HTTP/1.1 200 OK\r\n\r\n', 'a', 50));
    const by = senderWith({});
    const pending = [hostile, dripping].map(({ url }) => by.send({ url }, headers, body, Date.now));
    await expect.poll(() => hostile.seen.open + dripping.seen.open).toBe(2);
    const startedAt = performance.now();
    await by.stop();
    expect(await Promise.all(pending)).toEqual([undefined, undefined]);
    expect(await by.send({ url: hostile.url }, headers, body, Date.now)).toBeUndefined();
    expect(performance.now() - startedAt).toBeLessThan(9_000);
    await expect.poll(() => hostile.seen.open + dripping.seen.open).toBe(0);
    expect(hostile.seen.requests).toBe(1);
  });
});

const timers = new Set<NodeJS.Timeout>();
afterAll(() => {
  for (const timer of timers) clearInterval(timer);
});

/** The largest growth of the process in megabytes; uncollected garbage counts too. */
function watchMemory(): { stop(): number } {
  const inUse = () => process.memoryUsage().rss / 1024 / 1024;
  const before = inUse();
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, inUse());
  }, 20);
  timers.add(timer);
  return {
    stop: () => {
      clearInterval(timer);
      return Math.max(peak, inUse()) - before;
    },
  };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('a listening socket has no port');
  return address.port;
}
