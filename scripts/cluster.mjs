// `npm run test:cluster -- --rounds 10 --seed 7 --fault switchover --report cluster.md`: the installation of deploy/patroni under load,
// through every fault. The first round has the faults in order, further rounds in random order. A round takes about ten minutes.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { prepare, run, tools } from './prepare.mjs';

const text = /** @type {const} */ ({ type: 'string' });
const { values } = parseArgs({
  args: process.argv.slice(2),
  options: { rounds: { ...text, default: '1' }, seed: text, fault: { ...text, default: '' }, report: text },
});
await prepare([]);
const { code } = await run([tools.vitest, 'run', '--project', 'process', 'test/cluster'], {
  show: true,
  env: {
    SANDBANK_CLUSTER_ROUNDS: values.rounds,
    SANDBANK_CLUSTER_FAULT: values.fault,
    ...(values.seed === undefined ? {} : { SANDBANK_TEST_SEED: values.seed }),
    ...(values.report === undefined ? {} : { SANDBANK_CLUSTER_REPORT: resolve(values.report) }),
  },
});
process.exitCode = code;
