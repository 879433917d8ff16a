// `npm run bench`: prepares the checkout, then runs the benchmark with the given arguments.
import { prepare, run } from './prepare.mjs';

const args = await prepare(process.argv.slice(2));
const { code } = await run(['--import', 'tsx', 'bench/bench.ts', ...args], { show: true });
process.exitCode = code;
