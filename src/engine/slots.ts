export interface SlotLimits {
  readonly atOnceMax: number;
  readonly waitingMax: number;
  readonly waitMsMax: number;
}

/** No slot is free, and the queue is full or the wait too long. */
export class Busy extends Error {
  override readonly name = 'Busy';
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

interface Waiter {
  readonly grant: () => void;
}

const retryAfterSecondsMax = 30;

/** A semaphore with a bounded queue and a bounded wait, first come, first served. */
export class Slots {
  readonly #limits: SlotLimits;
  readonly #waiting = new Set<Waiter>();
  #taken = 0;
  /** Moving average of how long a slot is held. */
  #heldMs = 100;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  get isIdle(): boolean {
    return this.#taken === 0 && this.#waiting.size === 0;
  }

  /** Resolves with the function that releases the slot; rejects with `Busy` when the queue is full or the wait too long. */
  async acquire(): Promise<() => void> {
    const { atOnceMax, waitingMax, waitMsMax } = this.#limits;
    if (this.#taken < atOnceMax) {
      this.#taken += 1;
      return this.#release();
    }
    if (this.#waiting.size >= waitingMax) throw this.#busy();
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(waiter);
        reject(this.#busy());
      }, waitMsMax);
      const waiter: Waiter = {
        grant: () => {
          clearTimeout(timer);
          this.#waiting.delete(waiter);
          resolve();
        },
      };
      this.#waiting.add(waiter);
    });
    return this.#release();
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    const release = await this.acquire();
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Passes the slot directly to the next waiter, so that no other caller can overtake it. */
  #release(): () => void {
    const since = performance.now();
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#heldMs = 0.8 * this.#heldMs + 0.2 * (performance.now() - since);
      const [next] = this.#waiting;
      if (next) next.grant();
      else this.#taken -= 1;
    };
  }

  /** Suggests a retry after the current waiters have been served. */
  #busy(): Busy {
    const { atOnceMax } = this.#limits;
    const seconds = Math.ceil((this.#heldMs * (this.#waiting.size + 1)) / atOnceMax / 1_000);
    return new Busy(
      'Too many snapshots and forks are in progress. Try again later.',
      Math.min(Math.max(seconds, 1), retryAfterSecondsMax),
    );
  }
}

/** Separate slots per key. Unused keys are removed. */
export class KeyedSlots {
  readonly #limits: SlotLimits;
  readonly #slots = new Map<string, Slots>();

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  async acquire(key: string): Promise<() => void> {
    const slots = this.#slots.get(key) ?? new Slots(this.#limits);
    this.#slots.set(key, slots);
    const release = await slots.acquire();
    return () => {
      release();
      if (slots.isIdle) this.#slots.delete(key);
    };
  }
}
