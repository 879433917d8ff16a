import { describe, expect, test } from 'vitest';
import { refuseOrigin } from './console-origin.ts';

const own = 'https://sandbank.example';

/** The code of the refusal, undefined when the request is allowed. */
function check(method: string, headers: Record<string, string>, publicUrl = own): string | undefined {
  return refuseOrigin(method, headers, publicUrl)?.code;
}

describe('without an Origin header', () => {
  test.each([
    ['GET', undefined, true],
    ['HEAD', undefined, true],
    ['POST', undefined, false],
    ['DELETE', undefined, false],
    ['GET', 'same-origin', true],
    ['POST', 'same-origin', true],
    ['GET', 'none', true],
    ['HEAD', 'none', true],
    ['POST', 'none', false],
    ['GET', 'same-site', false],
    ['GET', 'cross-site', false],
    ['POST', 'cross-site', false],
    ['GET', '', false],
  ])('%s with Sec-Fetch-Site %s: allowed is %s', (method, site, isAllowed) => {
    const headers: Record<string, string> = site === undefined ? {} : { 'sec-fetch-site': site };
    expect(check(method, headers)).toBe(isAllowed ? undefined : 'origin_not_allowed');
  });
});

describe('with an Origin header', () => {
  test.each([
    ['the public URL', own, 'sandbank.example', true],
    ['the public URL with its default port', `${own}:443`, 'sandbank.example', true],
    ['the public URL, although a proxy changed the host', own, '10.0.0.7:4000', true],
    ['another port', `${own}:8443`, 'sandbank.example', false],
    ['plain HTTP on the public host', 'http://sandbank.example', 'sandbank.example', false],
    ['another host over plain HTTP', 'http://localhost:4000', 'localhost:4000', true],
    ['another host over HTTPS', 'https://localhost:4000', 'localhost:4000', false],
    ['another port of another host', 'http://localhost:4001', 'localhost:4000', false],
    ['an unrelated site', 'https://evil.example', 'sandbank.example', false],
    ['a sandboxed page', 'null', 'sandbank.example', false],
    ['something that is not a URL', 'sandbank.example', 'sandbank.example', false],
    ['a file', 'file:///etc', 'sandbank.example', false],
    ['no Host header', 'http://localhost:4000', undefined, false],
    ['a host with a path', 'http://localhost', 'localhost/x', false],
    ['a host with credentials', 'http://localhost', 'x@localhost', false],
    ['an empty host', 'http://localhost', '', false],
  ])('%s', (_what, origin, host, isAllowed) => {
    const headers: Record<string, string> = { origin, ...(host === undefined ? {} : { host }) };
    for (const method of ['GET', 'POST'])
      expect(check(method, headers)).toBe(isAllowed ? undefined : 'origin_not_allowed');
  });

  test('a matching origin does not admit a request that the browser calls cross-site', () => {
    expect(check('POST', { origin: own, 'sec-fetch-site': 'cross-site' })).toBe('origin_not_allowed');
  });

  test('a public URL that is not a URL leaves the host of the request', () => {
    const headers = { origin: 'http://localhost:4000', host: 'localhost:4000' };
    expect(check('POST', headers, 'not a url')).toBeUndefined();
    expect(check('POST', { ...headers, origin: 'http://evil.example' }, 'not a url')).toBe(
      'origin_not_allowed',
    );
  });
});
