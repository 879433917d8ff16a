// Prepares a checkout: checks the Node version, installs dependencies, builds `dist`. This file must not import a dependency,
// because it runs before they are installed. When everything is up to date it only hashes the sources and takes no lock, which
// costs a few tens of milliseconds.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { withLock } from './lock.mjs';
import { checkNode } from './node-version.mjs';

export const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** The local command-line tools, started as `node <path>`: no shell, so it is the same on every platform. */
export const tools = {
  biome: 'node_modules/@biomejs/biome/bin/biome',
  tsc: 'node_modules/typescript/bin/tsc',
  vite: 'node_modules/vite/bin/vite.js',
  vitest: 'node_modules/vitest/vitest.mjs',
};

const modules = path.join(root, 'node_modules');
const dist = path.join(root, 'dist');
const installStamp = path.join(modules, '.sandbank-stamp');
const buildStamp = path.join(dist, '.stamp');

/**
 * Prepares the checkout and returns the remaining arguments. It handles `--verbose`, which shows npm's output.
 * On failure it prints the reason and exits.
 * @param {string[]} args
 * @returns {Promise<string[]>}
 */
export async function prepare(args) {
  const verbose = args.includes('--verbose');
  try {
    checkNode(process.versions.node);
    if (!isInstalled() || !isBuilt()) {
      await withLock(
        path.join(root, 'dist.lock'),
        async (assertHeld) => {
          await ensureInstalled(verbose);
          await ensureBuilt(assertHeld);
        },
        () => logToStderr('Waiting for another process that is preparing this checkout...'),
      );
    }
  } catch (error) {
    logToStderr(error instanceof Error ? error.message : String(error));
    process.exit(1);
  }
  return args.filter((arg) => arg !== '--verbose');
}

/** @param {boolean} verbose */
async function ensureInstalled(verbose) {
  if (isInstalled()) return;
  if (!isInstalledByHand()) {
    const why = fs.existsSync(modules) ? 'they changed' : 'first time';
    logToStderr(`Installing dependencies (${why}, about a minute)...`);
    // The build needs the development dependencies, which NODE_ENV=production would omit.
    const { code, output } = await run([npmScript(), 'ci', '--include=dev'], {
      show: verbose,
      // npm runs the package's `prepare` script after an installation; it must not wait for the lock that this process holds.
      env: { SANDBANK_PREPARING: 'true' },
    });
    if (code !== 0)
      throw new Error(`${output}\nThe dependencies could not be installed: see the npm output above.`);
  }
  fs.writeFileSync(installStamp, installHash());
}

function isInstalled() {
  return readText(installStamp) === installHash();
}

/**
 * Whether `npm install` or `npm ci` was run directly: then npm's record in node_modules lists the same
 * packages as the lockfile. Only packages that npm may omit (other platforms) may be missing.
 */
function isInstalledByHand() {
  const stamped = readText(installStamp);
  if (stamped !== undefined && !stamped.startsWith(`${nodeMajor()} `)) return false;
  const wanted = JSON.parse(fs.readFileSync(path.join(root, 'package-lock.json'), 'utf8')).packages;
  const present = JSON.parse(readText(path.join(modules, '.package-lock.json')) ?? '{}').packages ?? {};
  return Object.entries(wanted).every(([name, entry]) => {
    if (name === '') return true;
    if (present[name] === undefined) return entry.optional === true || entry.devOptional === true;
    return present[name].version === entry.version && present[name].integrity === entry.integrity;
  });
}

/** Builds into a folder next to `dist` and moves it into place at the end, so a killed build leaves no incomplete `dist`. */
async function ensureBuilt(/** @type {() => void} */ assertHeld) {
  const hash = buildHash();
  if (readText(buildStamp) === hash) return;
  logToStderr('Building...');
  for (const name of fs.readdirSync(root).filter((name) => /^dist\.(modules|next|old)\./.test(name))) {
    fs.rmSync(path.join(root, name), { recursive: true, force: true });
  }
  // Named after this process: a compiler orphaned by `kill -9` may still be writing into the folder of the last one.
  const next = `${dist}.next.${process.pid}`;
  const old = `${dist}.old.${process.pid}`;
  // The unbundled modules. The build runs some of them; they are not published.
  const modules = `${dist}.modules.${process.pid}`;

  await mustRun([tools.tsc, '-p', 'tsconfig.build.json', '--outDir', modules], 'Compiling failed.');
  await mustRun(['scripts/bundle.mjs', modules, next], 'Bundling failed.');
  // In a separate process: creating the template database needs about 750 MB, which are freed when it exits.
  const module = pathToFileURL(path.join(modules, 'src', 'db', 'template.js')).href;
  const program = `const { writeTemplate } = await import(${JSON.stringify(module)});
    await writeTemplate(${JSON.stringify(path.join(next, 'template.tar.gz'))});
    process.exit(0);`;
  await mustRun(['--input-type=module', '--eval', program], 'Creating the database template failed.');
  const pages = path.join(next, 'console');
  await mustRun(
    [tools.vite, 'build', 'console', '--outDir', pages, '--emptyOutDir'],
    'Building the console failed.',
  );
  compress(path.join(pages, 'assets'));
  await mustRun(['scripts/docs.mjs', next, modules], 'Building the docs failed.');
  fs.rmSync(modules, { recursive: true });
  fs.writeFileSync(path.join(next, path.basename(buildStamp)), hash);

  assertHeld();
  if (fs.existsSync(dist)) fs.renameSync(dist, old);
  fs.renameSync(next, dist);
  fs.rmSync(old, { recursive: true, force: true });
}

/** Writes compressed variants of each file once, instead of compressing at every request. @param {string} folder */
function compress(folder) {
  for (const name of fs.readdirSync(folder).filter((name) => /\.(css|js|svg)$/.test(name))) {
    const content = fs.readFileSync(path.join(folder, name));
    fs.writeFileSync(path.join(folder, `${name}.br`), brotliCompressSync(content));
    fs.writeFileSync(path.join(folder, `${name}.gz`), gzipSync(content, { level: 9 }));
  }
}

function isBuilt() {
  return readText(buildStamp) === buildHash();
}

function installHash() {
  return `${nodeMajor()} ${hashFiles(['package-lock.json'])}`;
}

function buildHash() {
  const settings = fs.readdirSync(root).filter((name) => /^tsconfig.*\.json$/.test(name));
  const sources = ['src', 'sdk', 'cli']
    .flatMap(filesUnder)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
  return hashFiles([
    ...sources,
    ...filesUnder('console').filter((file) => !file.endsWith('.test.ts')),
    ...filesUnder('migrations'),
    // The golden document is an output of the code, not an input of the build.
    ...filesUnder('docs').filter((file) => !file.endsWith('openapi.json')),
    ...filesUnder('scripts/docs'),
    'scripts/docs.mjs',
    'scripts/bundle.mjs',
    'scripts/notices.mjs',
    ...settings,
    'package-lock.json',
  ]);
}

/** Runs at every start: a recursive `readdir` with `path.relative` took 25 ms for 1,000 files, this takes 6 ms. @param {string} folder @returns {string[]} */
function filesUnder(folder) {
  if (!fs.existsSync(`${root}/${folder}`)) return [];
  return fs.readdirSync(`${root}/${folder}`, { withFileTypes: true }).flatMap((entry) => {
    const name = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return filesUnder(name);
    return entry.isFile() ? [name] : [];
  });
}

/** @param {string[]} files */
function hashFiles(files) {
  const hash = createHash('sha256');
  for (const file of files.sort()) {
    const content = fs.readFileSync(path.join(root, file));
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

function nodeMajor() {
  return process.versions.node.split('.')[0];
}

/** The file of npm itself, so that it can be started like the other tools, without a shell. */
export function npmScript() {
  const bin = path.dirname(process.execPath);
  const candidates = [
    process.env.npm_execpath,
    path.join(bin, '../lib/node_modules/npm/bin/npm-cli.js'),
    path.join(bin, 'node_modules/npm/bin/npm-cli.js'),
  ];
  const script = candidates.find((file) => file?.endsWith('npm-cli.js') && fs.existsSync(file));
  if (script === undefined) throw new Error('npm was not found. Run `npm ci`, then try again.');
  return script;
}

/** @param {string[]} args @param {string} failure */
async function mustRun(args, failure) {
  const { code, output } = await run(args, { show: false });
  if (code !== 0) throw new Error(`${output}\n${failure}`);
}

/**
 * Runs `node <args>`, at the root unless `directory` is given. With `show` its output goes directly to the terminal, otherwise it is collected.
 * Forwards signals, so that no npm or tsc process outlives a stopped command.
 * @param {string[]} args
 * @param {{ show: boolean, env?: Record<string, string>, directory?: string }} options
 * @returns {Promise<{ code: number, output: string }>}
 */
export function run(args, { show, env = {}, directory = root }) {
  const child = spawn(process.execPath, args, {
    cwd: directory,
    env: { ...process.env, ...env },
    stdio: show ? 'inherit' : ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk));
  const stop = (/** @type {NodeJS.Signals} */ signal) => {
    child.once('close', () => process.exit(1));
    child.kill(signal);
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      for (const signal of ['SIGINT', 'SIGTERM']) process.removeListener(signal, stop);
      resolve({ code: code ?? 1, output: output.trim() });
    });
  });
}

/** Logs to stderr, because stdout belongs to the prepared command. @param {string} message */
function logToStderr(message) {
  process.stderr.write(`${message}\n`);
}

/** @param {string} file */
function readText(file) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
