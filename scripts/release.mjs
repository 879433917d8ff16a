// `npm run release -- VERSION|major|minor|patch [--dry-run]`: sets the version, dates the changelog, packs, and tests the packages as installed.
// It stops before publishing and prints the commands for it. With --dry-run the version and the changelog are unchanged.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { prepare, root, run, tools } from './prepare.mjs';
import { nextVersion, releasedChangelog } from './release-notes.mjs';

const args = await prepare(process.argv.slice(2));
const isDryRun = args.includes('--dry-run');
const [step = 'patch', ...unknown] = args.filter((arg) => arg !== '--dry-run');
const place = (/** @type {string} */ name) => path.join(root, name);
/** @type {Map<string, string>} The original files, to restore them. */
const before = new Map(
  ['package.json', 'package-lock.json', 'CHANGELOG.md'].map((name) => [
    name,
    fs.readFileSync(place(name), 'utf8'),
  ]),
);

try {
  if (unknown.length > 0)
    throw new Error(`Unknown argument ${unknown[0]}. Use: npm run release -- minor --dry-run`);
  const manifest = JSON.parse(before.get('package.json') ?? '');
  const version = nextVersion(manifest.version, step);
  const today = new Date().toISOString().slice(0, 10);
  const changelog = releasedChangelog(before.get('CHANGELOG.md') ?? '', version, today);
  say(`version    ${manifest.version} -> ${version}`);
  say(`changelog  ${changelog.entries} entries, dated ${today}`);
  for (const name of ['package.json', 'package-lock.json'])
    fs.writeFileSync(place(name), withVersion(before.get(name) ?? '', version));
  fs.writeFileSync(place('CHANGELOG.md'), changelog.text);

  // The lockfile changed, so update `dist` and its stamp.
  await prepare([]);
  const folder = isDryRun ? fs.mkdtempSync(path.join(os.tmpdir(), 'sandbank-release-')) : place('release');
  await must(['scripts/pack.mjs', folder], 'Packing failed.');
  for (const name of fs.readdirSync(folder))
    say(`packed     ${name}, ${(fs.statSync(path.join(folder, name)).size / 1e6).toFixed(2)} MB`);
  say('smoke test: installing in empty folders and running the packages...');
  await must(
    [tools.vitest, 'run', '--project', 'process', 'test/process/package.test.ts'],
    'The smoke test failed.',
    {
      SANDBANK_SMOKE_TARBALLS: folder,
    },
  );
  say('contract: third-party generators, linters and request runners...');
  await must([tools.vitest, 'run', '--project', 'tools'], 'The contract tools failed.');
  if (isDryRun) {
    fs.rmSync(folder, { recursive: true });
    say('Dry run: nothing was published, and the version and the changelog are unchanged.');
  } else {
    say(`Nothing was published. Review the changes, then run:
  git commit -am "release: ${version}" && git tag v${version}
  npm publish release/sandbank-${version}.tgz
  npm publish release/sandbank-client-${version}.tgz`);
  }
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  if (isDryRun || process.exitCode === 1)
    for (const [name, text] of before) fs.writeFileSync(place(name), text);
}

/** The version of the package itself, not of its dependencies: the first one, and in a lockfile the second. @param {string} text @param {string} version */
function withVersion(text, version) {
  const manifest = JSON.parse(text);
  manifest.version = version;
  if (manifest.packages?.[''] !== undefined) manifest.packages[''].version = version;
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** @param {string[]} command @param {string} failure @param {Record<string, string>} env */
async function must(command, failure, env = {}) {
  const { code } = await run(command, { show: true, env });
  if (code !== 0) throw new Error(failure);
}

/** @param {string} text */
function say(text) {
  process.stdout.write(`${text}\n`);
}
