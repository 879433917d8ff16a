// `npm run build`: installs what is missing and brings `dist` up to date.
import { prepare } from './prepare.mjs';

await prepare(process.argv.slice(2));
process.stderr.write('dist is up to date.\n');
