import { constants, existsSync, readdirSync, statSync } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../version.ts';
import { type CheckContext, type Finding, fail, ok, warn } from './check.ts';

const nodeMin = [20, 19] as const;
const diskBytesMin = 500 * 1024 * 1024;
const portDefault = '4000';

export function checkNode(version = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isNew = major > nodeMin[0] || (major === nodeMin[0] && minor >= nodeMin[1]);
  return isNew
    ? ok('node', `Node ${version}`)
    : fail('node', `Node ${version} is too old`, `Install Node ${nodeMin.join('.')} or newer.`);
}

/** In a checkout, `dist` must be newer than the sources. An installed package has no sources, and nothing to check. */
export function checkBuild(root = packageRoot && fileURLToPath(packageRoot)): readonly Finding[] {
  if (root === undefined || !existsSync(join(root, 'src'))) return [];
  const stamp = join(root, 'dist', '.stamp');
  if (!existsSync(stamp)) return [warn('build', 'dist is missing', 'Run npm run build.')];
  const built = statSync(stamp).mtimeMs;
  const newer = ['src', 'sdk', 'cli', 'migrations'].flatMap((folder) => newerIn(join(root, folder), built));
  if (newer.length === 0) return [ok('build', 'dist is up to date')];
  return [
    warn(
      'build',
      `${newer.length} sources are newer than dist, such as ${newer[0]?.slice(root.length)}`,
      'Run npm run build; "npm start" builds by itself.',
    ),
  ];
}

function newerIn(folder: string, than: number): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /(?<!\.test)\.(ts|sql)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => statSync(file).mtimeMs > than);
}

/** Whether a server could be started here. With a server that responds, no other one is needed. */
export async function checkPort(
  { session }: CheckContext,
  isReachable: boolean,
): Promise<readonly Finding[]> {
  if (isReachable) return [];
  const port = Number(session.env.PORT || portDefault);
  const host = session.env.HOST || '127.0.0.1';
  const isFree = await new Promise<boolean>((settle) => {
    const probe = createServer();
    probe.once('error', () => settle(false));
    probe.listen(port, host, () => probe.close(() => settle(true)));
  });
  if (isFree) return [ok('port', `${host}:${port} is free for a server`)];
  return [
    warn(
      'port',
      `${host}:${port} is in use by another program`,
      'Start the server with --port, or stop the other program.',
    ),
  ];
}

export async function checkDataDirectory({ session, data }: CheckContext): Promise<readonly Finding[]> {
  if (session.env.DATABASE_URL) return [];
  const named = data ?? (session.env.SANDBANK_DATA_DIR || '.sandbank');
  if (named === 'memory') return [ok('data', 'in memory: nothing is stored')];
  const directory = resolve(session.directory, named);
  const checked = existsSync(directory) ? directory : dirname(directory);
  const exists = checked === directory;
  const isWritable = await access(checked, constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  );
  const found: Finding[] = [];
  if (exists && !(await stat(directory)).isDirectory())
    return [fail('data', `${directory} is a file`, 'Choose another directory with --data.')];
  if (!isWritable)
    return [
      fail(
        'data',
        `${checked} is not writable`,
        'Make it writable for this user, or choose another directory with --data.',
      ),
    ];
  found.push(exists ? ok('data', directory) : ok('data', `${directory} is created at the first start`));
  const secret = join(directory, 'secret');
  if (existsSync(secret) && process.platform !== 'win32' && (statSync(secret).mode & 0o077) !== 0)
    found.push(warn('data', `other users can read ${secret}`, `Run chmod 600 ${secret}.`));
  const { bavail, bsize } = await statfs(checked);
  const free = bavail * bsize;
  const mebibytes = Math.floor(free / 1024 / 1024);
  found.push(
    free >= diskBytesMin
      ? ok('disk', `${mebibytes} MiB are free`)
      : warn(
          'disk',
          `only ${mebibytes} MiB are free`,
          'Free some space: a database that cannot write stops.',
        ),
  );
  return found;
}

export function checkSecret({ session: { env } }: CheckContext): Finding {
  const secret = env.SANDBANK_SECRET ?? '';
  const make = 'Create one with "openssl rand -hex 32"; all nodes need the same.';
  if (secret !== '' && secret.length < 32) return fail('secret', 'SANDBANK_SECRET is too short', make);
  if (secret !== '') return ok('secret', 'SANDBANK_SECRET is set');
  if (env.DATABASE_URL) return fail('secret', 'SANDBANK_SECRET is not set, and DATABASE_URL is', make);
  return ok('secret', 'created by the server and stored with its data');
}
