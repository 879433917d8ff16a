// `npm run test:soak -- --minutes 60 --seed 7`: traffic and disturbances on each database, then a report in `soak-report`.
//   --database postgres        only one of `postgres` and `embedded`
//   --rate 40                  requests per second
//   --out FOLDER               where to write `report.html` and the samples
//   --render PAGE SAMPLES...   only renders samples again
//   --randomized               instead: all randomized tests, with many more repetitions
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { prepare, run, tools } from './prepare.mjs';

const randomized = [
  'test/simulation',
  'test/process/chaos',
  'test/api/fuzz.test.ts',
  'test/db/late-answers.test.ts',
  'test/process/crash.test.ts',
];
const { values, positionals } = parseArgs({
  args: await prepare(process.argv.slice(2)),
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '60' },
    seed: { type: 'string' },
    database: { type: 'string', default: 'postgres,embedded' },
    rate: { type: 'string' },
    out: { type: 'string', default: 'soak-report' },
    render: { type: 'string' },
    randomized: { type: 'boolean', default: false },
  },
});
const seed = values.seed === undefined ? {} : { SANDBANK_TEST_SEED: values.seed };

if (values.render !== undefined) process.exitCode = await render(values.render, positionals);
else if (values.randomized) process.exitCode = await test(randomized, { SANDBANK_THOROUGH: 'on' });
else process.exitCode = await soak(path.resolve(values.out));

/** @param {string[]} files @param {Record<string, string>} env */
async function test(files, env) {
  const { code } = await run([tools.vitest, 'run', ...files], { show: true, env: { ...env, ...seed } });
  return code;
}

/** The report is written also when a check failed. @param {string} folder */
async function soak(folder) {
  const samples = values.database.split(',').map((name) => path.join(folder, `${name}.json`));
  for (const file of samples) rmSync(file, { force: true });
  const code = await test(['test/soak/soak.test.ts'], {
    SANDBANK_SOAK_MINUTES: values.minutes,
    SANDBANK_SOAK_FOLDER: folder,
    SANDBANK_SOAK_DATABASES: values.database,
    ...(values.rate === undefined ? {} : { SANDBANK_SOAK_RATE: values.rate }),
  });
  const written = samples.filter((file) => existsSync(file));
  const rendered = written.length === 0 ? 1 : await render(path.join(folder, 'report.html'), written);
  return code || rendered;
}

/** @param {string} page @param {string[]} files */
async function render(page, files) {
  const { code } = await run(['--import', 'tsx', 'test/soak/render.ts', page, ...files], { show: true });
  return code;
}
