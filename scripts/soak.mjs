// `npm run test:soak -- --minutes 60 --seed 7`: seeded traffic with kills, cuts and clocks that jump, for so long on each database.
import { parseArgs } from 'node:util';
import { prepare, run, tools } from './prepare.mjs';

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string' } },
});
await prepare([]);
const { code } = await run([tools.vitest, 'run', 'test/simulation/journey.test.ts'], {
  show: true,
  env: {
    SANDBANK_SOAK_MINUTES: values.minutes,
    ...(values.seed === undefined ? {} : { SANDBANK_SEED_OF_TEST: values.seed }),
  },
});
process.exitCode = code;
