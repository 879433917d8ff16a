import { hash, randomUUID } from 'node:crypto';
import type { Database } from '../../src/db/database.ts';
import type { Engine, EngineSettings } from '../../src/engine/engine.ts';
import { newSuffix } from '../../src/engine/ids.ts';
import { unmeasured } from '../../src/http/metrics.ts';
import type { Answer, CommandKind } from '../../src/kernel/command.ts';
import { formatId, type Id } from '../../src/kernel/ids.ts';
import { advancePayment } from '../../src/resources/payments/advance.ts';
import { type CreatePayment, createPayment } from '../../src/resources/payments/machine.ts';
import { noParams } from '../../src/resources/payments/scenario.ts';
import type { PaymentRow } from '../../src/resources/payments/table.ts';
import { type RefundPayment, refundPayment } from '../../src/resources/refunds/advance.ts';
import { openEngine } from '../support/server.ts';
import { submission } from '../support/submission.ts';
import type { KeyHolder } from '../support/tenant.ts';
/** Submits commands directly to an engine, without HTTP, so that a test controls the content of a batch. */

export interface Observed {
  readonly engine: Engine;
  readonly sizes: number[];
  readonly retries: string[];
  readonly bugs: string[];
}

/** A separate engine that records batch sizes, retries and bugs. */
export function observed(database: Database, settings: Partial<EngineSettings> = {}): Observed {
  const [sizes, retries, bugs]: [number[], string[], string[]] = [[], [], []];
  const engine = openEngine(database, {
    metrics: {
      ...unmeasured,
      batch: (size) => sizes.push(size),
      retry: (reason) => retries.push(reason),
    },
    onBug: (error) => bugs.push(String(error)),
    ...settings,
  });
  return { engine, sizes, retries, bugs };
}

export const usual: CreatePayment = {
  amount: 1_000n,
  currency: 'EUR',
  customerId: null,
  captureMethod: 'automatic',
  paymentMethodType: 'card',
  cardNumber: null,
  description: null,
  reference: null,
  metadata: {},
  scenario: 'approve',
  autoAdvance: false,
};

export class Submitter {
  readonly #holder: KeyHolder;

  constructor(holder: KeyHolder) {
    this.#holder = holder;
  }

  /** `suffix` becomes the id suffix of the created record, so that the next command can refer to it before it exists. */
  submit<Input>(
    engine: Engine,
    kind: CommandKind<Input>,
    input: Input,
    suffix: string = newSuffix(),
  ): Promise<Answer> {
    const fingerprint = hash('sha256', JSON.stringify([kind.name, input], bigintAsText), 'buffer');
    const idempotency = { key: randomUUID(), fingerprint };
    return engine.submit(submission(this.#holder, kind, input, { wallNow: Date.now(), suffix, idempotency }));
  }

  pay(engine: Engine, fields: Partial<CreatePayment> = {}, suffix?: string): Promise<Answer> {
    return this.submit(engine, createPayment, { ...usual, ...fields }, suffix);
  }

  walk(engine: Engine, id: Id<'payment'>, to: PaymentRow['status']): Promise<Answer> {
    return this.submit(engine, advancePayment, { id, request: { by: 'to', to, params: noParams } });
  }

  refund(engine: Engine, paymentId: Id<'payment'>, amount: bigint | null, suffix?: string): Promise<Answer> {
    const input: RefundPayment = { paymentId, amount, currency: null, reason: null, metadata: {} };
    return this.submit(engine, refundPayment, input, suffix);
  }

  /** Creates a captured payment with `pending` pending refunds. */
  async captured(
    engine: Engine,
    pending = 0,
  ): Promise<{ id: Id<'payment'>; refundIds: readonly Id<'refund'>[] }> {
    const suffixes = [newSuffix(), ...Array.from({ length: pending }, () => newSuffix())] as const;
    const id = formatId('payment', suffixes[0]);
    const answers = await Promise.all([
      this.pay(engine, { scenario: 'refund_pending' }, suffixes[0]),
      this.walk(engine, id, 'captured'),
      ...suffixes.slice(1).map((suffix) => this.refund(engine, id, 100n, suffix)),
    ]);
    const failed = answers.find(({ status }) => status >= 300);
    if (failed) throw new Error(failed.body);
    return { id, refundIds: suffixes.slice(1).map((suffix) => formatId('refund', suffix)) };
  }
}

/** Command outcomes in order: the error code, or the status of a success. */
export function outcomes(answers: readonly Answer[]): readonly (string | number)[] {
  return answers.map(({ code, status }) => code ?? status);
}

function bigintAsText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
