import type { LookupAddress, LookupOptions } from 'node:dns';
import { isIP } from 'node:net';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { AddressGuard, type AddressGuardSettings, AddressRefused } from '../../src/delivery/address-guard.ts';
import { privateHosts } from '../security/private-hosts.ts';

const split = (text: string): string[] => text.trim().split(/\s+/);

type Resolve = NonNullable<AddressGuardSettings['resolve']>;

const found = (...addresses: readonly string[]): LookupAddress[] =>
  addresses.map((address) => ({ address, family: isIP(address) }));

/** A resolver for these names only. */
const resolving =
  (names: Readonly<Record<string, readonly string[]>>): Resolve =>
  (host, _options, callback) => {
    const addresses = names[host];
    const unknown = Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' });
    setImmediate(() => (addresses ? callback(null, found(...addresses)) : callback(unknown, [])));
  };

const noLookup: Resolve = (host) => {
  throw new Error(`unexpected lookup of ${host}`);
};

const strict = (resolve: Resolve = noLookup) => new AddressGuard({ allowsPrivate: false, resolve });
const lenient = (resolve: Resolve = noLookup) => new AddressGuard({ allowsPrivate: true, resolve });

/** The lookup result for a connection: addresses, or the error. */
function lookup(guard: AddressGuard, host: string, options: LookupOptions = { all: true }) {
  return new Promise<{ error: Error | null; address: unknown; family: number | undefined }>((resolve) => {
    guard.lookup(host, options, (error, address, family) => resolve({ error, address, family }));
  });
}

const notPublic = /(is not|does not resolve to) a public address, and this server sends only to those\.$/;

/** Variants of slashes, case, whitespace, port and path that do not change the target. */
const wrappings: readonly ((host: string) => string)[] = [
  (host) => `http://${host}`,
  (host) => `https://${host}:8443/hook?a=b#c`,
  (host) => ` \tHTTP://${host}/\n`,
  (host) => `http:\\\\${host}\\hook`,
  (host) => `ht\ntp:${host}/`,
  (host) => `http://@${host}/`,
];

describe('an IP address in the URL', () => {
  test.each(Object.entries(privateHosts))('is rejected for %s in every form of the URL', async (_, hosts) => {
    for (const host of hosts) {
      for (const wrapped of wrappings.map((wrap) => wrap(host))) {
        expect.soft(strict().problemAsWritten(wrapped), wrapped).toMatch(notPublic);
        expect.soft(await strict().problemOf(wrapped), wrapped).toMatch(notPublic);
      }
    }
  });

  test.each(
    split(
      '168.63.129.16 192.80.8.124 [::ffff:168.63.129.16] 192.0.0.192 100.100.100.200 169.254.170.2 [fd00:ec2::254] [fd20:ce::254]',
    ),
  )('of a cloud provider service, such as %s, is rejected', async (host) => {
    expect(await strict().problemOf(`http://${host}/metadata`)).toMatch(notPublic);
    const address = host.replace(/[[\]]/g, '');
    const guard = strict(resolving({ 'shop.test': [address] }));
    expect(await guard.problemOf('http://shop.test/')).toMatch(notPublic);
    expect((await lookup(guard, 'shop.test')).error).toBeInstanceOf(AddressRefused);
  });

  test('the error names the normalized address of the URL, and no address from DNS', async () => {
    const guard = strict(resolving({ 'shop.test': ['10.9.8.7', 'fd00::7'] }));
    const sentence = 'shop.test does not resolve to a public address, and this server sends only to those.';
    expect(await guard.problemOf('https://shop.test/hook')).toBe(sentence);
    expect((await lookup(guard, 'shop.test')).error?.message).toBe(sentence);
    expect(await strict().problemOf('http://0177.0.0.1/')).toBe(
      '127.0.0.1 is not a public address, and this server sends only to those.',
    );
    expect(await strict().problemOf('http://[0:0::1]/')).toMatch(/^::1 is not a public address/);
  });

  test.each(
    split(`1.1.1.1 1.1.1.1:8443/hook?a=b 16843009 8.8.8.8 9.255.255.255 11.0.0.0 172.15.255.255 172.32.0.0 100.63.255.255
      100.128.0.0 169.253.255.255 169.255.0.0 192.167.255.255 192.169.0.0 126.255.255.255 128.0.0.0 223.255.255.255
      198.17.255.255 198.20.0.0 [2606:4700::1111] [2a00:1450:4001::200e]:444 [::ffff:1.1.1.1] [2003::1]`),
  )('%s is public, and needs no DNS lookup', async (host) => {
    expect(strict().problemAsWritten(`http://${host}`)).toBeNull();
    expect(await strict().problemOf(`https://${host}`)).toBeNull();
  });
});

/**
 * According to IANA: special-purpose addresses that are not globally reachable, multicast, unassigned space, and anycast
 * infrastructure services, where no receiver runs. For IPv6: everything outside 2000::/3, and inside it protocol assignments with
 * Teredo, 6to4, one anycast service, and two documentation ranges.
 */
const closed = [
  ...split(`0/8 10/8 100.64/10 127/8 169.254/16 172.16/12 192.0.0/24 192.0.2/24 192.168/16 198.18/15 198.51.100/24
      203.0.113/24 224/4 240/4 192.31.196/24 192.52.193/24 192.88.99/24 192.175.48/24`).map(prefixOf),
  ...split('0:/3 4000:/2 8000:/1 2001:0/23 2001:db8/32 2002:/16 2620:4f:8000/48 3fff:/20').map(prefixOf),
];

/** A range or a complete address as its leading bits. */
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

/** Inside a range or the adjacent one: its first, its last or any address. */
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

/** Notations of the same IPv4 address. */
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
  test('is rejected exactly when it is in a range that is not publicly reachable', async () => {
    await fc.assert(
      fc.asyncProperty(anyAddress, async (address) => {
        const text = textOf(address);
        for (const host of address.mark === '.' ? formsOf(text) : [`[${text}]`])
          expect(strict().problemAsWritten(`http://${host}/`) !== null, host).toBe(isClosed(address));
        const guard = strict(resolving({ 'shop.test': [text] }));
        expect((await guard.problemOf('http://shop.test/')) !== null, text).toBe(isClosed(address));
        expect((await lookup(guard, 'shop.test')).error !== null, text).toBe(isClosed(address));
      }),
      { numRuns: 2_000 },
    );
  });

  test('no input makes the guard throw, and it accepts only http(s) URLs without credentials', async () => {
    const part = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constantFrom(...split('http: https: // @ [ ] : 127.0.0.1 %00 \\\\ . shop.test')),
    );
    const texts = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const problem = await strict(resolving({})).problemOf(text);
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
  ['the guard of a public server', strict],
  ['the guard of a local server', lenient],
])('%s rejects', (_name, guard) => {
  test.each([
    ...['', ' ', 'http://a b/'],
    ...split(`example.com example.com/hook //example.com /hook http:// https:// http:/// http://:80/ http://1.2.3.4.5/
      http://256.1.1.1/ http://1.1.1.1:65536/ http://[::1 http://[fe80::1%25eth0]/ http://[fe80::1%eth0]/ http://%00/
      http://exa%2fmple.com/ http://xn--a.test/ http://0x100000000/ http://127.0.0.1.1/ http://[::1].test/`),
  ])('the unreadable "%s"', async (url) => {
    expect(await guard().problemOf(url)).toMatch(/^The URL is not valid\./);
  });

  test.each(
    split(`file:///etc/passwd file://127.0.0.1/etc/passwd ftp://1.1.1.1/ gopher://1.1.1.1:70/_x javascript:alert(1)
      data:text/plain,x ws://1.1.1.1/ wss://1.1.1.1/ ldap://1.1.1.1/ dict://1.1.1.1:11211/ blob:http://1.1.1.1/x
      about:blank mailto:a@example.com unix:/run/x.sock http+unix://%2frun%2fx.sock/ jar:http://1.1.1.1!/
      localhost:4000/hook view-source:http://1.1.1.1`),
  )('the scheme of "%s"', async (url) => {
    expect(await guard().problemOf(url)).toMatch(/is not supported\. Use http or https\.$/);
  });

  test.each(
    split(`http://user@1.1.1.1/ http://user:word@1.1.1.1/ http://:word@1.1.1.1/ https://user%40x:w@1.1.1.1/
      http://1.1.1.1@127.0.0.1/ http://1.1.1.1:80@127.0.0.1/ http://1.1.1.1%2f@127.0.0.1/ http:a@b/`),
  )('the credentials in "%s", and does not repeat them', async (url) => {
    expect(await guard().problemOf(url)).toBe(
      'The URL contains credentials. Remove them: every request is signed.',
    );
  });
});

describe('a very long URL is rejected fast, without an exception', () => {
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

describe('a local server', () => {
  test('accepts private addresses, saves without a DNS lookup, and connects to any resolved address', async () => {
    for (const hosts of Object.values(privateHosts))
      for (const host of hosts) expect(await lenient().problemOf(`http://${host}/`), host).toBeNull();
    expect(await lenient().problemOf('http://localhost:3000/hook')).toBeNull();
    const guard = lenient(resolving({ localhost: ['127.0.0.1', '::1'] }));
    expect((await lookup(guard, 'localhost')).address).toEqual(found('127.0.0.1', '::1'));
  });
});

describe('a host name', () => {
  afterEach(() => {
    vi.useRealTimers();
  });
  const url = 'https://shop.test/hook';

  test.each(split('93.184.215.14 2606:4700::1111 93.184.215.14,2606:4700::1111'))(
    'that resolves to %s is accepted and connected to',
    async (addresses) => {
      const guard = strict(resolving({ 'shop.test': addresses.split(',') }));
      expect(await guard.problemOf(url)).toBeNull();
      expect((await lookup(guard, 'shop.test')).address).toEqual(found(...addresses.split(',')));
    },
  );

  test.each([
    ...split(
      '127.0.0.1 ::1 10.0.0.1,fd00::1 ::ffff:127.0.0.1 ::ffff:a9fe:a9fe 64:ff9b::7f00:1 ::3.0.0.0 1.0',
    ),
    ...['fe80::1%eth0', '0.0.0.0', 'not an address', ''],
  ])('that resolves to %s is rejected when it is saved and when it is connected to', async (addresses) => {
    const guard = strict(resolving({ 'shop.test': addresses.split(',') }));
    expect(await guard.problemOf(url)).toMatch(notPublic);
    const { error, address } = await lookup(guard, 'shop.test');
    expect(error).toBeInstanceOf(AddressRefused);
    expect([error?.message, address]).toEqual([expect.stringMatching(notPublic), '']);
  });

  test('with mixed addresses connects to the public ones only', async () => {
    const addresses = ['127.0.0.1', '93.184.215.14', '::1', '2606:4700::1111', '10.0.0.1'];
    const guard = strict(resolving({ 'shop.test': addresses }));
    expect(await guard.problemOf(url)).toBeNull();
    const all = found('93.184.215.14', '2606:4700::1111');
    expect(await lookup(guard, 'shop.test')).toMatchObject({ error: null, address: all });
    expect(await lookup(guard, 'shop.test', {})).toEqual({ error: null, ...all[0] });
    expect(await lookup(guard, 'shop.test', { family: 6 })).toEqual({ error: null, ...all[1] });
    const onlyIpv4 = strict(resolving({ 'shop.test': ['93.184.215.14', 'fd00::1'] }));
    expect((await lookup(onlyIpv4, 'shop.test', { family: 6 })).error).toBeInstanceOf(AddressRefused);
  });

  test('that does not resolve, or has no addresses, is saved but not connected to', async () => {
    const guard = strict(resolving({ 'empty.test': [] }));
    expect(await guard.problemOf(url)).toBeNull();
    expect(await guard.problemOf('http://empty.test')).toBeNull();
    expect(await lookup(guard, 'shop.test')).toMatchObject({ error: { code: 'ENOTFOUND' }, address: '' });
    const { error } = await lookup(guard, 'empty.test');
    expect(error).toBeInstanceOf(AddressRefused);
    expect(error?.message).toMatch(/^empty\.test does not resolve to a public address/);
  });

  test('is resolved for each connection: saved while public, it is rejected once it is private', async () => {
    const answers = split('93.184.215.14 127.0.0.1 93.184.215.14 169.254.169.254');
    const guard = strict((_host, _options, callback) => callback(null, found(answers.shift() ?? '')));
    expect(await guard.problemOf(url)).toBeNull();
    expect((await lookup(guard, 'shop.test')).error).toBeInstanceOf(AddressRefused);
    expect(await lookup(guard, 'shop.test')).toMatchObject({ error: null, address: found('93.184.215.14') });
    expect((await lookup(guard, 'shop.test')).error).toBeInstanceOf(AddressRefused);
    expect(answers).toEqual([]);
  });

  test.each(
    split('localhost LOCALHOST localhost. foo.localhost ｌｏｃａｌｈｏｓｔ 127.0.0.1.nip.test %6cocalhost'),
  )('such as %s is checked by its resolved address', async (host) => {
    const lookups: string[] = [];
    const guard = strict((name, _options, callback) => {
      lookups.push(name);
      callback(null, found('127.0.0.1'));
    });
    expect(await guard.problemOf(`http://${host}/`)).toMatch(notPublic);
    expect(lookups).toEqual([new URL(`http://${host}/`).hostname]);
  });

  test('without a DNS response is saved after two seconds, and a late response is ignored', async () => {
    vi.useFakeTimers();
    let answer: (() => void) | undefined;
    const guard = strict((_host, _options, callback) => {
      answer = () => callback(null, found('127.0.0.1'));
    });
    let problem: string | null | undefined;
    const pending = guard.problemOf(url).then((result) => {
      problem = result;
    });
    await vi.advanceTimersByTimeAsync(1_990);
    expect(problem).toBeUndefined();
    await vi.advanceTimersByTimeAsync(20);
    expect(problem).toBeNull();
    answer?.();
    await pending;
    expect(problem).toBeNull();
    expect(vi.getTimerCount()).toBe(0);
  });
});
