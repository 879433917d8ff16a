/** A load of creates, and a client that sends invalid requests and advances payments, which emits more events. */
import { expect } from 'vitest';
import { type Answer, createPayment, PAYMENTS, post, whileUnavailable } from './client.ts';
import { type Claim, type Load, startLoad } from './load.ts';

export interface Traffic {
  readonly load: Load;
  /** Ids of the rejected requests. */
  readonly refused: ReadonlySet<string>;
  /** Resolves when the server has exited, or after `stop`. */
  readonly ended: Promise<void>;
  stop(): void;
}

type Invalid = (
  claim: Claim,
  name: string,
) => { path: string; body: object; key: string; statuses: number[] };

const invalid: readonly Invalid[] = [
  (_claim, key) => ({ path: PAYMENTS, body: { amount: -5, currency: 'EUR' }, key, statuses: [400, 422] }),
  (_claim, key) => ({
    path: PAYMENTS,
    body: { amount: 700, currency: 'EUR', customerId: `cus_${'0'.repeat(26)}` },
    key,
    statuses: [404, 422],
  }),
  ({ id }, key) => ({
    path: `${PAYMENTS}/${id}/advance`,
    body: { action: 'settle' },
    key,
    statuses: [409, 422],
  }),
  // An Idempotency-Key of another request.
  (claim) => ({
    path: PAYMENTS,
    body: { amount: 9, currency: 'EUR' },
    key: claim.key,
    statuses: [409, 422],
  }),
];

export function startTraffic(url: string, name: string, clients: number): Traffic {
  const load = startLoad(url, name, clients, (...create) => whileUnavailable(() => createPayment(...create)));
  const refused = new Set<string>();
  let isStopped = false;

  /** False when no response arrived. */
  async function send(
    path: string,
    body: object,
    key: string,
    statuses: readonly number[],
  ): Promise<boolean> {
    let answer: Answer;
    try {
      answer = await whileUnavailable(() => post(url + path, body, key));
    } catch {
      return false;
    }
    expect(statuses, answer.text).toContain(answer.status);
    if (answer.status >= 300) refused.add(String(answer.body.requestId));
    return true;
  }

  async function disturb(): Promise<void> {
    await load.acknowledged(1);
    for (let n = 0; !isStopped; n += 1) {
      const known = load.claims.filter(({ id }) => id !== undefined);
      const claim = known[n % known.length];
      const request = invalid[n % invalid.length];
      if (!claim || !request) throw new Error('no payment or no invalid request');
      const { path, body, key, statuses } = request(claim, `invalid-${name}-${n}`);
      if (!(await send(path, body, key, statuses))) return;
      // Emits several events by one request; a payment that was moved before is refused.
      const move = `${PAYMENTS}/${claim.id}/advance`;
      const isMoved = n % invalid.length === 0;
      if (isMoved && !(await send(move, { to: 'captured' }, `${claim.key}-move`, [200, 409, 422]))) return;
    }
  }

  const ended = Promise.all([load.ended, disturb()]).then(() => undefined);
  return {
    load,
    refused,
    ended,
    stop: () => {
      isStopped = true;
      load.stop();
    },
  };
}
