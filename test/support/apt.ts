import { spawnSync } from 'node:child_process';

const installMsMax = 10 * 60_000;
/** Another installation may hold the lock, for example the automatic upgrades of a new machine. */
const lockWait = ['-o', 'DPkg::Lock::Timeout=300'];

/** True as root on Debian and its derivatives, as in most CI images. */
export function canInstallPackages(): boolean {
  return process.getuid?.() === 0 && spawnSync('apt-get', ['--version']).status === 0;
}

/** Installs Debian packages. Returns the error if it fails. */
export function installPackages(names: readonly string[]): string | undefined {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const options = { env, encoding: 'utf8', timeout: installMsMax } as const;
  for (const step of [['update'], ['install', '--yes', '--no-install-recommends', ...names]]) {
    const { status, stderr, stdout } = spawnSync('apt-get', [...lockWait, ...step], options);
    if (status !== 0) return `apt-get ${step[0]} failed: ${`${stderr}${stdout}`.trim().split('\n').at(-1)}`;
  }
  return undefined;
}
