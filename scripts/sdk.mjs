// `node scripts/sdk.mjs`: writes sdk/generated/ from docs/openapi.json. `npm run golden` does the same after it has written that
// document; use this script when the client does not compile without the new files.
import { run } from './prepare.mjs';

const { code } = await run(['node_modules/tsx/dist/cli.mjs', 'scripts/sdk/write.ts'], { show: true });
process.exitCode = code;
