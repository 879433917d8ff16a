import fc from 'fast-check';
import { afterAll, afterEach } from 'vitest';
import { breaches, met, metInConsole } from './contract-tally.ts';
import { seenCodes } from './error-codes.ts';
import { reportFailure } from './failure-report.ts';
import { expectRestricted } from './named-statements.ts';
import { testSeed } from './seed.ts';

fc.configureGlobal({ seed: testSeed });

/** Runs in every test file: a response that contradicts the OpenAPI document, or its schema of the console, fails the test that caused it. */
function expectNoBreach(): void {
  const found = breaches.splice(0);
  if (found.length === 0) return;
  const shown = [...new Set(found)].slice(0, 10).join('\n\n');
  throw new Error(`Responses contradict their schemas (${found.length} responses):\n\n${shown}`);
}

// Files may share a process, so each starts with empty sets.
seenCodes.clear();
met.clear();
metInConsole.clear();
afterEach(({ task }) => {
  const names: string[] = [];
  for (
    let one: { name: string; suite?: object | undefined } | undefined = task;
    one;
    one = one.suite as typeof one
  )
    names.unshift(one.name);
  reportFailure({ names, file: task.file.filepath, isFailed: task.result?.state === 'fail' });
});
afterEach(expectNoBreach);
afterAll(expectNoBreach);
afterAll(expectRestricted);
