import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** How the command line and health checks reach a running server without settings. */
export interface CliFile {
  readonly url: string;
  readonly operatorToken: string | undefined;
  readonly apiKey: string | undefined;
}

const demoKeyName = 'demo-key';

/** The demo organization's key that an earlier start has stored; undefined if there is none. */
export async function readDemoKey(dataDirectory: string): Promise<string | undefined> {
  const text = await readFile(join(dataDirectory, demoKeyName), 'utf8').catch(() => '');
  return text.trim() === '' ? undefined : text.trim();
}

export function writeDemoKey(dataDirectory: string, key: string): Promise<void> {
  return write(join(dataDirectory, demoKeyName), `${key}\n`);
}

export function writeCliFile(file: string, content: CliFile): Promise<void> {
  return write(file, `${JSON.stringify(content, null, 2)}\n`);
}

/** Called when the server stops. */
export function removeCliFile(file: string): Promise<void> {
  return rm(file, { force: true });
}

/** Readable by the owner only. Writes a temporary file and renames it, so that nobody reads a partial file. */
async function write(file: string, text: string): Promise<void> {
  await rm(`${file}.new`, { force: true });
  await writeFile(`${file}.new`, text, { mode: 0o600 });
  await rename(`${file}.new`, file);
}
