import { readFileSync } from 'node:fs';

/** Where this file stands: among the sources, or in what the build made of them, one folder deeper. */
const isSource = import.meta.url.endsWith('.ts');

/** The folder of the package. */
export const packageRoot = new URL(isSource ? '../' : '../../', import.meta.url);

/** What the build made. Code that was not built uses it too: a worker thread runs from JavaScript only. */
export const built = new URL('dist/', packageRoot);

export function packageVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('package.json', packageRoot), 'utf8')) as {
    version: string;
  };
  return manifest.version;
}
