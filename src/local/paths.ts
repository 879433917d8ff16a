import { readFileSync } from 'node:fs';

/** The package folder. This module is two folders below it, as a source file and in the build. */
export const packageRoot = new URL('../../', import.meta.url);

/** What the build made. Code that was not built uses it too: a worker thread runs from JavaScript only. */
export const built = new URL('dist/', packageRoot);

export function packageVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('package.json', packageRoot), 'utf8')) as {
    version: string;
  };
  return manifest.version;
}
