import { expect, test } from 'vitest';
import { targetUrl } from '../../cli/forward.ts';

test.each([
  ['http://127.0.0.1:3000/hook', 'http://127.0.0.1:3000/hook'],
  ['https://example.test', 'https://example.test'],
  ['localhost:3000/hook', 'http://localhost:3000/hook'],
  ['localhost/hook', 'http://localhost/hook'],
  ['web:3000/hook?a=b', 'http://web:3000/hook?a=b'],
  ['example.test/hook', 'http://example.test/hook'],
  ['[::1]:3000/hook', 'http://[::1]:3000/hook'],
  ['3000/hook', 'http://127.0.0.1:3000/hook'],
  ['3000', 'http://127.0.0.1:3000/'],
  [':3000', 'http://127.0.0.1:3000/'],
  [':3000/hook', 'http://127.0.0.1:3000/hook'],
])('listen forwards %s to %s', (text, url) => {
  expect(targetUrl(text)).toBe(url);
});

test.each(['', 'hook', 'hook/', '/hook', 'ftp://localhost/', 'localhost:99999/', ':', '70000', 'a b:3000'])(
  'listen rejects %j as a target',
  (text) => {
    expect(targetUrl(text)).toBeUndefined();
  },
);
