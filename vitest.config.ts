import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // Processes, not threads: a test that holds a WebAssembly database gives all its memory back when it ends.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/contract-setup.ts'],
    reporters: ['default'],
  },
});
