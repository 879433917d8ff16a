import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters, styleText } from 'node:util';
import { DefaultReporter, type TestCase, type TestModule, type TestSpecification } from 'vitest/node';

const everyMs = 15_000;

/** How many of the slowest files are named at the end. */
const slowestCount = 5;

/** The length of an error in the summary of all tiers; the full error is further up. */
const errorCharactersMax = 300;

/**
 * Prints failures at once, a line of progress every 15 s, and at the end for each failed test the command that repeats only it.
 * Passed files are not listed: a run has 250 of them.
 *
 * `npm test` runs the tiers one after another and names a file in `SANDBANK_TEST_FAILURES`: failures are also written there, short, so that
 * its last lines can list the failures of all tiers.
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
    if (module.state() !== 'failed') return;
    super.onTestModuleEnd(module);
    // The errors in full come at the end of the run, which may be minutes away.
    for (const line of this.#linesOf(module)) this.log(line);
  }

  override async onTestRunEnd(...args: Parameters<DefaultReporter['onTestRunEnd']>): Promise<void> {
    clearInterval(this.#timer);
    await super.onTestRunEnd(...args);
    const [modules, unhandledErrors] = args;
    this.#printSlowest(modules);
    const failed = modules.filter((module) => module.state() === 'failed');
    if (failed.length > 0) this.#printRepeats(failed);
    const { SANDBANK_TEST_FAILURES: failuresFile } = process.env;
    if (!failuresFile) return;
    const lines = [
      ...failed.flatMap((module) => this.#linesOf(module)),
      ...unhandledErrors.map((error) => `outside of tests: ${shortened(error.message)}`),
    ];
    appendFileSync(failuresFile, lines.map((line) => `${line}\n`).join(''));
  }

  #printSlowest(modules: readonly TestModule[]): void {
    const slowest = modules
      .map((module) => ({ file: this.#fileOf(module), seconds: module.diagnostic().duration / 1_000 }))
      .sort((a, b) => b.seconds - a.seconds)
      .slice(0, slowestCount)
      .map(({ file, seconds }) => `${file} ${seconds.toFixed(1)} s`);
    if (modules.length > slowestCount) this.log(`Slowest files: ${slowest.join(', ')}\n`);
  }

  #printRepeats(failed: readonly TestModule[]): void {
    this.log(styleText('bold', '\nTo repeat what failed:'));
    for (const module of failed) {
      const file = this.#fileOf(module);
      const names = [...module.children.allTests('failed')].map(({ fullName }) => fullName);
      // Many failures of one file usually have one cause: then the whole file is the better start.
      if (names.length === 0 || names.length > 5) this.log(`  npm test -- ${file}`);
      else for (const name of names) this.log(`  npm test -- ${file} -t ${JSON.stringify(patternOf(name))}`);
    }
    this.log('');
  }

  #linesOf(module: TestModule): string[] {
    const file = this.#fileOf(module);
    const suites = [...module.children.allSuites()].flatMap((suite) => suite.errors());
    return [
      ...[...module.errors(), ...suites].map(({ message }) => `${file}: ${shortened(message)}`),
      ...[...module.children.allTests('failed')].map(
        (test) => `${file} > ${test.fullName}: ${errorOf(test)}`,
      ),
    ];
  }

  #fileOf(module: TestModule): string {
    return relative(this.ctx.config.root, module.moduleId);
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

function errorOf(test: TestCase): string {
  return shortened(test.result().errors?.[0]?.message ?? 'no error was reported');
}

function shortened(message: string): string {
  const line = stripVTControlCharacters(message).replace(/\s+/g, ' ').trim();
  return line.length > errorCharactersMax ? `${line.slice(0, errorCharactersMax)}…` : line;
}

/** `-t` takes a regular expression, in which the names of the blocks are joined by spaces. */
function patternOf(fullName: string): string {
  return fullName.replaceAll(' > ', ' ').replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
