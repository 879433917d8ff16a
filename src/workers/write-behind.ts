import { DatabaseFailure } from '../db/failure.ts';

export interface WriteBehindSettings<Batch> {
  readonly everyMs: number;
  readonly isEmpty: () => boolean;
  /** There is enough for a write without waiting for the timer. */
  readonly isFull: () => boolean;
  /** Removes one batch from memory. */
  readonly take: () => Batch;
  readonly write: (batch: Batch) => Promise<void>;
  /** The number of writes that empties a full buffer. */
  readonly writesMax: number;
  /** Called with a batch that could not be written and is lost. */
  readonly onLost?: (batch: Batch) => void;
  readonly onError: (error: unknown, what: string) => void;
  /** The log message for a failed write. */
  readonly problem: string;
}

const closeMsMax = 3_000;

/**
 * Writes collected data asynchronously, after the responses. It is idle until data arrives, then waits for its timer or for a
 * full batch, and writes one batch at a time. Data that cannot be written is lost: no response ever waits for it.
 */
export class WriteBehind<Batch> {
  readonly #settings: WriteBehindSettings<Batch>;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #isFailing = false;

  constructor(settings: WriteBehindSettings<Batch>) {
    this.#settings = settings;
  }

  /** Call after adding data: writes at once when a batch is full, otherwise when the timer fires. */
  schedule(): void {
    if (this.#writing) return;
    if (this.#settings.isFull()) void this.#write();
    else this.#startTimer();
  }

  /** Writes all data that was added before the call. */
  async flush(): Promise<void> {
    const { isEmpty, writesMax } = this.#settings;
    await this.#writing;
    for (let writes = 0; !isEmpty() && writes <= writesMax; writes += 1) await this.#write();
  }

  /** The last flush, with a timeout: an unavailable database must not delay the exit. */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, closeMsMax);
    });
    await Promise.race([this.flush(), late]);
    clearTimeout(timer);
    clearTimeout(this.#timer);
  }

  #startTimer(): void {
    if (this.#timer) return;
    this.#timer = setTimeout(() => void this.#write(), this.#settings.everyMs);
    this.#timer.unref();
  }

  #write(): Promise<void> {
    this.#writing ??= this.#writeOnce().finally(() => {
      this.#writing = undefined;
      if (!this.#settings.isEmpty()) this.schedule();
    });
    return this.#writing;
  }

  async #writeOnce(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { take, write, onLost, onError, problem } = this.#settings;
    const batch = take();
    try {
      await write(batch).catch((error: unknown) => {
        // A conflict with another node on the same row: nothing was written, and the next attempt succeeds.
        if (error instanceof DatabaseFailure && error.kind !== 'unavailable') return write(batch);
        throw error;
      });
      this.#isFailing = false;
    } catch (error) {
      onLost?.(batch);
      // Report only the first failure, not four per second while the database is unavailable.
      if (!this.#isFailing) onError(error, problem);
      this.#isFailing = true;
    }
  }
}
