import { existsSync, readFileSync } from 'node:fs';

/** The package folder: the nearest one above with a package.json. How far that is differs between sources, build and bundle. */
export const packageRoot = nearestPackage(new URL('./', import.meta.url));

/** The build output. Code run from source needs it too, because a worker thread runs only JavaScript. */
export const built = new URL('dist/', packageRoot);

export function packageVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('package.json', packageRoot), 'utf8')) as {
    version: string;
  };
  return manifest.version;
}

function nearestPackage(folder: URL): URL {
  if (existsSync(new URL('package.json', folder))) return folder;
  const above = new URL('../', folder);
  if (above.href === folder.href) throw new Error(`no package.json above ${import.meta.url}`);
  return nearestPackage(above);
}
