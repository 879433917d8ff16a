/**
 * Clients that buy without end: each creates a payment, captures it, and reads it back. They retry every request with its key until it is
 * answered, as the documentation requires, and record when each write was acknowledged.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Claim } from '../../process/support/load.ts';

const PAYMENTS = '/_api/developer_api_payments';
/** Between the requests of one client, so that 16 clients send about 100 writes a second and the machine is not the bottleneck. */
const PACE_MS = 150;
const RETRY_MS = 50;
const RESPONSE_MS_MAX = 30_000;
/** What a load balancer or a node sends while it cannot serve. */
const UNAVAILABLE = [502, 503, 504];
const IN_PROGRESS = 'idempotency_in_progress';

/** A payment that a client creates and captures. Without an id its creation was not acknowledged. */
export interface Purchase extends Claim {
  isCaptured: boolean;
}

interface Answered {
  readonly status: number;
  readonly text: string;
}

export class Clients {
  readonly purchases: Purchase[] = [];
  /** When each write was acknowledged, in milliseconds of `performance.now()`. */
  readonly acknowledgements: number[] = [];
  /** Responses that contradict an earlier one: older than an acknowledged write, or an error that a client must not see. */
  readonly contradictions: string[] = [];
  /** Requests that were sent again. */
  retries = 0;
  readonly #url: string;
  readonly #key: string;
  readonly #ended: Promise<unknown>;
  #waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  #isStopped = false;

  constructor(url: string, key: string, count: number) {
    this.#url = url;
    this.#key = key;
    this.#ended = Promise.all(Array.from({ length: count }, () => this.#buy()));
    this.#ended.catch(() => undefined);
  }

  /** Resolves when this many more writes are acknowledged. */
  async more(count: number): Promise<void> {
    const reached = new Promise<void>((resolve) => {
      this.#waiting.push({ count: this.acknowledgements.length + count, resolve });
    });
    await Promise.race([reached, this.#ended]);
  }

  /** Every client completes its purchase. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#ended;
  }

  /** The longest time between two acknowledgements since `start`, in milliseconds. */
  longestPause(start: number): number {
    const times = this.acknowledgements.filter((at) => at >= start).sort((a, b) => a - b);
    return Math.max(0, ...times.map((at, i) => at - (times[i - 1] ?? start)));
  }

  async #buy(): Promise<void> {
    while (!this.#isStopped) {
      const name = `${this.purchases.length}`;
      const purchase: Purchase = { key: `create-${name}`, reference: `ref-${name}`, isCaptured: false };
      this.purchases.push(purchase);
      const body = { amount: 1_250, currency: 'EUR', reference: purchase.reference };
      const created = await this.#write(PAYMENTS, purchase.key, body, 201);
      if (created === undefined) continue;
      purchase.id = String(JSON.parse(created).id);
      purchase.text = created;
      const path = `${PAYMENTS}/${purchase.id}`;
      const captured = await this.#write(`${path}/advance`, `capture-${name}`, { to: 'captured' }, 200);
      if (captured === undefined) continue;
      purchase.isCaptured = true;
      await this.#expectCaptured(path);
    }
  }

  /** Undefined after a response that no retry can change. */
  async #write(path: string, key: string, body: object, expected: number): Promise<string | undefined> {
    const { status, text } = await this.#answer(path, {
      method: 'POST',
      headers: { 'idempotency-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (status !== expected) {
      this.contradictions.push(`${path} with ${key} has status ${status}: ${text}`);
      return undefined;
    }
    this.acknowledgements.push(performance.now());
    this.#waiting = this.#waiting.filter(({ count, resolve }) => {
      if (this.acknowledgements.length < count) return true;
      resolve();
      return false;
    });
    await delay(PACE_MS);
    return text;
  }

  /** A response is never older than a write that the client knows of, whichever node and database serve it. */
  async #expectCaptured(path: string): Promise<void> {
    const { status, text } = await this.#answer(path, {});
    if (status !== 200 || JSON.parse(text).status !== 'captured')
      this.contradictions.push(`${path} was captured, and a later read has status ${status}: ${text}`);
  }

  /** The first response that is not about availability. */
  async #answer(path: string, init: { method?: string; headers?: object; body?: string }): Promise<Answered> {
    for (;;) {
      const answered = await fetch(this.#url + path, {
        ...init,
        headers: { ...init.headers, authorization: `Bearer ${this.#key}` },
        signal: AbortSignal.timeout(RESPONSE_MS_MAX),
      })
        .then(async (response) => ({ status: response.status, text: await response.text() }))
        .catch(() => undefined);
      const isFinal =
        answered && !UNAVAILABLE.includes(answered.status) && !answered.text.includes(`"${IN_PROGRESS}"`);
      if (isFinal) return answered;
      this.retries += 1;
      await delay(RETRY_MS);
    }
  }
}
