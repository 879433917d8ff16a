/** Clients behind a balancer: each makes a payment, moves it and reads it, one request after the other, and remembers what it was told. */
import { type Answer, call, PAYMENTS } from '../process/support/client.ts';

/** One payment that a client wants. Its id is known when its creation was acknowledged. */
export interface Purchase {
  readonly reference: string;
  id?: string;
  isCaptured: boolean;
}

export interface Shoppers {
  readonly purchases: readonly Purchase[];
  /** Requests that were not answered as they should be, in words. */
  readonly failures: readonly string[];
  /** Resolves when so many more purchases are through. */
  more(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** A client whose request failed sends it again with the same key, until it is answered as it should be. */
const RETRIES_MAX = 200;
const PAUSE_MS = 50;

export function startShoppers(url: string, name: string, clients: number): Shoppers {
  const purchases: Purchase[] = [];
  const failures: string[] = [];
  const waiting: { readonly at: number; readonly resolve: () => void }[] = [];
  let [through, isStopped] = [0, false];

  async function insist(what: string, ask: () => Promise<Answer>): Promise<Answer> {
    for (let attempt = 1; attempt <= RETRIES_MAX; attempt += 1) {
      const answer = await ask().catch((error: unknown) => String(error));
      if (typeof answer !== 'string' && answer.status < 300) return answer;
      failures.push(
        `${what}: ${typeof answer === 'string' ? answer : `${answer.status} ${JSON.stringify(answer.body)}`}`,
      );
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    throw new Error(`${what} is never answered: ${failures.at(-1)}`);
  }

  async function buy(purchase: Purchase): Promise<void> {
    const { reference } = purchase;
    const send = (path: string, key: string, body: object) => () =>
      call(url + path, { method: 'POST', idempotencyKey: key, body });
    const asked = { amount: 1_250, currency: 'EUR', reference };
    const made = await insist(`${reference} create`, send(PAYMENTS, `${reference}-create`, asked));
    purchase.id = String(made.body.id);
    const place = `${PAYMENTS}/${purchase.id}`;
    await insist(`${reference} advance`, send(`${place}/advance`, `${reference}-move`, { to: 'captured' }));
    purchase.isCaptured = true;
    const read = await insist(`${reference} read`, () => call(url + place));
    if (read.body.status !== 'captured') failures.push(`${reference} is ${String(read.body.status)}`);
  }

  const client = async (): Promise<void> => {
    while (!isStopped) {
      const purchase: Purchase = { reference: `${name}-${purchases.length}`, isCaptured: false };
      purchases.push(purchase);
      await buy(purchase);
      through += 1;
      for (const { at, resolve } of waiting) if (through >= at) resolve();
    }
  };
  const ended = Promise.all(Array.from({ length: clients }, client));
  ended.catch(() => undefined);

  return {
    purchases,
    failures,
    more: (count) =>
      Promise.race([
        new Promise<void>((resolve) => {
          waiting.push({ at: through + count, resolve });
        }),
        ended.then(() => undefined),
      ]),
    stop: async () => {
      isStopped = true;
      await ended;
    },
  };
}
