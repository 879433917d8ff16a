import { DatabaseFailure } from '../kernel/failure.ts';

export interface WriteBehindSettings<Batch> {
  readonly everyMs: number;
  readonly isEmpty: () => boolean;
  /** There is enough for a write of its own. */
  readonly isFull: () => boolean;
  /** Takes out of memory what one write takes. */
  readonly take: () => Batch;
  readonly write: (batch: Batch) => Promise<void>;
  /** How many writes take all that memory can hold. */
  readonly writesMax: number;
  /** What could not be written is gone. */
  readonly onLost?: (batch: Batch) => void;
  readonly onError: (error: unknown, what: string) => void;
  /** What is told when it cannot be written. */
  readonly problem: string;
}

const closeMsMax = 3_000;

/**
 * Writes what has come together in memory, behind the answers. It is idle until something comes, then waits for its timer or
 * for enough, then writes, one batch at a time. What cannot be written is lost: no answer ever waits for it.
 */
export class WriteBehind<Batch> {
  readonly #settings: WriteBehindSettings<Batch>;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #isFailing = false;

  constructor(settings: WriteBehindSettings<Batch>) {
    this.#settings = settings;
  }

  /** Something came: it is written at once when there is enough, else when the time has come. */
  stir(): void {
    if (this.#writing) return;
    if (this.#settings.isFull()) void this.#write();
    else this.#plan();
  }

  /** Writes all that came before it was called. */
  async flush(): Promise<void> {
    const { isEmpty, writesMax } = this.#settings;
    await this.#writing;
    for (let writes = 0; !isEmpty() && writes <= writesMax; writes += 1) await this.#write();
  }

  /** The last flush, with an end: a database that is away must not keep the process. */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, closeMsMax);
    });
    await Promise.race([this.flush(), late]);
    clearTimeout(timer);
    clearTimeout(this.#timer);
  }

  #plan(): void {
    if (this.#timer) return;
    this.#timer = setTimeout(() => void this.#write(), this.#settings.everyMs);
    this.#timer.unref();
  }

  #write(): Promise<void> {
    this.#writing ??= this.#writeOnce().finally(() => {
      this.#writing = undefined;
      if (!this.#settings.isEmpty()) this.stir();
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
        // Another node had the same row: nothing of the batch is written, and the next attempt finds it free.
        if (error instanceof DatabaseFailure && error.kind !== 'unavailable') return write(batch);
        throw error;
      });
      this.#isFailing = false;
    } catch (error) {
      onLost?.(batch);
      // Told once, not four times a second for as long as the database is away.
      if (!this.#isFailing) onError(error, problem);
      this.#isFailing = true;
    }
  }
}
