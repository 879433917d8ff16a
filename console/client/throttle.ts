// Two reads of a page within this time would show nothing more.
const pauseMs = 300;

/**
 * Runs an asynchronous task at once, and again after the next call: never twice at the same time, and with a pause that
 * grows with its duration, so that a slow server gets no more requests than it can answer.
 */
export class Throttle {
  readonly #task: () => Promise<void>;
  readonly #now: () => number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isRunning = false;
  #isWanted = false;
  #isStopped = false;

  constructor(task: () => Promise<void>, now: () => number = () => performance.now()) {
    this.#task = task;
    this.#now = now;
  }

  call(): void {
    this.#isWanted = true;
    this.#run();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #run(): void {
    if (this.#isRunning || this.#isStopped || !this.#isWanted) return;
    this.#isRunning = true;
    this.#isWanted = false;
    const start = this.#now();
    this.#task()
      .catch(() => undefined)
      .finally(() => {
        this.#timer = setTimeout(
          () => {
            this.#isRunning = false;
            this.#run();
          },
          Math.max(pauseMs, this.#now() - start),
        );
      });
  }
}
