const groupMax = 256;
const groupsInFlightMax = 2;
const secondGroupMin = 24;

/** A request that waits for its answer. */
export interface Waiting<Request, Answer> {
  readonly request: Request;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Answers concurrent requests together. A group is sent at once when none is in flight; otherwise it collects the requests that
 * arrive meanwhile: a single request does not wait, and sixty-four share two round trips. A second concurrent group is sent only
 * with at least `secondGroupMin` requests: it keeps the server busy while the database answers the first (25,600 GETs a second
 * against 17,100 with one group at a time), and splitting a small group would only cost wake-ups.
 */
export class Grouped<Request, Answer> {
  readonly #answerAll: (group: readonly Waiting<Request, Answer>[]) => Promise<unknown>;
  #waiting: Waiting<Request, Answer>[] = [];
  #inFlight = 0;
  #requestsInFlight = 0;
  #isScheduled = false;

  /** `answerAll` resolves every request of the group. If it fails, all that have no answer yet fail. */
  constructor(answerAll: (group: readonly Waiting<Request, Answer>[]) => Promise<unknown>) {
    this.#answerAll = answerAll;
  }

  ask(request: Request): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject });
      this.#schedule();
    });
  }

  /** Runs one turn of the event loop later, so that requests that arrive together share a group. */
  #schedule(): void {
    const least = this.#inFlight === 0 ? 1 : secondGroupMin;
    if (this.#isScheduled || this.#inFlight >= groupsInFlightMax || this.#waiting.length < least) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#run(this.#waiting.splice(0, this.#sizeMax));
    });
  }

  /** When all clients wait, each group takes its share: a group of all of them would leave nothing to do until it is answered. */
  get #sizeMax(): number {
    const share = Math.ceil((this.#waiting.length + this.#requestsInFlight) / groupsInFlightMax);
    return Math.min(groupMax, Math.max(secondGroupMin, share));
  }

  async #run(group: readonly Waiting<Request, Answer>[]): Promise<void> {
    this.#inFlight += 1;
    this.#requestsInFlight += group.length;
    this.#schedule();
    try {
      await this.#answerAll(group);
    } catch (error) {
      // Rejecting a request that has its answer does nothing.
      for (const { reject } of group) reject(error);
    }
    this.#inFlight -= 1;
    this.#requestsInFlight -= group.length;
    this.#schedule();
  }
}
