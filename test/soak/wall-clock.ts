import { renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

const preloaded = fileURLToPath(new URL('shifted-clock.mjs', import.meta.url));

/** The wall clock of all server processes: the machine's, ahead by an offset that only grows. */
export class WallClock {
  readonly #file: string;
  #offsets = [0];

  constructor(file: string) {
    this.#file = file;
    this.#write(0);
  }

  /** The arguments of Node and the environment with which a process uses this clock. */
  get nodeArgs(): readonly string[] {
    return ['--expose-gc', '--import', pathToFileURL(preloaded).href];
  }

  get env(): Readonly<Record<string, string>> {
    return { SOAK_CLOCK_FILE: this.#file };
  }

  /** The present time by each offset, newest first: a message that was signed before a jump may arrive after it. */
  get times(): readonly number[] {
    return this.#offsets.map((offset) => Date.now() + offset);
  }

  get now(): number {
    return Date.now() + (this.#offsets[0] ?? 0);
  }

  jump(ms: number): void {
    const [offset = 0] = this.#offsets;
    this.#offsets.unshift(offset + ms);
    this.#write(offset + ms);
  }

  /** A process never reads half of a number. */
  #write(offset: number): void {
    writeFileSync(`${this.#file}.next`, String(offset));
    renameSync(`${this.#file}.next`, this.#file);
  }
}
