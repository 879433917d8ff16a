import { existsSync, lstatSync, readFileSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { CliProblem, wrongUsage } from '../problem.ts';
import type { Surroundings } from './project.ts';

const fileBytesMax = 1024 * 1024;
const foldersUpMax = 64;
const orUndefined = { throwIfNoEntry: false } as const;

/** The folder of a project. Only regular files below it are written; symbolic links are not followed. */
export class ProjectFolder implements Surroundings {
  readonly path: string;

  constructor(path: string) {
    this.path = resolve(path);
    if (statSync(this.path, orUndefined)?.isDirectory() === false)
      throw wrongUsage(`${this.path} is not a folder.`);
  }

  readonly has = (name: string): boolean => existsSync(join(this.path, name));

  readonly nearest = (names: readonly string[]): string | undefined => {
    let folder = this.path;
    for (let up = 0; up < foldersUpMax; up += 1) {
      const found = names.map((name) => join(folder, name)).find((file) => existsSync(file));
      if (found !== undefined) return relative(this.path, found).split(sep).join('/');
      if (dirname(folder) === folder) return undefined;
      folder = dirname(folder);
    }
    return undefined;
  };

  /** What is at this path: nothing, a file that can be replaced, or something to leave alone. */
  stateOf(path: string): 'absent' | 'file' | 'other' {
    const parts = path.split('/');
    for (let depth = 1; depth < parts.length; depth += 1) {
      const parent = lstatSync(join(this.path, ...parts.slice(0, depth)), orUndefined);
      if (parent === undefined) return 'absent';
      if (!parent.isDirectory()) return 'other';
    }
    const found = lstatSync(join(this.path, path), orUndefined);
    if (found === undefined) return 'absent';
    return found.isFile() ? 'file' : 'other';
  }

  /** Undefined when there is no such file. */
  read(path: string): string | undefined {
    const file = join(this.path, path);
    const found = statSync(file, orUndefined);
    if (found === undefined) return undefined;
    if (!found.isFile() || found.size > fileBytesMax)
      throw new CliProblem(`${file} is not a file of at most 1 MiB.`);
    return readFileSync(file, 'utf8');
  }

  async write(path: string, content: string): Promise<void> {
    const state = this.stateOf(path);
    const file = join(this.path, path);
    if (state === 'other') throw new CliProblem(`${file} is not a regular file.`);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content, { flag: state === 'absent' ? 'wx' : 'w' });
  }
}
