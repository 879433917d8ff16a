// `node scripts/bundle.mjs MODULES DIST`: bundles the compiled modules into the published files. Resolving and reading about 1,100
// modules took half of the start-up time (1.2 of 2.4 core seconds; bundled 0.5), and users install only dependencies that are not
// bundled.
import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { rolldown } from 'rolldown';
import { thirdPartyNotices } from './notices.mjs';

const [modules = '', dist = ''] = process.argv.slice(2).map((folder) => path.resolve(folder));

/**
 * The entry points by their path in `dist`. All are one folder deep, because `src/local/paths.ts` derives the package root from that.
 */
const server = ['src/embedded', 'src/data-directory-lock', 'src/pglite-worker'];
const sdk = fs
  .readdirSync(path.join(modules, 'sdk'))
  .filter((name) => /^(client|testing|vitest|jest)[\w-]*\.js$/.test(name))
  .map((name) => `sdk/${name.slice(0, -'.js'.length)}`);
const entries = [...server, 'cli/main', ...sdk];
const sdkEntries = new Set(sdk.filter((entry) => entry !== 'sdk/client').map((entry) => moduleOf(entry)));

/** PGlite reads files next to its own. The optional pg packages are never installed, although pg tries to load them. The user installs the test runners. */
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

/**
 * pg creates a `Response` when it is loaded, to recognize Cloudflare. Node 20 then loads its whole fetch implementation, which costs a start
 * 40 ms of processor time. Node 21 and newer answer with `navigator` instead.
 */
const withoutCloudflare = {
  name: 'without-cloudflare',
  transform: {
    filter: { id: /pg[\\/]lib[\\/]stream\.js$/ },
    /** @param {string} code */
    handler(code) {
      const test = 'function isCloudflareRuntime() {';
      if (!code.includes(test)) throw new Error('pg no longer tests for Cloudflare: remove this plugin.');
      return code.replace(test, `${test}\n  return false`);
    },
  },
};

const esm = await rolldown({
  input: Object.fromEntries(entries.map((entry) => [entry, moduleOf(entry)])),
  platform: 'node',
  external,
  plugins: [withoutCloudflare],
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
