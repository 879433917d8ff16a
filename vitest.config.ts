import { defineConfig } from 'vitest/config';
import { SlowestFirst } from './test/support/slowest-first.ts';

/**
 * Tests that only ask a server of their own share a process with those before them: reading all modules anew took each of these
 * files about three seconds, which was a quarter of the whole run. Those that start servers, take a browser, or look at what a
 * process has loaded, have one to themselves.
 */
const folders = [
  ...['api', 'cli', 'console', 'contract', 'db', 'engine', 'examiner', 'ledger', 'operator', 'sdk'],
  ...['security', 'workers'],
];
const together = [
  'src/**/*.test.ts',
  'console/**/*.test.ts',
  ...folders.map((folder) => `test/${folder}/**/*.test.ts`),
];
const apart = [
  ...['test/sdk/package.test.ts', 'test/sdk/guide.test.ts', 'test/sdk/generator.test.ts'],
  'test/security/secrets.test.ts',
];

export default defineConfig({
  test: {
    // Processes, not threads: a test that holds a WebAssembly database gives all its memory back when it ends.
    pool: 'forks',
    maxWorkers: 2,
    // For tests that hang only: on a busy machine each takes many times as long.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    globalSetup: ['test/support/global-setup.ts'],
    sequence: { sequencer: SlowestFirst },
    setupFiles: ['test/support/contract-setup.ts'],
    reporters: ['default'],
    projects: [
      {
        extends: true,
        test: {
          name: 'apart',
          include: ['test/*.test.ts', `test/!(${folders.join('|')})/**/*.test.ts`, ...apart],
        },
      },
      { extends: true, test: { name: 'together', include: together, exclude: apart, isolate: false } },
    ],
  },
});
