/**
 * Clients that walk payments through their lives, each step under its own key, and remember what they were told. A walk goes on
 * where it was cut off: what was acknowledged must be said again word for word, what was not must be done now or be found done.
 */
import { expect } from 'vitest';
import { type Answer, PAYMENTS } from './client.ts';
import { DISPUTES, post, REFUNDS } from './moves.ts';

interface Known {
  payment: string;
  refund: string;
  dispute: string;
}

type Step = (known: Readonly<Known>) => { readonly path: string; readonly body: object };

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
  (known) => ({ path: `${REFUNDS}/${known.refund}/advance`, body: { action } });
const moveDispute =
  (action: string): Step =>
  ({ dispute }) => ({ path: `${DISPUTES}/${dispute}/advance`, body: { action } });

/** A life, and what is left of it in the row of the payment. */
interface Life {
  readonly steps: readonly Step[];
  readonly end: Readonly<Record<string, unknown>>;
}

export const lives: readonly Life[] = [
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

export class Walk {
  readonly life: Life;
  readonly #name: string;
  readonly #told: Answer['body'][] = [];
  readonly #known: Known = { payment: '', refund: '', dispute: '' };

  constructor(name: string, life: Life) {
    this.#name = name;
    this.life = life;
  }

  get paymentId(): string {
    return this.#known.payment;
  }

  get acknowledged(): number {
    return this.#told.length;
  }

  get isDone(): boolean {
    return this.#told.length === this.life.steps.length;
  }

  /** The next step. False when no answer came: then nobody knows whether it was done. */
  async step(url: string): Promise<boolean> {
    let answer: Answer;
    try {
      answer = await this.#ask(url, this.#told.length);
    } catch {
      return false;
    }
    this.#tell(answer);
    return true;
  }

  /** Asks again for all that was acknowledged, then for the step that was not; says whether that one had been done. */
  async resume(url: string): Promise<'found' | 'made' | 'done'> {
    for (const [i, told] of this.#told.entries()) {
      const { status, isReplay, body } = await this.#ask(url, i);
      expect({ isReplay, body }, `${this.#name} step ${i} is answered with ${status}`).toEqual({
        isReplay: true,
        body: told,
      });
    }
    if (this.isDone) return 'done';
    const answer = await this.#ask(url, this.#told.length);
    this.#tell(answer);
    return answer.isReplay ? 'found' : 'made';
  }

  async finish(url: string): Promise<void> {
    while (!this.isDone) expect(await this.step(url), `${this.#name} is answered`).toBe(true);
  }

  #ask(url: string, at: number): Promise<Answer> {
    const asked = this.life.steps[at]?.(this.#known);
    if (!asked) throw new Error(`${this.#name} has no step ${at}`);
    return post(url + asked.path, asked.body, `${this.#name}-${at}`);
  }

  #tell({ status, body }: Answer): void {
    expect(status, `${this.#name}: ${JSON.stringify(body)}`).toBeLessThan(300);
    this.#told.push(body);
    if (body.object === 'payment') this.#known.payment = String(body.id);
    if (body.object === 'refund') this.#known.refund = String(body.id);
    if (body.object === 'payment' && body.disputeId !== null) this.#known.dispute = String(body.disputeId);
  }
}
