import { accessSync, constants, readdirSync } from 'node:fs';
import path from 'node:path';
import { canInstallPackages, installPackages } from './apt.ts';

/** Programs of other projects that some tests run, and the Debian packages that contain them. */
export interface Needed {
  readonly programs: readonly string[];
  readonly packages: readonly string[];
}

export type FoundPrograms =
  | { readonly files: Readonly<Record<string, string>> }
  | { readonly missing: string };

/** Debian installs servers where only root's PATH leads. */
const systemFolders = ['/usr/sbin', '/usr/local/sbin', '/sbin'];

/**
 * Finds the programs. With CI=true as root on Debian it installs what is missing; elsewhere the tests that need them are skipped, by name:
 * nobody expects a test run to change a laptop.
 */
export function findPrograms({ programs, packages }: Needed): FoundPrograms {
  const isInstaller = process.env.CI === 'true' && canInstallPackages();
  if (isInstaller && programs.some((name) => fileOf(name) === undefined)) {
    process.stderr.write(`Installing ${packages.join(', ')} for the tests (once)...\n`);
    const failed = installPackages(packages);
    if (failed !== undefined) return { missing: failed };
  }
  const absent = programs.filter((name) => fileOf(name) === undefined);
  if (absent.length > 0)
    return { missing: `${absent.join(', ')} not found (Debian: ${packages.join(', ')})` };
  return { files: Object.fromEntries(programs.map((name) => [name, fileOf(name) ?? name])) };
}

function fileOf(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), ...systemFolders];
  return folders.map((folder) => path.join(folder, name)).find(isRunnable);
}

function isRunnable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The newest PostgreSQL that Debian's packages installed, with all of its programs. */
export function systemPostgres(): string | undefined {
  const folder = '/usr/lib/postgresql';
  const versions = (() => {
    try {
      return readdirSync(folder);
    } catch {
      return [];
    }
  })();
  return versions
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => `${folder}/${version}/bin`)
    .find((bin) => isRunnable(`${bin}/pg_rewind`));
}
