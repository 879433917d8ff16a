import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** How the command line and health checks reach a running server without settings. */
export interface CliFile {
  readonly url: string;
  readonly operatorToken: string | undefined;
  readonly apiKey: string | undefined;
}

const demoKeyName = 'demo-key';

/** The key of the demo organization, as an earlier start has kept it; undefined when none did. */
export async function readDemoKey(dataDirectory: string): Promise<string | undefined> {
  const text = await readFile(join(dataDirectory, demoKeyName), 'utf8').catch(() => '');
  return text.trim() === '' ? undefined : text.trim();
}

export function keepDemoKey(dataDirectory: string, key: string): Promise<void> {
  return write(join(dataDirectory, demoKeyName), `${key}\n`);
}

export function writeCliFile(file: string, content: CliFile): Promise<void> {
  return write(file, `${JSON.stringify(content, null, 2)}\n`);
}

/** A stopped server cannot be reached any more. */
export function removeCliFile(file: string): Promise<void> {
  return rm(file, { force: true });
}

/** For their owner alone; written aside and put into place, so that nobody reads half of it. */
async function write(file: string, text: string): Promise<void> {
  await rm(`${file}.new`, { force: true });
  await writeFile(`${file}.new`, text, { mode: 0o600 });
  await rename(`${file}.new`, file);
}
