import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { Progress } from './test/support/progress.ts';
import { LongestFirst } from './test/support/sequencer.ts';

/**
 * The four tiers of the suite, fastest first. A test belongs to the fastest tier that can hold its guarantee:
 *
 * - `unit`: pure code, in memory. No server, no database, no process.
 * - `api`: a server in the test process, on PGlite and on PostgreSQL. Files of one worker share servers and modules.
 * - `process`: real server processes, signals, kills, the command line. Files of one worker share modules.
 * - `browser`: the console and the documentation in Chromium.
 *
 * `npm test` leaves `tools` out: client generators, linters and request runners of other authors, which it installs itself.
 */
const unit = [
  'src/**/*.test.ts',
  'console/**/*.test.ts',
  'test/{tidy,ledger,model,unit}/**/*.test.ts',
  'test/simulation/memory.test.ts',
];
const api = [
  'test/{api,console,contract,db,docs,engine,examiner,operator,sdk,security,workers}/**/*.test.ts',
  'test/golden.test.ts',
  'test/simulation/model.test.ts',
];
const browser = ['test/browser/**/*.test.ts'];
const tools = ['test/tools/**/*.test.ts'];

const cores = Math.min(availableParallelism(), 4);
/**
 * Tests of the `api` tier wait now and then, for a time-out or a lease: one more worker uses the processor meanwhile. In the `process` tier
 * each file runs several servers, and more of them at once only make servers answer 503.
 */
const workers = { usual: cores, api: cores + 1 };

/** Tiers have different numbers of workers, so a run that touches several must take one after the other. */
const sequence = (groupOrder: number) => ({ groupOrder });

const withDatabase = {
  globalSetup: ['test/support/global-setup.ts'],
  setupFiles: ['test/support/waits.ts', 'test/support/contract-setup.ts'],
};

export default defineConfig({
  test: {
    // Processes, not threads: a WebAssembly database frees its memory only when the process ends.
    pool: 'forks',
    maxWorkers: workers.usual,
    // For tests that hang only: on a busy machine each takes many times as long.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 240_000 } },
    setupFiles: ['test/support/waits.ts'],
    // Output of passed tests is not shown.
    silent: 'passed-only',
    reporters: [new Progress()],
    sequence: { sequencer: LongestFirst },
    projects: [
      { extends: true, test: { name: 'unit', include: unit, isolate: false, sequence: sequence(0) } },
      {
        extends: true,
        test: {
          name: 'api',
          sequence: sequence(1),
          include: api,
          isolate: false,
          maxWorkers: workers.api,
          // V8 would optimize PGlite for each of some 100 servers that live for seconds: a tenth of the tier's time.
          execArgv: ['--wasm-tiering-budget=100000000'],
          ...withDatabase,
        },
      },
      {
        extends: true,
        test: {
          name: 'process',
          sequence: sequence(2),
          include: ['test/**/*.test.ts'],
          exclude: [...unit, ...api, ...browser, ...tools],
          isolate: false,
          ...withDatabase,
        },
      },
      { extends: true, test: { name: 'browser', include: browser, sequence: sequence(3), ...withDatabase } },
      { extends: true, test: { name: 'tools', include: tools, sequence: sequence(4), ...withDatabase } },
    ],
  },
});
