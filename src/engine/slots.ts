export interface SlotLimits {
  readonly atOnceMax: number;
  readonly waitingMax: number;
  readonly waitMsMax: number;
}

/** There is no slot now, and there will be none soon. */
export class Busy extends Error {
  override readonly name = 'Busy';
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

interface Waiting {
  readonly grant: () => void;
}

const retryAfterSecondsMax = 30;

/** A semaphore with a bounded queue and a bounded wait, first come, first served. */
export class Slots {
  readonly #limits: SlotLimits;
  readonly #waiting = new Set<Waiting>();
  #taken = 0;
  /** How long a slot is held, averaged over the last ones. */
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
        this.#waiting.delete(one);
        reject(this.#busy());
      }, waitMsMax);
      const one: Waiting = {
        grant: () => {
          clearTimeout(timer);
          this.#waiting.delete(one);
          resolve();
        },
      };
      this.#waiting.add(one);
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

  /** A slot is handed to the next in the queue without becoming free, so that nobody overtakes. */
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

  /** When those who wait now will have had their turn. */
  #busy(): Busy {
    const { atOnceMax } = this.#limits;
    const seconds = Math.ceil((this.#heldMs * (this.#waiting.size + 1)) / atOnceMax / 1_000);
    return new Busy(
      'Too many snapshots and forks are in progress. Try again later.',
      Math.min(Math.max(seconds, 1), retryAfterSecondsMax),
    );
  }
}

/** Slots for each key by itself. A key that nobody uses is forgotten. */
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
