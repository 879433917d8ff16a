import { appendFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { randomFrom, testSeed } from '../../support/seed.ts';
import { addRegression, readInputs, readRegressions, writeInputs } from './corpus.ts';
import { Coverage } from './coverage.ts';
import { FailingInput, Fuzzer, type Target } from './fuzzer.ts';
import { shrink } from './shrink.ts';

const { SANDBANK_FUZZ_MINUTES: minutes, SANDBANK_FUZZ_REPORT: reportFile } = process.env;
const durationMs = minutes === undefined ? 5_000 : Number(minutes) * 60_000;
/**
 * `npm test` always has the same seed: it checks that no change broke what the corpus reaches. New inputs are the purpose of
 * `npm run test:fuzz`, whose failures reach the person who started it.
 */
const seed = minutes === undefined && process.env.SANDBANK_TEST_SEED === undefined ? 1 : testSeed;

/** Checks the stored inputs of the target, then random changes of them: five seconds, or the minutes of `npm run test:fuzz`. */
export function fuzz(target: Target): void {
  const { name } = target;
  describe(`fuzz: ${name}`, () => {
    let coverage: Coverage;
    beforeAll(async () => {
      await target.prepare?.();
      coverage = new Coverage();
    });
    afterAll(async () => {
      coverage?.close();
      await target.close?.();
    });

    test('inputs that failed once pass', async () => {
      const fuzzer = new Fuzzer(target, coverage, randomFrom(seed));
      for (const input of readRegressions(name))
        expect.soft(await fuzzer.failure(input), JSON.stringify(input)).toBeUndefined();
    });

    test(`random inputs pass (SANDBANK_TEST_SEED=${seed})`, async () => {
      const fuzzer = new Fuzzer(target, coverage, randomFrom(seed));
      const failed = (error: unknown) => report(error, target, fuzzer);
      await fuzzer.load(readInputs(name)).catch(failed);
      const before = { inputs: fuzzer.inputs.length, covered: coverage.size };
      await fuzzer.run(performance.now() + durationMs).catch(failed);
      const { executions, outcomes } = fuzzer;
      const after = { inputs: fuzzer.inputs.length, covered: coverage.size };
      if (reportFile)
        appendFileSync(
          reportFile,
          `${JSON.stringify({ name, executions, outcomes: outcomes.size, before, after })}\n`,
        );
      if (minutes === undefined) return;
      await fuzzer.load(fuzzer.inputs);
      writeInputs(
        name,
        fuzzer.inputs.filter((input) => !target.seeds.includes(input)),
      );
    });
  });
}

/** Stores the shortest form of a failing input as a regression, and fails with it. */
async function report(error: unknown, target: Target, fuzzer: Fuzzer): Promise<never> {
  if (!(error instanceof FailingInput)) throw error;
  const input = await shrink(error.input, async (one) => (await fuzzer.failure(one)) !== undefined);
  const cause = (await fuzzer.failure(input)) ?? error.cause;
  const file = addRegression(target.name, input);
  const message = cause instanceof Error ? cause.message : String(cause);
  throw new Error(
    `${JSON.stringify(input)}: ${message}\nStored in ${file} (${fuzzer.executions} executions).`,
    {
      cause,
    },
  );
}
