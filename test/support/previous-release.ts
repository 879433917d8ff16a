/** The previous release, built from the history of this repository. */
import { execFile, execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * 0.1.0: the last state of the main branch whose migrations end at 0010, before the repository had tags. A release replaces it with the
 * commit of its predecessor.
 */
const previousCommit = '7ea1a410826142f7add9558230d78505b21b4103';

/** The first commit of the repository: a history that begins with it is complete. */
const firstCommit = 'd126b4c50fe819ea38b191a0e6912b113d2a964a';

/**
 * Whether the history reaches back to the previous release: that of a shallow clone and of a source archive does not. A complete history
 * without the commit is a mistake in the commit above.
 */
export function hasPreviousRelease(): boolean {
  if (hasCommit(previousCommit)) return true;
  if (hasCommit(firstCommit))
    throw new Error(`The history has no commit ${previousCommit}: correct test/support/previous-release.ts.`);
  return false;
}

function hasCommit(id: string): boolean {
  return git('cat-file', '-e', `${id}^{commit}`) !== undefined;
}

function git(...args: readonly string[]): string | undefined {
  try {
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return undefined;
  }
}

const locks = (await import(new URL('../../scripts/lock.mjs', import.meta.url).href)) as {
  withLock(directory: string, work: () => Promise<void>, onWait: () => void): Promise<void>;
};
const prepares = (await import(new URL('../../scripts/prepare.mjs', import.meta.url).href)) as {
  npmScript(): string;
};

/**
 * Returns a folder with `dist`, for `startServer({ root })`. A build takes about ten seconds, so it is cached until the next `npm ci`. It
 * has no console pages and no documentation.
 */
export async function previousRelease(): Promise<string> {
  const cache = path.join(ROOT, 'node_modules', '.cache', 'sandbank-previous-release');
  const root = path.join(cache, `${previousCommit}-node-${process.versions.node.split('.')[0]}`);
  mkdirSync(cache, { recursive: true });
  // Two test files can need it at the same time.
  await locks.withLock(
    `${root}.lock`,
    async () => {
      if (!existsSync(path.join(root, 'dist'))) await build(root);
    },
    () => undefined,
  );
  return root;
}

/** TypeScript does not compile below a folder named node_modules, so this builds elsewhere and moves the result into place. */
async function build(root: string): Promise<void> {
  const work = mkdtempSync(path.join(tmpdir(), 'sandbank-previous-'));
  try {
    const archive = path.join(work, 'source.tar');
    const source = path.join(work, 'source');
    mkdirSync(source);
    await run('git', ['archive', '--output', archive, previousCommit], { cwd: ROOT });
    await run('tar', ['-xf', archive, '-C', source]);
    const modules = path.join(source, 'node_modules');
    const isShared = canShareModules(source);
    if (isShared) symlinkSync(path.join(ROOT, 'node_modules'), modules, 'junction');
    else await run(process.execPath, [prepares.npmScript(), 'ci', '--ignore-scripts'], { cwd: source });
    const node = (...args: string[]) => run(process.execPath, args, { cwd: source });
    await node(path.join(modules, 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.build.json');
    const template = pathToFileURL(path.join(source, 'dist/src/db/template.js')).href;
    const file = JSON.stringify(path.join(source, 'dist', 'template.tar.gz'));
    const program = `await (await import('${template}')).writeTemplate(${file}); process.exit(0);`;
    await node('--input-type=module', '--eval', program);

    const finished = `${root}.new`;
    rmSync(finished, { recursive: true, force: true });
    for (const name of ['dist', 'migrations', 'docs', 'package.json', ...(isShared ? [] : ['node_modules'])])
      cpSync(path.join(source, name), path.join(finished, name), { recursive: true });
    rmSync(root, { recursive: true, force: true });
    renameSync(finished, root);
  } finally {
    rmSync(work, { recursive: true, force: true, maxRetries: 5 });
  }
}

interface Manifest {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** Whether this checkout has every dependency of the previous release in the same version. */
function canShareModules(source: string): boolean {
  const read = (folder: string) =>
    JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as Manifest;
  return Object.entries(read(source).dependencies).every(([name, version]) => {
    const folder = path.join(ROOT, 'node_modules', name);
    return existsSync(folder) && read(folder).version === version;
  });
}
