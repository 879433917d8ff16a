// `npm run test:fuzz -- --minutes 10 --target cidr --seed 7`: coverage-guided fuzzing, see test/fuzz/README.md. Each target runs for the
// given minutes, as many at a time as there are cores (at most four). New inputs are written to test/fuzz/corpus.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { prepare, root, run, tools } from './prepare.mjs';

const suffix = '.test.ts';
const targets = readdirSync(join(root, 'test/fuzz'))
  .filter((file) => file.endsWith(suffix))
  .map((file) => file.slice(0, -suffix.length));
const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    minutes: { type: 'string', default: '10' },
    target: { type: 'string', multiple: true, default: targets },
    seed: { type: 'string' },
  },
});
const unknown = values.target.find((target) => !targets.includes(target));
if (unknown !== undefined || !(Number(values.minutes) > 0)) {
  process.stderr.write(
    unknown === undefined
      ? '--minutes must be a number above 0.\n'
      : `Unknown target "${unknown}". Targets: ${targets.join(', ')}.\n`,
  );
  process.exit(2);
}
await prepare([]);
const folder = mkdtempSync(join(tmpdir(), 'sandbank-fuzz-'));
const reportFile = join(folder, 'report.jsonl');
writeFileSync(reportFile, '');
const files = values.target.map((target) => `test/fuzz/${target}${suffix}`);
const { code } = await run([tools.vitest, 'run', '--project', 'fuzz', '--testTimeout', '0', ...files], {
  show: true,
  env: {
    SANDBANK_FUZZ_MINUTES: values.minutes,
    SANDBANK_FUZZ_REPORT: reportFile,
    ...(values.seed === undefined ? {} : { SANDBANK_TEST_SEED: values.seed }),
  },
});
const lines = readFileSync(reportFile, 'utf8').split('\n').filter(Boolean);
rmSync(folder, { recursive: true, force: true });
process.stdout.write('\n');
for (const line of lines) {
  const { name, executions, outcomes, before, after } = JSON.parse(line);
  const growth = `inputs ${before.inputs} -> ${after.inputs}, covered characters ${before.covered} -> ${after.covered}`;
  process.stdout.write(`${name}: ${executions} executions, ${outcomes} outcomes, ${growth}\n`);
}
process.exitCode = code;
