import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { canInstallPackages, installPackages } from './apt.ts';

/**
 * The browser of the tests. Uses an installed browser; as root on Debian, as in most CI images, installs one. With CI=true a run without
 * a browser fails; elsewhere the browser tests are skipped, by name.
 */
export type Found = { readonly file: string } | { readonly missing: string };

/**
 * The headless shell comes first: it takes a quarter less time (26 tests: 108 s instead of 149 s). With the whole browser, a
 * click on a visible button once timed out on a busy machine.
 */
const names = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'microsoft-edge',
];

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

/** The browser that `npx playwright-core install chromium` has cached. */
function ofPlaywright(): string | undefined {
  const file = chromium.executablePath();
  return isRunnable(file) ? file : undefined;
}

function install(): string {
  if (!canInstallPackages()) return 'no Chromium was found: install one, or name it in SANDBANK_CHROMIUM';
  process.stderr.write('Installing Chromium for the tests of the console (once, about a minute)...\n');
  const fonts = 'fonts-dejavu-core';
  // Derivatives of Debian have only the whole browser.
  const failed = installPackages(['chromium-headless-shell', fonts]) && installPackages(['chromium', fonts]);
  return failed ?? 'Chromium was installed and is not there';
}

function isRunnable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
