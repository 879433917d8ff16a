import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Source, source } from './source.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const generated = /^(?:\.git|\.sandbank|node_modules|coverage|dist(?:\..*)?)$/;

/** All text files that git tracks or does not ignore; in a folder without git, all files except generated ones. */
export function readTree(): Source[] {
  return (trackedFiles() ?? filesUnder(''))
    .filter((file) => existsSync(path.join(root, file)))
    .map((file) => ({ file, text: readFileSync(path.join(root, file), 'utf8') }))
    .filter(({ text }) => !text.includes('\0'))
    .map(({ file, text }) => source(file, text));
}

function trackedFiles(): string[] | undefined {
  try {
    const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const files = list.split('\0').filter((file) => file !== '');
    return files.length > 0 ? files : undefined;
  } catch {
    return undefined;
  }
}

function filesUnder(folder: string): string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true })
    .filter((entry) => !generated.test(entry.name))
    .flatMap((entry) => {
      const child = path.posix.join(folder, entry.name);
      return entry.isDirectory() ? filesUnder(child) : [child];
    });
}
