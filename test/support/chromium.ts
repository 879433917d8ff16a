import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright-core';

/**
 * The browser of the tests. What is on the machine is used; where we are root and have Debian's packages, as in most CI
 * images, it is installed. With CI=true a run without a browser fails; elsewhere its tests are skipped, by name.
 */
export type Found = { readonly file: string } | { readonly missing: string };

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'microsoft-edge'];
const installMsMax = 10 * 60_000;

export function findChromium(env: Readonly<Record<string, string | undefined>> = process.env): Found {
  const own = env.SANDBANK_CHROMIUM;
  if (own)
    return isRunnable(own)
      ? { file: own }
      : { missing: `SANDBANK_CHROMIUM names ${own}, which cannot be run` };
  const here = onPath(env) ?? ofPlaywright();
  if (here !== undefined) return { file: here };
  const why = install();
  const installed = onPath(env);
  return installed === undefined ? { missing: why } : { file: installed };
}

function onPath(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const folders = (env.PATH ?? '').split(path.delimiter);
  return names.flatMap((name) => folders.map((folder) => path.join(folder, name))).find(isRunnable);
}

/** One that `npx playwright-core install chromium` has put into its cache. */
function ofPlaywright(): string | undefined {
  const file = chromium.executablePath();
  return isRunnable(file) ? file : undefined;
}

function install(): string {
  const isRoot = process.getuid?.() === 0;
  if (!isRoot || spawnSync('apt-get', ['--version']).status !== 0)
    return 'no Chromium was found: install one, or name it in SANDBANK_CHROMIUM';
  process.stderr.write('Installing Chromium for the tests of the console (once, about a minute)...\n');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const options = { env, encoding: 'utf8', timeout: installMsMax } as const;
  const steps = [
    ['update'],
    ['install', '--yes', '--no-install-recommends', 'chromium', 'fonts-dejavu-core'],
  ];
  for (const step of steps) {
    const { status, stderr, stdout } = spawnSync('apt-get', step, options);
    if (status !== 0) return `apt-get ${step[0]} failed: ${`${stderr}${stdout}`.trim().split('\n').at(-1)}`;
  }
  return 'Chromium was installed and is not there';
}

function isRunnable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
