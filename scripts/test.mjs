// `npm test`: prepares the checkout, then runs every check and says at the end how each went.
// With arguments (`npm test -- test/api/payments.test.ts`) only vitest runs, and gets them.
import { prepare, run, tools } from './prepare.mjs';

const args = await prepare(process.argv.slice(2));
const vitest = { name: 'vitest run', command: [tools.vitest, 'run', ...args] };
const checks = [
  { name: 'biome check', command: [tools.biome, 'check'] },
  { name: 'tsc --noEmit', command: [tools.tsc, '--noEmit', '-p', 'tsconfig.json'] },
  { name: 'tsc --noEmit (console)', command: [tools.tsc, '--noEmit', '-p', 'console/tsconfig.json'] },
  vitest,
];

const results = [];
for (const { name, command } of args.length > 0 ? [vitest] : checks) {
  process.stdout.write(`\n== ${name}\n`);
  const startedAt = performance.now();
  const { code } = await run(command, { show: true });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  process.stdout.write(`== ${name}: ${seconds} s\n`);
  results.push({ name, seconds, passed: code === 0 });
}

process.stdout.write('\n');
for (const { name, seconds, passed } of results) {
  process.stdout.write(`${passed ? 'passed' : 'FAILED'}  ${name} (${seconds} s)\n`);
}
process.exitCode = results.every(({ passed }) => passed) ? 0 : 1;
