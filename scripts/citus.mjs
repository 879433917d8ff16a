// `npm run citus`: prints the SQL that distributes a migrated database by organization with Citus, and, as comments, what Citus does not
// accept. It reads migrations/schema.golden.txt and needs no database.
import { prepare, run } from './prepare.mjs';

await prepare(process.argv.slice(2));
const { code } = await run(['node_modules/tsx/dist/cli.mjs', 'scripts/citus/print.ts'], { show: true });
process.exitCode = code;
