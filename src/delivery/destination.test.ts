import { describe, expect, test } from 'vitest';
import { destinationOf } from './destination.ts';

describe('the destination of a URL', () => {
  test.each([
    ['https://example.com/a', 'https://EXAMPLE.com.:8443/b'],
    ['http://93.184.216.34/', 'http://0x5db8d822/'],
    ['http://93.184.216.34/', 'http://[::ffff:93.184.216.34]/'],
    ['http://[2606:4700::1111]/', 'http://[2606:4700:0:0::1111]:8443/'],
    ['http://localhost:3000/a', 'http://localhost.:3000/b'],
    ['http://127.0.0.1:3000/', 'http://[::ffff:127.0.0.1]:3000/'],
  ])('%s is that of %s', (one, other) => {
    expect(destinationOf(one)).toEqual(destinationOf(other));
  });

  test.each([
    ['https://example.com/', 'https://www.example.com/'],
    ['http://127.0.0.1:3000/', 'http://127.0.0.1:3001/'],
    ['http://[::1]:3000/', 'http://localhost:3000/'],
  ])('%s is not that of %s', (one, other) => {
    expect(destinationOf(one)).not.toEqual(destinationOf(other));
  });

  test.each([
    'http://localhost',
    'http://a.localhost.',
    'http://127.9.9.9',
    'http://[::1]',
    'http://[::ffff:127.0.0.1]',
  ])('%s is on loopback', (url) => {
    expect(destinationOf(url).isLoopback).toBe(true);
  });
});
