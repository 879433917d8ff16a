// `npm run test:soak -- --minutes 60 --seed 7`: all randomized tests with many more runs; and traffic with process kills, connection
// failures and clock jumps for the given minutes on each database.
import { parseArgs } from 'node:util';
import { prepare, run, tools } from './prepare.mjs';

const randomized = [
  'test/simulation',
  'test/process/chaos',
  'test/api/fuzz.test.ts',
  'test/db/late-answers.test.ts',
  'test/process/crash.test.ts',
];
const { values } = parseArgs({
  args: process.argv.slice(2),
  options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string' } },
});
await prepare([]);
const { code } = await run([tools.vitest, 'run', ...randomized], {
  show: true,
  env: {
    SANDBANK_THOROUGH: 'on',
    SANDBANK_SOAK_MINUTES: values.minutes,
    ...(values.seed === undefined ? {} : { SANDBANK_TEST_SEED: values.seed }),
  },
});
process.exitCode = code;
