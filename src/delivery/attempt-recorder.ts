import { type GiveUpSettings, giveUpHopeless } from './give-up.ts';
import type { ClaimedDelivery, DeliveryQueue, MarkedAttempt } from './queue.ts';

export interface AttemptRecorderSettings extends GiveUpSettings {
  readonly queue: Pick<DeliveryQueue, 'mark'>;
  /** The endpoints of a batch that this process releases with it. */
  readonly releasedBy: (batch: readonly RecordedAttempt[]) => readonly string[];
  readonly onRecorded: (batch: readonly RecordedAttempt[]) => void;
}

/** An attempt that ended, and the delivery that it belongs to. */
export interface RecordedAttempt {
  readonly claim: ClaimedDelivery;
  readonly attempt: MarkedAttempt;
}

interface Pending extends RecordedAttempt {
  readonly bytes: number;
  readonly resolve: () => void;
}

const batchMax = 256;
/** A statement with more would delay the requests that use the same database: 512 KiB take PGlite about 15 ms. */
const batchBytesMax = 512 * 1024;
/** Nothing more is sent while attempts with more than this wait to be written. */
const pendingBytesMax = 8 * 1024 * 1024;
const attemptsMax = 60;
const pauseMs = 250;

/**
 * Writes ended attempts, many in one statement. While the database is away it tries again, about until the leases end. What waits is
 * limited in bytes: `isFull` says that no further attempt should begin.
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

  /** A failing write is not repeated from now on. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Resolves when the attempt was written, or given up. `start` begins the writing, so that attempts that end together go together. */
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
      // First: a caller that waits until nothing is left to send also finds the event of an endpoint that this disables.
      await giveUpHopeless(batch, this.#settings);
      await this.#write(batch);
      for (const { resolve } of batch) resolve();
      this.#settings.onRecorded(batch);
    }
    this.#isRunning = false;
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
        onError(error, 'deliveries were not marked');
        if (attempt >= attemptsMax || this.#isStopping) return;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
  }
}

function bytesOf({ responseBody, responseHeaders, requestHeaders, copies }: MarkedAttempt): number {
  const own = (responseBody?.length ?? 0) + headerBytes(responseHeaders) + headerBytes(requestHeaders);
  return copies.reduce(
    (sum, copy) => sum + (copy.responseBody?.length ?? 0) + headerBytes(copy.responseHeaders),
    own,
  );
}

function headerBytes(headers: Readonly<Record<string, string>> | null): number {
  return Object.entries(headers ?? {}).reduce((sum, [name, value]) => sum + name.length + value.length, 0);
}
