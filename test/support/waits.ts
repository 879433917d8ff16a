import { vi } from 'vitest';

/** Waits are limited for hangs only. By default vitest gives up after a second, which a busy machine needs for a single request. */
const msMax = 240_000;

const { waitFor, waitUntil } = vi;
vi.waitFor = (callback, options = {}) => waitFor(callback, withLimit(options));
vi.waitUntil = (callback, options = {}) => waitUntil(callback, withLimit(options));

function withLimit<Options extends { timeout?: number }>(options: number | Options): number | Options {
  return typeof options === 'number' ? options : { timeout: msMax, ...options };
}
