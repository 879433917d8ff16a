// `npm test`: prepares the checkout, then runs the linter, the type checks and all five tiers of tests, and prints the duration of each.
//   npm test -- test/api/payments.test.ts   only vitest, with these arguments
//   npm run test:unit                       one tier (`--tier unit`)
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepare, run, tools } from './prepare.mjs';

const tiers = ['unit', 'fuzz', 'api', 'process', 'browser'];

const args = await prepare(process.argv.slice(2));
const vitest = (/** @type {string} */ name, /** @type {string[]} */ ...more) => ({
  name,
  command: [tools.vitest, 'run', ...more],
});
const ofTier = (/** @type {string} */ tier, /** @type {string[]} */ ...more) =>
  vitest(`test:${tier}`, '--project', tier, ...more);
const everything = [
  { name: 'biome check', command: [tools.biome, 'check'] },
  { name: 'tsc --noEmit', command: [tools.tsc, '--noEmit', '-p', 'tsconfig.json'] },
  { name: 'tsc --noEmit (console)', command: [tools.tsc, '--noEmit', '-p', 'console/tsconfig.json'] },
  ...tiers.map((tier) => ofTier(tier)),
];

const [flag, tier, ...rest] = args;
const checks =
  flag === '--tier'
    ? [ofTier(tier ?? '', ...rest)]
    : args.length > 0
      ? [vitest('vitest run', ...args)]
      : everything;

const folder = mkdtempSync(join(tmpdir(), 'sandbank-test-'));
const failuresFile = join(folder, 'failures.txt');
writeFileSync(failuresFile, '');
process.env.SANDBANK_TEST_FAILURES = failuresFile;

const results = [];
for (const { name, command } of checks) {
  process.stdout.write(`\n== ${name}\n`);
  const startedAt = performance.now();
  const { code } = await run(command, { show: true });
  results.push({ name, seconds: (performance.now() - startedAt) / 1_000, passed: code === 0 });
}

const failures = readFileSync(failuresFile, 'utf8');
rmSync(folder, { recursive: true, force: true });
if (checks.length > 1 && failures) process.stdout.write(`\n== What failed\n${failures}`);

const total = results.reduce((sum, { seconds }) => sum + seconds, 0);
process.stdout.write('\n');
for (const { name, seconds, passed } of results) {
  process.stdout.write(
    `${passed ? 'passed' : 'FAILED'}  ${name.padEnd(24)} ${seconds.toFixed(1).padStart(7)} s\n`,
  );
}
if (results.length > 1)
  process.stdout.write(`${' '.repeat(8)}${'total'.padEnd(24)} ${total.toFixed(1).padStart(7)} s\n`);
process.exitCode = results.every(({ passed }) => passed) ? 0 : 1;
