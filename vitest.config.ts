import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { Progress } from './test/support/progress.ts';
import { LongestFirst } from './test/support/sequencer.ts';

/**
 * The five tiers of the suite, fastest first. A test belongs to the fastest tier that can check its guarantee:
 *
 * - `unit`: pure code, in memory. No server, no database, no process.
 * - `fuzz`: parsers and guards with random inputs, five seconds each. `npm run test:fuzz` runs them longer.
 * - `api`: a server in the test process, on PGlite and PostgreSQL. Files of one worker share servers and modules.
 * - `process`: real server processes, signals, crashes, the command line. Files of one worker share modules.
 * - `browser`: the console and the documentation in Chromium.
 *
 * `npm test` does not run `tools`: third-party client generators, linters and request runners, which that tier installs.
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
const fuzz = ['test/fuzz/*.test.ts'];
const browser = ['test/browser/**/*.test.ts'];
const tools = ['test/tools/**/*.test.ts'];

const cores = Math.min(availableParallelism(), 4);
/**
 * Tests of the `api` tier sometimes wait for a timeout or a lease; one more worker uses the CPU meanwhile. In the `process` tier each
 * file runs several servers, and more files at once only cause 503 responses.
 */
const workers = { usual: cores, api: cores + 1 };

/** Tiers have different numbers of workers, so a run with several tiers must run them sequentially. */
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
    // Only for hanging tests: on a busy machine each test takes many times as long.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 240_000 } },
    setupFiles: ['test/support/waits.ts'],
    // Hide the output of passed tests.
    silent: 'passed-only',
    reporters: [new Progress()],
    sequence: { sequencer: LongestFirst },
    projects: [
      { extends: true, test: { name: 'unit', include: unit, isolate: false, sequence: sequence(0) } },
      // Isolated: coverage has only the code of the own target.
      {
        extends: true,
        test: {
          name: 'fuzz',
          include: fuzz,
          sequence: sequence(1),
          execArgv: ['--wasm-tiering-budget=100000000'],
        },
      },
      {
        extends: true,
        test: {
          name: 'api',
          sequence: sequence(2),
          include: api,
          isolate: false,
          maxWorkers: workers.api,
          // V8 would optimize PGlite for each of about 100 servers that live for seconds: a tenth of the tier's time.
          execArgv: ['--wasm-tiering-budget=100000000'],
          ...withDatabase,
        },
      },
      {
        extends: true,
        test: {
          name: 'process',
          sequence: sequence(3),
          include: ['test/**/*.test.ts'],
          exclude: [...unit, ...fuzz, ...api, ...browser, ...tools],
          isolate: false,
          ...withDatabase,
        },
      },
      { extends: true, test: { name: 'browser', include: browser, sequence: sequence(4), ...withDatabase } },
      { extends: true, test: { name: 'tools', include: tools, sequence: sequence(5), ...withDatabase } },
    ],
  },
});
