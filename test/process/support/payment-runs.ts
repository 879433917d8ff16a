/**
 * A client that takes a payment through its states, each step with its own Idempotency-Key, and remembers every response. After a crash it
 * repeats the acknowledged steps, which must be replayed byte by byte, and then completes the run.
 */
import { expect } from 'vitest';
import { type Answer, PAYMENTS, post, whileUnavailable } from './client.ts';
import { DISPUTES, REFUNDS } from './payment-requests.ts';

interface Ids {
  payment: string;
  refund: string;
  dispute: string;
}

type Step = (ids: Readonly<Ids>) => { readonly path: string; readonly body: object };

const create =
  (fields: object): Step =>
  () => ({ path: PAYMENTS, body: { amount: 1_000, currency: 'EUR', ...fields } });
const advance =
  (body: object): Step =>
  ({ payment }) => ({ path: `${PAYMENTS}/${payment}/advance`, body });
const refund =
  (amount: number): Step =>
  ({ payment }) => ({ path: `${PAYMENTS}/${payment}/refund`, body: { amount } });
const endRefund =
  (action: string): Step =>
  (ids) => ({ path: `${REFUNDS}/${ids.refund}/advance`, body: { action } });
const moveDispute =
  (action: string): Step =>
  ({ dispute }) => ({ path: `${DISPUTES}/${dispute}/advance`, body: { action } });

/** The steps of a run, and the row of the payment after the last one. */
interface Plan {
  readonly steps: readonly Step[];
  readonly end: Readonly<Record<string, unknown>>;
}

const plans: readonly Plan[] = [
  {
    steps: [
      create({ captureMethod: 'manual' }),
      advance({ action: 'authorize' }),
      advance({ action: 'capture', amount: 400 }),
      advance({ action: 'capture' }),
      advance({ action: 'settle' }),
      refund(300),
      advance({ action: 'dispute', amount: 200 }),
      moveDispute('submit_evidence'),
      moveDispute('win'),
    ],
    end: { status: 'partially_refunded', version: 8, captured: 1_000, refunded: 300, disputed: 0 },
  },
  {
    steps: [
      create({ scenario: 'refund_pending' }),
      advance({ to: 'settled' }),
      refund(250),
      endRefund('succeed'),
      advance({ action: 'dispute' }),
      moveDispute('accept'),
    ],
    end: { status: 'partially_refunded', version: 7, captured: 1_000, refunded: 250, disputed: 750 },
  },
  {
    steps: [create({}), advance({ to: 'charged_back' })],
    end: { status: 'charged_back', version: 4, captured: 1_000, refunded: 0, disputed: 1_000 },
  },
  {
    steps: [
      create({ captureMethod: 'manual' }),
      advance({ action: 'authorize' }),
      advance({ action: 'cancel' }),
    ],
    end: { status: 'canceled', version: 3, captured: 0, refunded: 0, disputed: 0 },
  },
];

export class PaymentRun {
  readonly plan: Plan;
  readonly #name: string;
  readonly #responses: string[] = [];
  readonly #ids: Ids = { payment: '', refund: '', dispute: '' };

  constructor(name: string, plan: Plan) {
    this.#name = name;
    this.plan = plan;
  }

  get paymentId(): string {
    return this.#ids.payment;
  }

  /** The Idempotency-Key of each acknowledged step, with its response. */
  get acknowledged(): readonly { readonly key: string; readonly text: string }[] {
    return this.#responses.map((text, i) => ({ key: this.#keyOf(i), text }));
  }

  get isComplete(): boolean {
    return this.#responses.length === this.plan.steps.length;
  }

  /** Sends the next step. False when no response arrived: its outcome is unknown. */
  async step(url: string): Promise<boolean> {
    let answer: Answer;
    try {
      answer = await whileUnavailable(() => this.#send(url, this.#responses.length));
    } catch {
      return false;
    }
    this.#record(answer);
    return true;
  }

  /** Repeats every acknowledged step, then sends the one whose outcome is unknown and returns whether it had been executed. */
  async resume(url: string): Promise<'found' | 'created' | 'complete'> {
    for (const [i, first] of this.#responses.entries()) {
      const { status, isReplay, text } = await whileUnavailable(() => this.#send(url, i));
      expect({ isReplay, text }, `${this.#name} step ${i} has status ${status}`).toEqual({
        isReplay: true,
        text: first,
      });
    }
    if (this.isComplete) return 'complete';
    const answer = await whileUnavailable(() => this.#send(url, this.#responses.length));
    this.#record(answer);
    return answer.isReplay ? 'found' : 'created';
  }

  async complete(url: string): Promise<void> {
    while (!this.isComplete)
      this.#record(await whileUnavailable(() => this.#send(url, this.#responses.length)));
  }

  #keyOf(step: number): string {
    return `${this.#name}-${step}`;
  }

  #send(url: string, step: number): Promise<Answer> {
    const request = this.plan.steps[step]?.(this.#ids);
    if (!request) throw new Error(`${this.#name} has no step ${step}`);
    return post(url + request.path, request.body, this.#keyOf(step));
  }

  #record({ status, body, text }: Answer): void {
    expect(status, `${this.#name}: ${text}`).toBeLessThan(300);
    this.#responses.push(text);
    if (body.object === 'payment') this.#ids.payment = String(body.id);
    if (body.object === 'refund') this.#ids.refund = String(body.id);
    if (body.object === 'payment' && body.disputeId !== null) this.#ids.dispute = String(body.disputeId);
  }
}

export interface PaymentRuns {
  readonly runs: readonly PaymentRun[];
  /** Resolves after the first acknowledged step. */
  readonly started: Promise<void>;
  readonly ended: Promise<void>;
  /** Every client finishes the step that it has in flight. */
  stop(): void;
}

/** Each client takes one payment after the other through its plan, and ends at the first step that is not answered. */
export function startPaymentRuns(url: string, name: string, clients: number): PaymentRuns {
  const runs: PaymentRun[] = [];
  let isStopped = false;
  let start = (): void => undefined;
  const started = new Promise<void>((resolve) => {
    start = resolve;
  });
  const client = async (_: unknown, n: number): Promise<void> => {
    for (let i = n; !isStopped; i += 1) {
      const plan = plans[i % plans.length];
      if (!plan) throw new Error('no plan');
      const run = new PaymentRun(`${name}-${n}-${i}`, plan);
      runs.push(run);
      while (!run.isComplete && !isStopped) {
        if (!(await run.step(url))) return;
        start();
      }
    }
  };
  const ended = Promise.all(Array.from({ length: clients }, client)).then(() => undefined);
  return {
    runs,
    started,
    ended,
    stop: () => {
      isStopped = true;
    },
  };
}
