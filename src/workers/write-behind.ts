import { DatabaseFailure } from '../db/failure.ts';

export interface WriteBehindSettings<Batch> {
  readonly everyMs: number;
  readonly isEmpty: () => boolean;
  /** There is enough for a write without waiting for the timer. */
  readonly isFull: () => boolean;
  /** Removes one batch from memory. */
  readonly take: () => Batch;
  readonly write: (batch: Batch) => Promise<void>;
  /**
   * A second write of the same batch adds nothing. Such a batch is written again after the database was unavailable, because a lost
   * connection does not reveal whether the first write was executed. Others would be counted twice.
   */
  readonly isRepeatable?: boolean;
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
 * full batch, and writes one batch at a time. No response ever waits for it.
 */
export class WriteBehind<Batch> {
  readonly #settings: WriteBehindSettings<Batch>;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #isFailing = false;
  /** A batch that is written again when the database is available. */
  #held: Batch | undefined;

  constructor(settings: WriteBehindSettings<Batch>) {
    this.#settings = settings;
  }

  /** Call after adding data: writes at once when a batch is full, otherwise when the timer fires. */
  schedule(): void {
    if (this.#writing) return;
    // While the database is unavailable, the timer sets the pace.
    if (this.#settings.isFull() && !this.#isFailing) void this.#write();
    else this.#startTimer();
  }

  /** Writes all data that was added before the call, unless the database is unavailable. */
  async flush(): Promise<void> {
    await this.#writing;
    for (let writes = 0; !this.#isEmpty && writes <= this.#settings.writesMax; writes += 1) {
      await this.#write();
      if (this.#isFailing) return;
    }
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
    if (this.#held) this.#settings.onLost?.(this.#held);
    this.#held = undefined;
  }

  get #isEmpty(): boolean {
    return this.#held === undefined && this.#settings.isEmpty();
  }

  #startTimer(): void {
    if (this.#timer) return;
    this.#timer = setTimeout(() => void this.#write(), this.#settings.everyMs);
    this.#timer.unref();
  }

  #write(): Promise<void> {
    this.#writing ??= this.#writeOnce().finally(() => {
      this.#writing = undefined;
      if (!this.#isEmpty) this.schedule();
    });
    return this.#writing;
  }

  async #writeOnce(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { take, write, onLost, onError, problem, isRepeatable = false } = this.#settings;
    const batch = this.#held ?? take();
    this.#held = undefined;
    try {
      await write(batch).catch((error: unknown) => {
        // A conflict with another node on the same row: nothing was written, and the next attempt succeeds.
        if (!isUnavailable(error) && error instanceof DatabaseFailure) return write(batch);
        throw error;
      });
      this.#isFailing = false;
    } catch (error) {
      if (isRepeatable && isUnavailable(error)) this.#held = batch;
      else onLost?.(batch);
      // Report only the first failure, not four per second while the database is unavailable.
      if (!this.#isFailing) onError(error, problem);
      this.#isFailing = true;
    }
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof DatabaseFailure && error.kind === 'unavailable';
}
