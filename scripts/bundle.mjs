// `node scripts/bundle.mjs MODULES DIST`: bundles the compiled modules into the files that ship. Finding and reading some 1,100
// modules one by one was half of the time that a server took to start (1.2 of 2.4 core seconds; in a few files 0.5), and users need to install
// only what is not bundled.
import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { rolldown } from 'rolldown';
import { thirdPartyNotices } from './notices.mjs';

const [modules = '', dist = ''] = process.argv.slice(2).map((folder) => path.resolve(folder));

/**
 * What is loaded from outside, by its place in `dist`. All of it is one folder deep: `src/local/paths.ts` finds the package from there.
 */
const server = ['src/embedded', 'src/data-directory-lock', 'src/pglite-worker'];
const sdk = fs
  .readdirSync(path.join(modules, 'sdk'))
  .filter((name) => /^(client|testing|vitest|jest)[\w-]*\.js$/.test(name))
  .map((name) => `sdk/${name.slice(0, -'.js'.length)}`);
const entries = [...server, 'cli/main', ...sdk];
const sdkEntries = new Set(sdk.filter((entry) => entry !== 'sdk/client').map((entry) => moduleOf(entry)));

/** PGlite reads files beside its own. The pg packages are never installed; pg tries to load them. The test runners are the user's. */
const external = [
  /^@electric-sql\//,
  'pg-native',
  'pg-cloudflare',
  /^cloudflare:/,
  /^vitest/,
  /^@jest\//,
  /^jest/,
];

/** @param {string} entry */
function moduleOf(entry) {
  const direct = path.join(modules, `${entry}.js`);
  return fs.existsSync(direct) ? direct : path.join(modules, 'src/db', `${path.basename(entry)}.js`);
}

/** @param {string} id */
const isOfClient = (id) =>
  /^sdk.(generated.(?!inputs))?[\w-]+\.js$/.test(path.relative(modules, id)) && !sdkEntries.has(id);

const esm = await rolldown({
  input: Object.fromEntries(entries.map((entry) => [entry, moduleOf(entry)])),
  platform: 'node',
  external,
  logLevel: 'silent',
});
const { output } = await esm.write({
  dir: dist,
  format: 'esm',
  entryFileNames: '[name].js',
  // The client shares no file with the server: it runs in browsers too.
  codeSplitting: { groups: [{ name: 'client', test: isOfClient }] },
  chunkFileNames: ({ moduleIds }) => `${moduleIds.some(isOfClient) ? 'sdk' : 'src'}/part-[name].js`,
});
await esm.close();

/** For Jest, which runs tests as CommonJS. The server stays an ES module: `import()` reaches it from CommonJS too. */
const cjsEntries = sdk.filter((entry) => !entry.includes('vitest'));
const cjs = await rolldown({
  input: Object.fromEntries(cjsEntries.map((entry) => [path.basename(entry), moduleOf(entry)])),
  platform: 'node',
  external,
  plugins: [
    {
      name: 'server-stays-esm',
      resolveId: (id) =>
        id.endsWith('src/embedded.js') ? { id: '../src/embedded.js', external: 'relative' } : null,
    },
  ],
  logLevel: 'silent',
});
await cjs.write({
  dir: path.join(dist, 'cjs'),
  format: 'cjs',
  entryFileNames: '[name].js',
  exports: 'named',
});
await cjs.close();
fs.writeFileSync(path.join(dist, 'cjs/package.json'), '{ "type": "commonjs" }\n');

for (const folder of ['sdk', 'cjs']) copyDeclarations(path.join(modules, 'sdk'), path.join(dist, folder));
fs.writeFileSync(
  path.join(dist, 'THIRD-PARTY-NOTICES.txt'),
  thirdPartyNotices(output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))),
);

/** @param {string} from @param {string} to */
function copyDeclarations(from, to) {
  for (const name of fs.readdirSync(from, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.d.ts')) continue;
    fs.mkdirSync(path.dirname(path.join(to, name)), { recursive: true });
    fs.copyFileSync(path.join(from, name), path.join(to, name));
  }
}
