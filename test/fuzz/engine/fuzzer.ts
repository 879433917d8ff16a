import type { Coverage } from './coverage.ts';
import { mutate } from './mutate.ts';
import { below, pick, type Random } from './random.ts';

export interface Target {
  readonly name: string;
  /** Valid and nearly valid inputs to begin with. */
  readonly seeds: readonly string[];
  /** Texts that have a meaning for the code under test. */
  readonly dictionary: readonly string[];
  /** Random inputs by a grammar, for inputs that changed characters hardly reach. */
  readonly generate?: (random: Random, input: string) => string;
  readonly lengthMax?: number;
  /** An input that takes longer fails. */
  readonly msMax?: number;
  /** Runs once, before the first check. */
  readonly prepare?: () => Promise<void>;
  readonly close?: () => Promise<void>;
  /**
   * Throws if the guarantee does not hold. Returns the outcome as a short text, such as `rejected: too long`: an input with a new outcome
   * stays in the corpus, as does one that executes new code.
   */
  readonly check: (input: string) => string | Promise<string>;
}

/** An input that does not satisfy the guarantee. */
export class FailingInput extends Error {
  override readonly name = 'FailingInput';
  readonly input: string;

  constructor(input: string, cause: unknown) {
    super('the input fails', { cause });
    this.input = input;
  }
}

const lengthMaxDefault = 2_000;
const inputsMax = 2_000;
const outcomesMax = 300;
/** Most of the time belongs to the inputs, not to the coverage. */
const batchMsMin = 15;
const readShare = 0.2;
const batchInputsMax = 400;
/** A regular expression that backtracks takes seconds for an input of this length. */
const msMaxDefault = 1_000;
const generatedShare = 0.3;

/** Changes inputs at random, and keeps those that execute new code or have a new outcome. */
export class Fuzzer {
  readonly #target: Target;
  readonly #coverage: Coverage;
  readonly #random: Random;
  readonly #outcomes = new Set<string>();
  #inputs: string[] = [];
  /** How long the last reading of the coverage took. */
  #readMs = 0;
  executions = 0;

  constructor(target: Target, coverage: Coverage, random: Random) {
    this.#target = target;
    this.#coverage = coverage;
    this.#random = random;
  }

  get inputs(): readonly string[] {
    return this.#inputs;
  }

  get outcomes(): ReadonlySet<string> {
    return this.#outcomes;
  }

  /** Begins with the seeds, and with the inputs that add coverage to them, shortest first. */
  async load(inputs: readonly string[]): Promise<void> {
    this.#coverage.clear();
    this.#coverage.read();
    this.#outcomes.clear();
    this.#inputs = [];
    for (const seed of this.#target.seeds) {
      await this.#execute(seed);
      this.#retain(seed);
    }
    this.#coverage.add(this.#coverage.read());
    for (const input of [...new Set(inputs)].toSorted((a, b) => a.length - b.length)) {
      if (await this.#execute(input)) this.#retain(input);
      await this.#sift([input], false);
    }
  }

  async run(until: number): Promise<void> {
    while (performance.now() < until) {
      const batch: string[] = [];
      const startedAt = performance.now();
      const batchMs = Math.max(batchMsMin, this.#readMs / readShare);
      while (batch.length < batchInputsMax && performance.now() - startedAt < batchMs) {
        const input = this.#next();
        batch.push(input);
        if (await this.#execute(input)) this.#retain(input);
      }
      await this.#sift(batch, false);
    }
  }

  /** The error of an input, or undefined. */
  async failure(input: string): Promise<unknown> {
    return this.#execute(input).then(
      () => undefined,
      (error: unknown) => (error instanceof FailingInput ? error.cause : error),
    );
  }

  #next(): string {
    const { dictionary, generate, lengthMax = lengthMaxDefault } = this.#target;
    // Later inputs were harder to find.
    const newest = this.#inputs.slice(-20);
    const input = pick(this.#random, this.#random() < 0.3 ? newest : this.#inputs);
    if (generate && this.#random() < generatedShare) return generate(this.#random, input).slice(0, lengthMax);
    return mutate(input, this.#random, this.#inputs, dictionary).slice(0, lengthMax);
  }

  /** Returns whether the outcome is new. */
  async #execute(input: string): Promise<boolean> {
    this.executions += 1;
    const { msMax = msMaxDefault } = this.#target;
    try {
      const { outcome, ms } = await this.#timed(input);
      // A busy machine interrupts any call, but not the same one three times.
      if (ms > msMax && (await this.#timed(input)).ms > msMax && (await this.#timed(input)).ms > msMax)
        throw new Error(`the input takes ${Math.round(ms)} ms`);
      if (this.#outcomes.has(outcome) || this.#outcomes.size >= outcomesMax) return false;
      this.#outcomes.add(outcome);
      return true;
    } catch (error) {
      throw new FailingInput(input, error);
    }
  }

  async #timed(input: string): Promise<{ readonly outcome: string; readonly ms: number }> {
    const startedAt = performance.now();
    const checked = this.#target.check(input);
    // A synchronous check does not wait for other tasks of the process.
    const outcome = typeof checked === 'string' ? checked : await checked;
    return { outcome, ms: performance.now() - startedAt };
  }

  /** Finds the inputs of a batch that executed new code, by halves. */
  async #sift(batch: readonly string[], isRepeated: boolean): Promise<void> {
    if (isRepeated) for (const input of batch) await this.#execute(input);
    const startedAt = performance.now();
    const reading = this.#coverage.read();
    const isNew = this.#coverage.isNew(reading);
    this.#readMs = performance.now() - startedAt;
    if (!isNew) return;
    if (batch.length === 1) this.#retain(batch[0] ?? '');
    const half = Math.ceil(batch.length / 2);
    if (batch.length > 1)
      for (const part of [batch.slice(0, half), batch.slice(half)]) await this.#sift(part, true);
    // Also what runs only once, such as the first use of a cache, which no repetition shows.
    this.#coverage.add(reading);
  }

  #retain(input: string): void {
    if (this.#inputs.includes(input)) return;
    if (this.#inputs.length >= inputsMax) this.#inputs.splice(below(this.#random, inputsMax), 1);
    this.#inputs.push(input);
  }
}
