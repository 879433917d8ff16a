export interface HeldRequestsSettings {
  readonly heldMax?: number;
  readonly heldPerOrganizationMax?: number;
}

/** A held request costs a connection and a few kilobytes. */
const heldMaxDefault = 256;
/** Half of the requests that an endpoint may have at once, so that one organization does not use up the total. */
const heldPerOrganizationMaxDefault = 32;

interface Held {
  readonly orgId: string;
  readonly release: () => void;
}

/**
 * Requests that are answered later on purpose. A request is held until its time is up, its client is gone, or `close` releases all of
 * them, so that a shutdown does not wait. From then on no request is held.
 */
export class HeldRequests {
  readonly #heldMax: number;
  readonly #heldPerOrganizationMax: number;
  readonly #held = new Set<Held>();
  #isClosed = false;

  constructor({ heldMax, heldPerOrganizationMax }: HeldRequestsSettings = {}) {
    this.#heldMax = heldMax ?? heldMaxDefault;
    this.#heldPerOrganizationMax = heldPerOrganizationMax ?? heldPerOrganizationMaxDefault;
  }

  get size(): number {
    return this.#held.size;
  }

  canHold(orgId: string): boolean {
    const own = [...this.#held].filter((held) => held.orgId === orgId);
    return this.#held.size < this.#heldMax && own.length < this.#heldPerOrganizationMax;
  }

  /** Resolves after `ms`, or earlier when the client is gone or the server shuts down. */
  hold(orgId: string, ms: number, onGone: (release: () => void) => void): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      const held: Held = {
        orgId,
        release: () => {
          clearTimeout(timer);
          this.#held.delete(held);
          resolve();
        },
      };
      // A program that embeds the server may exit while a request is held.
      const timer = setTimeout(held.release, ms).unref();
      this.#held.add(held);
      onGone(held.release);
    });
  }

  close(): void {
    this.#isClosed = true;
    for (const { release } of this.#held) release();
  }
}
