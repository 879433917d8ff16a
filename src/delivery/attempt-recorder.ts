import { type DisableSettings, disableFailingEndpoints } from './disable-endpoints.ts';
import type { ClaimedDelivery, DeliveryQueue, MarkedAttempt } from './queue.ts';

export interface AttemptRecorderSettings extends DisableSettings {
  readonly queue: Pick<DeliveryQueue, 'mark'>;
  /** The endpoints that this process releases when it records the batch. */
  readonly releasedBy: (batch: readonly RecordedAttempt[]) => readonly string[];
  readonly onRecorded: (batch: readonly RecordedAttempt[]) => void;
  /** Whether further attempts are in flight. */
  readonly expectsMore?: () => boolean;
}

/** A completed attempt and its claimed delivery. */
export interface RecordedAttempt {
  readonly claim: ClaimedDelivery;
  readonly attempt: MarkedAttempt;
}

interface Pending extends RecordedAttempt {
  readonly bytes: number;
  readonly resolve: () => void;
}

const batchMax = 256;
/** Larger statements would delay requests that use the same database: PGlite needs about 15 ms for 512 KiB. */
const batchBytesMax = 512 * 1024;
/** While the unwritten attempts exceed this size, the deliverer starts no further attempt. */
const pendingBytesMax = 8 * 1024 * 1024;
/**
 * When attempts completed during a write and others are in flight, the next write waits this long for more of them. Without
 * the wait, 1,000 deliveries were written 12 at a time, each time with a commit.
 */
const gatherMs = 20;
const attemptsMax = 60;
const pauseMs = 250;

/**
 * Writes completed attempts, many in one statement. While the database is unavailable it retries, about until the leases expire.
 * The pending attempts are limited in bytes: when `isFull` is true, no further attempt should start.
 */
export class AttemptRecorder {
  readonly #settings: AttemptRecorderSettings;
  #pending: Pending[] = [];
  #pendingBytes = 0;
  #isRunning = false;
  #isStopping = false;

  constructor(settings: AttemptRecorderSettings) {
    this.#settings = settings;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  get isFull(): boolean {
    return this.#pendingBytes >= pendingBytesMax;
  }

  get pending(): readonly RecordedAttempt[] {
    return this.#pending;
  }

  /** Stops retrying failed writes. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Resolves when the attempt is written or abandoned. `start` writes: attempts that complete together share a statement. */
  add(claim: ClaimedDelivery, attempt: MarkedAttempt): Promise<void> {
    return new Promise((resolve) => {
      const bytes = bytesOf(attempt);
      this.#pending.push({ claim, attempt, bytes, resolve });
      this.#pendingBytes += bytes;
    });
  }

  async start(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#pending.length > 0) {
      const batch = this.#nextBatch();
      // Before the write: a caller that waits until nothing is left to send also finds the event of an endpoint disabled here.
      await disableFailingEndpoints(batch, this.#settings);
      await this.#write(batch);
      for (const { resolve } of batch) resolve();
      this.#settings.onRecorded(batch);
      await this.#gather();
    }
    this.#isRunning = false;
  }

  async #gather(): Promise<void> {
    const isWorthIt = this.#pending.length > 0 && this.#pending.length < batchMax && !this.isFull;
    if (isWorthIt && !this.#isStopping && this.#settings.expectsMore?.())
      await new Promise((resolve) => setTimeout(resolve, gatherMs));
  }

  #nextBatch(): readonly Pending[] {
    let bytes = 0;
    let count = 0;
    for (const pending of this.#pending.slice(0, batchMax)) {
      if (count > 0 && bytes + pending.bytes > batchBytesMax) break;
      bytes += pending.bytes;
      count += 1;
    }
    this.#pendingBytes -= bytes;
    return this.#pending.splice(0, count);
  }

  async #write(batch: readonly Pending[]): Promise<void> {
    const { queue, releasedBy, onError } = this.#settings;
    const released = releasedBy(batch);
    for (let attempt = 1; ; attempt += 1) {
      try {
        await queue.mark(
          batch.map((pending) => pending.attempt),
          released,
        );
        return;
      } catch (error) {
        onError(error, 'failed to record delivery attempts');
        if (attempt >= attemptsMax || this.#isStopping) return;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
  }
}

function bytesOf({ responseBody, responseHeaders, requestHeaders, copies }: MarkedAttempt): number {
  const attemptBytes =
    (responseBody?.length ?? 0) + headerBytes(responseHeaders) + headerBytes(requestHeaders);
  return copies.reduce(
    (sum, copy) => sum + (copy.responseBody?.length ?? 0) + headerBytes(copy.responseHeaders),
    attemptBytes,
  );
}

function headerBytes(headers: Readonly<Record<string, string>> | null): number {
  let bytes = 0;
  for (const name in headers) bytes += name.length + (headers[name]?.length ?? 0);
  return bytes;
}
