/** `tsx test/soak/render.ts REPORT SAMPLES...`: writes the report of stored samples, and fails when a verdict failed. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { reportOf } from './report.ts';
import { formatVersion, type Run } from './run.ts';
import { verdictsOf } from './verdicts.ts';

const [report = '', ...files] = process.argv.slice(2);
const runs = files.map((file) => {
  const run = JSON.parse(readFileSync(file, 'utf8')) as Run;
  if (run.format !== formatVersion)
    throw new Error(`${file} has format ${run.format}, and this renders ${formatVersion}.`);
  return run;
});
mkdirSync(path.dirname(path.resolve(report)), { recursive: true });
writeFileSync(report, reportOf(runs));
for (const run of runs) {
  process.stdout.write(`\n${run.database}\n`);
  for (const { name, result, text, details } of verdictsOf(run)) {
    process.stdout.write(`${result.padEnd(7)} ${name}: ${text}\n`);
    for (const detail of details) process.stdout.write(`          ${detail}\n`);
  }
}
process.stdout.write(`\n${report}\n`);
if (runs.flatMap(verdictsOf).some(({ result }) => result === 'failed')) process.exitCode = 1;
