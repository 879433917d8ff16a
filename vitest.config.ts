import { defineConfig } from 'vitest/config';
import { SlowestFirst } from './test/support/slowest-first.ts';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // Processes, not threads: a test that holds a WebAssembly database gives all its memory back when it ends.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    globalSetup: ['test/support/global-setup.ts'],
    sequence: { sequencer: SlowestFirst },
    setupFiles: ['test/support/contract-setup.ts'],
    reporters: ['default'],
  },
});
