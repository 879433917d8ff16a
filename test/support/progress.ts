import { relative } from 'node:path';
import { styleText } from 'node:util';
import { DefaultReporter, type TestModule, type TestSpecification } from 'vitest/node';

const everyMs = 15_000;

/**
 * Prints failures at once, a line of progress every 15 s, and at the end for each failed test the command that repeats only it.
 * Passed files are not listed: a run has 250 of them.
 */
export class Progress extends DefaultReporter {
  #all = 0;
  #done = 0;
  #startedAt = 0;
  readonly #running = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor() {
    super({ summary: false });
  }

  override onTestRunStart(specifications: readonly TestSpecification[]): void {
    super.onTestRunStart(specifications);
    this.#all = new Set(specifications.map(({ moduleId, project }) => `${project.name} ${moduleId}`)).size;
    this.#startedAt = performance.now();
    this.#timer = setInterval(() => this.#print(), everyMs);
    this.#timer.unref();
  }

  onTestModuleStart(module: TestModule): void {
    this.#running.set(module.moduleId, performance.now());
  }

  override onTestModuleEnd(module: TestModule): void {
    this.#running.delete(module.moduleId);
    this.#done += 1;
    if (module.state() === 'failed') super.onTestModuleEnd(module);
  }

  override async onTestRunEnd(...args: Parameters<DefaultReporter['onTestRunEnd']>): Promise<void> {
    clearInterval(this.#timer);
    await super.onTestRunEnd(...args);
    const failed = args[0].filter((module) => module.state() === 'failed');
    if (failed.length === 0) return;
    this.log(styleText('bold', '\nTo repeat what failed:'));
    for (const module of failed) {
      const file = relative(this.ctx.config.root, module.moduleId);
      const names = [...module.children.allTests('failed')].map(({ fullName }) => fullName);
      // Many failures of one file usually have one cause: then the whole file is the better start.
      if (names.length === 0 || names.length > 5) this.log(`  npm test -- ${file}`);
      else for (const name of names) this.log(`  npm test -- ${file} -t ${JSON.stringify(patternOf(name))}`);
    }
    this.log('');
  }

  #print(): void {
    const [slowest] = [...this.#running].sort(([, a], [, b]) => a - b);
    const running = slowest
      ? `, running ${relative(this.ctx.config.root, slowest[0])} for ${clock(slowest[1])}`
      : '';
    this.log(`${this.#done} of ${this.#all} files, ${clock(this.#startedAt)}${running}`);
  }
}

/** Minutes and seconds since then. */
function clock(since: number): string {
  const seconds = Math.round((performance.now() - since) / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** `-t` takes a regular expression, in which the names of the blocks are joined by spaces. */
function patternOf(fullName: string): string {
  return fullName.replaceAll(' > ', ' ').replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
