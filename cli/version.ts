import { existsSync, readFileSync } from 'node:fs';

/** The package folder, both when run from source and from the build. */
export const packageRoot = [new URL('../', import.meta.url), new URL('../../', import.meta.url)].find(
  (folder) => existsSync(new URL('package.json', folder)),
);

export function ownVersion(): string {
  if (packageRoot === undefined) return 'unknown';
  const manifest = JSON.parse(readFileSync(new URL('package.json', packageRoot), 'utf8')) as {
    version: string;
  };
  return manifest.version;
}
