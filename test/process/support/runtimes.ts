import { spawnSync } from 'node:child_process';
import { canInstallPackages, installPackages } from '../../support/apt.ts';

/** The programs that run the receivers of the docs. Node runs the tests, so it is not listed. */
const runtimes = {
  python: { commands: ['python3'], args: ['--version'], package: 'python3' },
  // A python3 that is first on the path may not have the packages of Debian's.
  flask: {
    commands: ['python3', '/usr/bin/python3'],
    args: ['-c', 'import flask'],
    package: 'python3-flask',
  },
  django: {
    commands: ['python3', '/usr/bin/python3'],
    args: ['-c', 'import django'],
    package: 'python3-django',
  },
  go: { commands: ['go'], args: ['version'], package: 'golang-go' },
  php: { commands: ['php'], args: ['--version'], package: 'php-cli' },
} as const;

export type Runtime = keyof typeof runtimes;

/** The command that starts the runtime; undefined if it is not installed. */
export function findRuntime(name: Runtime): string | undefined {
  const { commands, args } = runtimes[name];
  return commands.find((command) => spawnSync(command, args).status === 0);
}

/**
 * With CI=true, installs the missing runtimes from Debian's packages: all of them take 15 s on two cores, for 87 MB to download. Elsewhere the
 * tests of a missing runtime are skipped, by name.
 */
export function installRuntimes(): void {
  if (process.env.CI !== 'true' || !canInstallPackages()) return;
  const missing = (Object.keys(runtimes) as Runtime[]).filter((name) => findRuntime(name) === undefined);
  if (missing.length === 0) return;
  process.stderr.write(`Installing ${missing.join(', ')} for the receivers of the docs...\n`);
  const error = installPackages(missing.map((name) => runtimes[name].package));
  if (error !== undefined) process.stderr.write(`${error}\n`);
}
