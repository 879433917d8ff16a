/** Clients behind a load balancer: each creates, advances and reads payments, one request after another, and records the responses. */
import { type Answer, call, PAYMENTS } from './client.ts';

/** One payment that a client requests. Its id is known once its creation is acknowledged. */
interface Purchase {
  readonly reference: string;
  id?: string;
  isCaptured: boolean;
}

export interface PaymentClients {
  readonly purchases: readonly Purchase[];
  /** Descriptions of failed requests. */
  readonly failures: readonly string[];
  /** Resolves when this many more purchases are complete. */
  more(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** A client retries a failed request with the same key until it succeeds. */
const RETRIES_MAX = 200;
const PAUSE_MS = 50;

export function startPaymentClients(url: string, name: string, clients: number): PaymentClients {
  const purchases: Purchase[] = [];
  const failures: string[] = [];
  const waiting: { readonly at: number; readonly resolve: () => void }[] = [];
  let [completed, isStopped] = [0, false];

  async function sendUntilOk(what: string, send: () => Promise<Answer>): Promise<Answer> {
    for (let attempt = 1; attempt <= RETRIES_MAX; attempt += 1) {
      const answer = await send().catch((error: unknown) => String(error));
      if (typeof answer !== 'string' && answer.status < 300) return answer;
      failures.push(
        `${what}: ${typeof answer === 'string' ? answer : `${answer.status} ${JSON.stringify(answer.body)}`}`,
      );
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    throw new Error(`${what} never succeeded: ${failures.at(-1)}`);
  }

  async function buy(purchase: Purchase): Promise<void> {
    const { reference } = purchase;
    const write = (path: string, key: string, body: object) => () =>
      call(url + path, { method: 'POST', idempotencyKey: key, body });
    const body = { amount: 1_250, currency: 'EUR', reference };
    const created = await sendUntilOk(`${reference} create`, write(PAYMENTS, `${reference}-create`, body));
    purchase.id = String(created.body.id);
    const path = `${PAYMENTS}/${purchase.id}`;
    await sendUntilOk(
      `${reference} advance`,
      write(`${path}/advance`, `${reference}-move`, { to: 'captured' }),
    );
    purchase.isCaptured = true;
    const read = await sendUntilOk(`${reference} read`, () => call(url + path));
    if (read.body.status !== 'captured') failures.push(`${reference} is ${String(read.body.status)}`);
  }

  const client = async (): Promise<void> => {
    while (!isStopped) {
      const purchase: Purchase = { reference: `${name}-${purchases.length}`, isCaptured: false };
      purchases.push(purchase);
      await buy(purchase);
      completed += 1;
      for (const { at, resolve } of waiting) if (completed >= at) resolve();
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
          waiting.push({ at: completed + count, resolve });
        }),
        ended.then(() => undefined),
      ]),
    stop: async () => {
      isStopped = true;
      await ended;
    },
  };
}
