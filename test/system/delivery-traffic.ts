/** Clients beside the load: requests that must be refused, and moves of payments that make more events. */
import { expect } from 'vitest';
import { type Answer, PAYMENTS } from './client.ts';
import { post } from './delivery-endpoints.ts';
import { type Claim, type Load, startLoad } from './load.ts';

export interface Traffic {
  readonly load: Load;
  /** Request ids of what was refused. */
  readonly refused: ReadonlySet<string>;
  /** Ends with the server, or when it is told. */
  readonly ended: Promise<void>;
  stop(): void;
}

type Wrong = (claim: Claim, name: string) => { path: string; body: object; key: string; statuses: number[] };

const wrongs: readonly Wrong[] = [
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
  // A key that was used for something else.
  (claim) => ({
    path: PAYMENTS,
    body: { amount: 9, currency: 'EUR' },
    key: claim.key,
    statuses: [409, 422],
  }),
];

export function startTraffic(url: string, name: string, clients: number): Traffic {
  const load = startLoad(url, name, clients);
  const refused = new Set<string>();
  let isStopped = false;

  /** False when no answer came. */
  async function ask(path: string, body: object, key: string, statuses: readonly number[]): Promise<boolean> {
    let answer: Answer;
    try {
      answer = await post(url + path, body, key);
    } catch {
      return false;
    }
    expect(statuses, JSON.stringify(answer.body)).toContain(answer.status);
    if (answer.status >= 300) refused.add(String(answer.body.requestId));
    return true;
  }

  async function disturb(): Promise<void> {
    await load.acknowledged(1);
    for (let n = 0; !isStopped; n += 1) {
      const known = load.claims.filter(({ id }) => id !== undefined);
      const claim = known[n % known.length];
      const wrong = wrongs[n % wrongs.length];
      if (!claim || !wrong) throw new Error('there is something to do wrong');
      const { path, body, key, statuses } = wrong(claim, `wrong-${name}-${n}`);
      if (!(await ask(path, body, key, statuses))) return;
      // Several events of one request; a payment that was moved before is refused.
      const move = `${PAYMENTS}/${claim.id}/advance`;
      const isMoved = n % wrongs.length === 0;
      if (isMoved && !(await ask(move, { to: 'captured' }, `${claim.key}-move`, [200, 409, 422]))) return;
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
