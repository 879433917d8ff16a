import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { Progress } from './test/support/progress.ts';

/**
 * The four tiers of the suite, fastest first. A test belongs to the fastest tier that can hold its guarantee:
 *
 * - `unit`: pure code, in memory. No server, no database, no process.
 * - `api`: a server in the test process, on PGlite and on PostgreSQL. Files of one worker share servers and modules.
 * - `process`: real server processes, signals, kills, the command line.
 * - `browser`: the console and the documentation in Chromium.
 */
const unit = ['src/**/*.test.ts', 'console/**/*.test.ts', 'test/{tidy,ledger,model,unit}/**/*.test.ts'];
const api = [
  'test/{api,console,contract,db,docs,engine,examiner,operator,sdk,security,workers}/**/*.test.ts',
  'test/golden.test.ts',
  'test/simulation/model.test.ts',
];
const browser = ['test/browser/**/*.test.ts'];

// Each has databases and servers of its own: more of them need more memory than a laptop has.
const workers = Math.min(availableParallelism(), 4);

const withDatabase = {
  globalSetup: ['test/support/global-setup.ts'],
  setupFiles: ['test/support/waits.ts', 'test/support/contract-setup.ts'],
};

export default defineConfig({
  test: {
    // Processes, not threads: a WebAssembly database frees its memory only when the process ends.
    pool: 'forks',
    maxWorkers: workers,
    // For tests that hang only: on a busy machine each takes many times as long.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    setupFiles: ['test/support/waits.ts'],
    // Output of passed tests is not shown.
    silent: 'passed-only',
    reporters: [new Progress()],
    projects: [
      { extends: true, test: { name: 'unit', include: unit, isolate: false } },
      { extends: true, test: { name: 'api', include: api, isolate: false, ...withDatabase } },
      {
        extends: true,
        test: {
          name: 'process',
          include: ['test/**/*.test.ts'],
          exclude: [...unit, ...api, ...browser],
          ...withDatabase,
        },
      },
      { extends: true, test: { name: 'browser', include: browser, ...withDatabase } },
    ],
  },
});
