// `npm run golden`: rewrites the golden files. Review the diff before you commit it.
import { prepare, run, tools } from './prepare.mjs';

const args = await prepare(process.argv.slice(2));
const { code } = await run([tools.vitest, 'run', 'test/golden.test.ts', ...args], {
  show: true,
  env: { UPDATE_GOLDEN: '1' },
});
process.exitCode = code;
