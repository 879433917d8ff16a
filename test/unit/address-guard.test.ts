import type { LookupAddress, LookupOptions } from 'node:dns';
import { isIP } from 'node:net';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { AddressGuard, type AddressGuardSettings, AddressRefused } from '../../src/delivery/address-guard.ts';
import { privateHosts, words } from '../security/private-hosts.ts';

type Resolve = NonNullable<AddressGuardSettings['resolve']>;

const found = (...addresses: readonly string[]): LookupAddress[] =>
  addresses.map((address) => ({ address, family: isIP(address) }));

/** A resolver that knows these names and no others. */
const knowing =
  (names: Readonly<Record<string, readonly string[]>>): Resolve =>
  (host, _options, callback) => {
    const addresses = names[host];
    const unknown = Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' });
    setImmediate(() => (addresses ? callback(null, found(...addresses)) : callback(unknown, [])));
  };

const nobody: Resolve = (host) => {
  throw new Error(`${host} was looked up`);
};

const strict = (resolve: Resolve = nobody) => new AddressGuard({ allowsPrivate: false, resolve });
const lenient = (resolve: Resolve = nobody) => new AddressGuard({ allowsPrivate: true, resolve });

/** What the connection gets: the addresses, or the reason why there are none. */
function lookup(guard: AddressGuard, host: string, options: LookupOptions = { all: true }) {
  return new Promise<{ error: Error | null; address: unknown; family: number | undefined }>((resolve) => {
    guard.lookup(host, options, (error, address, family) => resolve({ error, address, family }));
  });
}

const notPublic = /(is not|does not resolve to) a public address, and this server sends only to those\.$/;

/** Slashes, letters, blanks, ports and paths that change nothing for whoever connects. */
const wrappings: readonly ((host: string) => string)[] = [
  (host) => `http://${host}`,
  (host) => `https://${host}:8443/hook?a=b#c`,
  (host) => ` \tHTTP://${host}/\n`,
  (host) => `http:\\\\${host}\\hook`,
  (host) => `ht\ntp:${host}/`,
  (host) => `http://@${host}/`,
];

describe('an address that is written out', () => {
  test.each(Object.entries(privateHosts))(
    'is refused for %s, however the URL is dressed',
    async (_, hosts) => {
      for (const host of hosts) {
        for (const wrapped of wrappings.map((wrap) => wrap(host))) {
          expect.soft(strict().problemAsWritten(wrapped), wrapped).toMatch(notPublic);
          expect.soft(await strict().problemOf(wrapped), wrapped).toMatch(notPublic);
        }
      }
    },
  );

  test.each(
    words(
      '168.63.129.16 192.80.8.124 [::ffff:168.63.129.16] 192.0.0.192 100.100.100.200 169.254.170.2 [fd00:ec2::254] [fd20:ce::254]',
    ),
  )('that leads to services of a cloud provider, such as %s, is refused', async (host) => {
    expect(await strict().problemOf(`http://${host}/metadata`)).toMatch(notPublic);
    const address = host.replace(/[[\]]/g, '');
    const guard = strict(knowing({ 'shop.test': [address] }));
    expect(await guard.problemOf('http://shop.test/')).toMatch(notPublic);
    expect((await lookup(guard, 'shop.test')).error).toBeInstanceOf(AddressRefused);
  });

  test('a refusal names the address that was written, in its plain form, and none that a name resolves to', async () => {
    const guard = strict(knowing({ 'shop.test': ['10.9.8.7', 'fd00::7'] }));
    const sentence = 'shop.test does not resolve to a public address, and this server sends only to those.';
    expect(await guard.problemOf('https://shop.test/hook')).toBe(sentence);
    expect((await lookup(guard, 'shop.test')).error?.message).toBe(sentence);
    expect(await strict().problemOf('http://0177.0.0.1/')).toBe(
      '127.0.0.1 is not a public address, and this server sends only to those.',
    );
    expect(await strict().problemOf('http://[0:0::1]/')).toMatch(/^::1 is not a public address/);
  });

  test.each(
    words(`1.1.1.1 1.1.1.1:8443/hook?a=b 16843009 8.8.8.8 9.255.255.255 11.0.0.0 172.15.255.255 172.32.0.0 100.63.255.255
      100.128.0.0 169.253.255.255 169.255.0.0 192.167.255.255 192.169.0.0 126.255.255.255 128.0.0.0 223.255.255.255
      198.17.255.255 198.20.0.0 [2606:4700::1111] [2a00:1450:4001::200e]:444 [::ffff:1.1.1.1] [2003::1]`),
  )('%s is public, and nobody is asked', async (host) => {
    expect(strict().problemAsWritten(`http://${host}`)).toBeNull();
    expect(await strict().problemOf(`https://${host}`)).toBeNull();
  });
});

/**
 * By IANA: special-purpose addresses that are not globally reachable, multicast, and what was never given to anybody; and
 * anycast services of the network itself, where nobody has a receiver. Of IPv6 that is everything but 2000::/3, and in it
 * protocol assignments with Teredo, 6to4, one of those services, and two ranges for documentation.
 */
const closed = [
  ...words(`0/8 10/8 100.64/10 127/8 169.254/16 172.16/12 192.0.0/24 192.0.2/24 192.168/16 198.18/15 198.51.100/24
      203.0.113/24 224/4 240/4 192.31.196/24 192.52.193/24 192.88.99/24 192.175.48/24`).map(prefixOf),
  ...words('0:/3 4000:/2 8000:/1 2001:0/23 2001:db8/32 2002:/16 2620:4f:8000/48 3fff:/20').map(prefixOf),
];

/** A range, or a whole address, as the bits that it begins with. */
interface Prefix {
  readonly mark: '.' | ':';
  readonly bits: string;
}

function prefixOf(range: string): Prefix {
  const [start = '', length] = range.split('/');
  const mark = start.includes(':') ? ':' : '.';
  const [radix, width] = mark === '.' ? [10, 8] : [16, 16];
  const parts = start.split(mark).map((part) => Number.parseInt(part || '0', radix));
  const bits = parts.map((part) => part.toString(2).padStart(width, '0')).join('');
  return { mark, bits: bits.padEnd(128, '0').slice(0, Number(length)) };
}

function textOf({ mark, bits }: Prefix): string {
  const parts = bits.match(mark === '.' ? /.{8}/g : /.{16}/g) ?? [];
  return parts.map((part) => Number.parseInt(part, 2).toString(mark === '.' ? 10 : 16)).join(mark);
}

const isClosed = (address: Prefix) =>
  closed.some(({ mark, bits }) => mark === address.mark && address.bits.startsWith(bits));

/** Inside of a range, or in the one beside it; at its first or last address, or anywhere. */
const anyAddress = fc
  .record({
    range: fc.constantFrom(...closed, prefixOf('0/0'), prefixOf('2000:/3')),
    isBeside: fc.boolean(),
    rest: fc.oneof(
      fc.constantFrom('0'.repeat(128), '1'.repeat(128)),
      fc.array(fc.constantFrom('0', '1'), { minLength: 128, maxLength: 128 }).map((bits) => bits.join('')),
    ),
  })
  .map(({ range: { mark, bits }, isBeside, rest }): Prefix => {
    const start = isBeside ? bits.replace(/.$/, (bit) => (bit === '0' ? '1' : '0')) : bits;
    return { mark, bits: (start + rest).slice(0, mark === '.' ? 32 : 128) };
  });

/** The same IPv4 address as people and programs write it. */
function formsOf(address: string): readonly string[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  const number = ((a * 256 + b) * 256 + c) * 256 + d;
  const [octal, hex] = [8, 16].map((radix) => [a, b, c, d].map((byte) => byte.toString(radix)));
  const byByte = [`0${octal?.join('.0')}`, `0x${hex?.join('.0x')}`];
  const whole = [`${number}`, `0x${number.toString(16)}`, `0${number.toString(8)}`];
  const short = [`${a}.${b}.${c * 256 + d}`, `${a}.${(b * 256 + c) * 256 + d}`];
  return [address, `${address}.`, `[::ffff:${address}]`, ...byByte, ...whole, ...short];
}

describe('any address', () => {
  test('is refused exactly when it is in a range where nobody outside can be reached', async () => {
    await fc.assert(
      fc.asyncProperty(anyAddress, async (address) => {
        const text = textOf(address);
        for (const host of address.mark === '.' ? formsOf(text) : [`[${text}]`])
          expect(strict().problemAsWritten(`http://${host}/`) !== null, host).toBe(isClosed(address));
        const guard = strict(knowing({ 'shop.test': [text] }));
        expect((await guard.problemOf('http://shop.test/')) !== null, text).toBe(isClosed(address));
        expect((await lookup(guard, 'shop.test')).error !== null, text).toBe(isClosed(address));
      }),
      { numRuns: 2_000 },
    );
  });

  test('no text at all makes the guard throw, and what it accepts is http without credentials', async () => {
    const part = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constantFrom(...words('http: https: // @ [ ] : 127.0.0.1 %00 \\\\ . shop.test')),
    );
    const texts = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const problem = await strict(knowing({})).problemOf(text);
        if (problem === null) {
          const { protocol, username, password } = new URL(text);
          expect([protocol.replace('s', ''), username, password]).toEqual(['http:', '', '']);
        } else expect(problem).toMatch(/^\S.*\.$/s);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe.each([
  ['a guard of a server', strict],
  ['a guard of a laptop', lenient],
])('%s refuses', (_name, guard) => {
  test.each([
    ...['', ' ', 'http://a b/'],
    ...words(`example.com example.com/hook //example.com /hook http:// https:// http:/// http://:80/ http://1.2.3.4.5/
      http://256.1.1.1/ http://1.1.1.1:65536/ http://[::1 http://[fe80::1%25eth0]/ http://[fe80::1%eth0]/ http://%00/
      http://exa%2fmple.com/ http://xn--a.test/ http://0x100000000/ http://127.0.0.1.1/ http://[::1].test/`),
  ])('the unreadable "%s"', async (url) => {
    expect(await guard().problemOf(url)).toMatch(/^The URL cannot be read\./);
  });

  test.each(
    words(`file:///etc/passwd file://127.0.0.1/etc/passwd ftp://1.1.1.1/ gopher://1.1.1.1:70/_x javascript:alert(1)
      data:text/plain,x ws://1.1.1.1/ wss://1.1.1.1/ ldap://1.1.1.1/ dict://1.1.1.1:11211/ blob:http://1.1.1.1/x
      about:blank mailto:a@example.com unix:/run/x.sock http+unix://%2frun%2fx.sock/ jar:http://1.1.1.1!/
      localhost:4000/hook view-source:http://1.1.1.1`),
  )('the scheme of "%s"', async (url) => {
    expect(await guard().problemOf(url)).toMatch(/and only http and https are sent to\.$/);
  });

  test.each(
    words(`http://user@1.1.1.1/ http://user:word@1.1.1.1/ http://:word@1.1.1.1/ https://user%40x:w@1.1.1.1/
      http://1.1.1.1@127.0.0.1/ http://1.1.1.1:80@127.0.0.1/ http://1.1.1.1%2f@127.0.0.1/ http:a@b/`),
  )('the credentials in "%s", and does not repeat them', async (url) => {
    expect(await guard().problemOf(url)).toBe(
      'The URL holds credentials. Leave them out: every request is signed.',
    );
  });
});

describe('a very long URL is answered at once, without an exception', () => {
  test.each([
    ['path', `http://127.0.0.1/${'a'.repeat(1_000_000)}`],
    ['address', `http://[${'0:'.repeat(500_000)}1]/`],
    ['scheme', `${'a'.repeat(1_000_000)}://1.1.1.1/`],
  ])('in its %s', async (_where, url) => {
    const startedAt = performance.now();
    expect(await strict().problemOf(url)).not.toBeNull();
    expect(performance.now() - startedAt).toBeLessThan(9_000);
  });
});

describe('a laptop', () => {
  test('sends to its neighbours, asks nobody when it saves, and connects to whatever a name resolves to', async () => {
    for (const hosts of Object.values(privateHosts))
      for (const host of hosts) expect(await lenient().problemOf(`http://${host}/`), host).toBeNull();
    expect(await lenient().problemOf('http://localhost:3000/hook')).toBeNull();
    const guard = lenient(knowing({ localhost: ['127.0.0.1', '::1'] }));
    expect((await lookup(guard, 'localhost')).address).toEqual(found('127.0.0.1', '::1'));
  });
});

describe('a name', () => {
  afterEach(() => {
    vi.useRealTimers();
  });
  const url = 'https://shop.test/hook';

  test.each(words('93.184.215.14 2606:4700::1111 93.184.215.14,2606:4700::1111'))(
    'that resolves to %s is accepted and connected to',
    async (addresses) => {
      const guard = strict(knowing({ 'shop.test': addresses.split(',') }));
      expect(await guard.problemOf(url)).toBeNull();
      expect((await lookup(guard, 'shop.test')).address).toEqual(found(...addresses.split(',')));
    },
  );

  test.each([
    ...words('127.0.0.1 ::1 10.0.0.1,fd00::1 ::ffff:127.0.0.1 ::ffff:a9fe:a9fe 64:ff9b::7f00:1'),
    ...['fe80::1%eth0', '0.0.0.0', 'not an address', ''],
  ])('that resolves to %s is refused when it is saved and when it is connected to', async (addresses) => {
    const guard = strict(knowing({ 'shop.test': addresses.split(',') }));
    expect(await guard.problemOf(url)).toMatch(notPublic);
    const { error, address } = await lookup(guard, 'shop.test');
    expect(error).toBeInstanceOf(AddressRefused);
    expect([error?.message, address]).toEqual([expect.stringMatching(notPublic), '']);
  });

  test('of mixed addresses only the public ones are handed on', async () => {
    const addresses = ['127.0.0.1', '93.184.215.14', '::1', '2606:4700::1111', '10.0.0.1'];
    const guard = strict(knowing({ 'shop.test': addresses }));
    expect(await guard.problemOf(url)).toBeNull();
    const all = found('93.184.215.14', '2606:4700::1111');
    expect(await lookup(guard, 'shop.test')).toMatchObject({ error: null, address: all });
    expect(await lookup(guard, 'shop.test', {})).toEqual({ error: null, ...all[0] });
    expect(await lookup(guard, 'shop.test', { family: 6 })).toEqual({ error: null, ...all[1] });
    const onlyOld = strict(knowing({ 'shop.test': ['93.184.215.14', 'fd00::1'] }));
    expect((await lookup(onlyOld, 'shop.test', { family: 6 })).error).toBeInstanceOf(AddressRefused);
  });

  test('that is not known now, or resolves to nothing, is accepted and not connected to', async () => {
    const guard = strict(knowing({ 'empty.test': [] }));
    expect(await guard.problemOf(url)).toBeNull();
    expect(await guard.problemOf('http://empty.test')).toBeNull();
    expect(await lookup(guard, 'shop.test')).toMatchObject({ error: { code: 'ENOTFOUND' }, address: '' });
    const { error } = await lookup(guard, 'empty.test');
    expect(error).toBeInstanceOf(AddressRefused);
    expect(error?.message).toMatch(/^empty\.test does not resolve to a public address/);
  });

  test('is looked up once for each connection: saved while public, it is refused when it has become private', async () => {
    const answers = words('93.184.215.14 127.0.0.1 93.184.215.14 169.254.169.254');
    const guard = strict((_host, _options, callback) => callback(null, found(answers.shift() ?? '')));
    expect(await guard.problemOf(url)).toBeNull();
    expect((await lookup(guard, 'shop.test')).error).toBeInstanceOf(AddressRefused);
    expect(await lookup(guard, 'shop.test')).toMatchObject({ error: null, address: found('93.184.215.14') });
    expect((await lookup(guard, 'shop.test')).error).toBeInstanceOf(AddressRefused);
    expect(answers).toEqual([]);
  });

  test.each(
    words('localhost LOCALHOST localhost. foo.localhost ｌｏｃａｌｈｏｓｔ 127.0.0.1.nip.test %6cocalhost'),
  )('such as %s is judged by what it resolves to', async (host) => {
    const asked: string[] = [];
    const guard = strict((name, _options, callback) => {
      asked.push(name);
      callback(null, found('127.0.0.1'));
    });
    expect(await guard.problemOf(`http://${host}/`)).toMatch(notPublic);
    expect(asked).toEqual([new URL(`http://${host}/`).hostname]);
  });

  test('that nobody answers for is waited for two seconds when it is saved, and its late answer is nobody’s', async () => {
    vi.useFakeTimers();
    let answer: (() => void) | undefined;
    const guard = strict((_host, _options, callback) => {
      answer = () => callback(null, found('127.0.0.1'));
    });
    let problem: string | null | undefined;
    const asked = guard.problemOf(url).then((said) => {
      problem = said;
    });
    await vi.advanceTimersByTimeAsync(1_990);
    expect(problem).toBeUndefined();
    await vi.advanceTimersByTimeAsync(20);
    expect(problem).toBeNull();
    answer?.();
    await asked;
    expect(problem).toBeNull();
    expect(vi.getTimerCount()).toBe(0);
  });
});
