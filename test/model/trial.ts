import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import type { Body } from '../support/api-client.ts';
import { CommandRunner, type Response } from '../support/command-runner.ts';
import { type Advance, advanceDispute, advanceRefund, next, walk } from './advance.ts';
import { accountNames, balancesOf } from './balances.ts';
import {
  act,
  isRefused,
  type LedgerEntry,
  newPayment,
  type Params,
  type Payment,
  type Refused,
  type Status,
  type Transition,
} from './payments.ts';
import { expectedDispute, expectedPayment, expectedRefund, shownPart, shownPayment } from './shown.ts';

/** The body of an advance of a payment, a refund or a dispute. */
export interface AdvanceBody {
  readonly action?: string;
  readonly to?: string;
  readonly amount?: number;
  readonly currency?: string;
  readonly final?: boolean;
  readonly failureCode?: string;
}

/** One request. A refund or dispute is the newest one of the payment. */
export type Step =
  | { readonly on: 'payment'; readonly body: AdvanceBody }
  | { readonly on: 'payment refund'; readonly body: AdvanceBody }
  | { readonly on: 'refund'; readonly body: AdvanceBody }
  | { readonly on: 'dispute'; readonly body: AdvanceBody };

export interface NewPaymentBody {
  readonly amount: number;
  readonly captureMethod: 'automatic' | 'manual';
  readonly scenario: string | readonly string[];
}

const payments = 'developer_api_payments';
const currency = 'EUR';
const terms = { basisPoints: 290n, fixed: 30n };

/**
 * One payment, in the server's commands and in the model at once. Payments with manual capture are paid by bank transfer, which
 * the second provider handles, so that both providers go through every transition.
 */
export class Trial {
  readonly runner: CommandRunner;
  readonly paymentId: string;
  readonly provider: 'meridian' | 'tidewater';
  payment: Payment;

  private constructor(runner: CommandRunner, paymentId: string, payment: Payment) {
    this.runner = runner;
    this.paymentId = paymentId;
    this.payment = payment;
    this.provider = payment.isManual ? 'tidewater' : 'meridian';
  }

  static start({ amount, captureMethod, scenario }: NewPaymentBody): Trial {
    const runner = new CommandRunner();
    const isManual = captureMethod === 'manual';
    const paymentMethod = { type: isManual ? 'bank_transfer' : 'card' };
    const { body } = runner.post(payments, { amount, currency, captureMethod, scenario, paymentMethod });
    const payment = newPayment({ amount: BigInt(amount), currency, isManual, scenario, terms });
    return new Trial(runner, body.id, payment);
  }

  fork(): Trial {
    return new Trial(this.runner.fork(), this.paymentId, this.payment);
  }

  get refundIds(): readonly string[] {
    return this.runner.rows('refund').map(({ id }) => id);
  }

  get disputeIds(): readonly string[] {
    return this.runner.rows('dispute').map(({ id }) => id);
  }

  /** Sends a request that must succeed, to reach a situation. */
  reach(step: Step): this {
    const expected = this.expected(step);
    if (isRefused(expected)) throw new Error(`${JSON.stringify(step)} is rejected by the model`);
    const response = this.send(step);
    expect(response.status, response.text).toBeLessThan(300);
    this.payment = expected;
    return this;
  }

  send({ on, body }: Step): Response {
    const path = `${payments}/${this.paymentId}`;
    if (on === 'payment') return this.runner.post(`${path}/advance`, body);
    if (on === 'payment refund') return this.runner.post(`${path}/refund`, body);
    const id = on === 'refund' ? this.refundIds.at(-1) : this.disputeIds.at(-1);
    return this.runner.post(`developer_api_${on}s/${id}/advance`, body);
  }

  /** The payment after a request according to the model, or the error. */
  expected({ on, body }: Step): Payment | Refused {
    const { payment } = this;
    if (on === 'refund') return advanceRefund(payment, payment.refunds.length - 1, advanceOf(body));
    if (on === 'dispute') return advanceDispute(payment, payment.disputes.length - 1, advanceOf(body));
    const params = paramsOf(body);
    if (on === 'payment refund') return act(payment, 'refund', params);
    if (body.action !== undefined) return act(payment, body.action, params);
    return body.to === undefined ? next(payment) : walk(payment, body.to as Status, params);
  }

  /** Every request from this state: each on a copy, so that they do not see each other. */
  checkEach(steps: readonly Step[]): void {
    for (const step of steps) {
      try {
        this.fork().check(step);
      } catch (error) {
        if (error instanceof Error) error.message = `${JSON.stringify(step)}: ${error.message}`;
        throw error;
      }
    }
  }

  /** Sends one request and compares everything with the model: response, records, events, ledger, provider events. */
  check(step: Step): void {
    const before = this.#state();
    this.#expectRecords(this.payment);
    const expected = this.expected(step);
    const response = this.send(step);
    if (isRefused(expected)) {
      expect(response.code, response.text).toBe(expected.refused);
      if (expected.refused === 'invalid_state_transition') this.#expectTransitionRefused(step, response);
      same(this.#state(), before);
      return;
    }
    expect(response.status, response.text).toBe(step.on === 'payment refund' ? 201 : 200);
    const shown = withoutRequestId(response.body);
    same(shown, this.runner.show(String(shown.id)));
    this.#expectRecords(expected);
    this.#expectWritten(before, expected);
  }

  #state() {
    const { history, events, entries, providerEvents } = this.runner.written;
    const records = [this.paymentId, ...this.refundIds, ...this.disputeIds].map((id) => this.runner.show(id));
    return {
      ...{ history: history.length, events: events.length, entries: entries.length },
      ...{ providerEvents: providerEvents.length, records },
    };
  }

  #expectRecords(payment: Payment): void {
    const { runner, paymentId } = this;
    same(shownPayment(runner.show(paymentId)), expectedPayment(payment));
    same(
      this.refundIds.map((id) => shownPart(runner.show(id))),
      payment.refunds.map((_refund, i) => expectedRefund(paymentId, payment, i)),
    );
    same(
      this.disputeIds.map((id) => shownPart(runner.show(id))),
      payment.disputes.map((_dispute, i) => expectedDispute(paymentId, payment, i)),
    );
    const balances = accountNames.map((account) => [account, runner.balance(account, currency)]);
    same(Object.fromEntries(balances), balancesOf(payment));
  }

  #expectTransitionRefused({ on, body }: Step, { status, body: { error } }: Response): void {
    expect(status).toBe(409);
    const id =
      on === 'refund' ? this.refundIds.at(-1) : on === 'dispute' ? this.disputeIds.at(-1) : this.paymentId;
    const record = this.runner.show(id ?? '');
    same(error.allowedActions, record.allowedActions);
    const { action = on === 'payment refund' ? 'refund' : undefined, to } = body;
    same(error.details, {
      status: record.status,
      ...(action === undefined ? {} : { action }),
      ...(to === undefined ? {} : { to }),
      // Only its dispute can change a disputed payment.
      ...(record.status === 'disputed' ? { disputeId: record.disputeId } : {}),
    });
  }

  #expectWritten(
    before: { history: number; events: number; entries: number; providerEvents: number },
    payment: Payment,
  ) {
    const { history, events, entries, providerEvents } = this.runner.written;
    const transitions = payment.transitions.slice(this.payment.transitions.length);
    const rows = history.slice(before.history);
    const emitted = events.slice(before.events).map((event) => {
      const row = rows.find(({ eventId }) => eventId === event.id);
      expect(row).toMatchObject({
        ...{ resource: event.resource, resourceId: event.resourceId, version: event.sequence },
        ...{ requestId: event.requestId, actorKind: 'api_key', at: event.createdAt },
      });
      return {
        resource: event.resource,
        index: this.#indexOf(event.resourceId),
        action: row?.action,
        from: row?.fromStatus,
        to: row?.toStatus,
        event: event.type,
      };
    });
    expect(rows).toHaveLength(emitted.length);
    same(emitted, transitions);
    same(entries.slice(before.entries).map(entryOf), payment.entries.slice(this.payment.entries.length));
    const said = providerEvents.slice(before.providerEvents);
    same(
      said.map(({ action, outcome }) => `${action} ${outcome}`),
      providerEventsOf(transitions, this.provider),
    );
    for (const event of said)
      expect(event).toMatchObject({ provider: this.provider, paymentId: this.paymentId });
  }

  #indexOf(id: string): number {
    return Math.max(0, this.refundIds.indexOf(id), this.disputeIds.indexOf(id));
  }
}

function paramsOf({ amount, currency: code, final: isFinal, failureCode }: AdvanceBody): Params {
  return {
    ...(amount === undefined ? {} : { amount: BigInt(amount) }),
    ...(code === undefined ? {} : { currency: code }),
    ...(isFinal === undefined ? {} : { isFinal }),
    ...(failureCode === undefined ? {} : { failureCode }),
  };
}

function advanceOf({ action, to }: AdvanceBody): Advance {
  if (action !== undefined) return { by: 'action', action };
  return to === undefined ? { by: 'next' } : { by: 'to', to };
}

function entryOf(row: {
  readonly reason: string;
  readonly postings: readonly {
    readonly account: string;
    readonly currency: string;
    readonly amount: number;
  }[];
}): LedgerEntry {
  for (const posting of row.postings) expect(posting.currency).toBe(currency);
  const accounts = row.postings.map(({ account }) => account);
  expect(new Set(accounts).size, 'an account appears once in an entry').toBe(accounts.length);
  const postings = row.postings.map(({ account, amount }) => [account, BigInt(amount)]);
  return { reason: row.reason, postings: Object.fromEntries(postings) };
}

/**
 * The provider events of each transition, as `action outcome`. Refunds, and the end of a dispute, are reported as the
 * transition of their payment. The second provider sends a duplicate at a capture and reports a settlement out of order.
 */
function providerEventsOf(transitions: readonly Transition[], provider: string): readonly string[] {
  const closesDispute = ({ resource, to }: Transition) =>
    resource === 'dispute' && (to === 'won' || to === 'lost');
  return transitions.flatMap((one) => {
    const { resource, action, from } = one;
    if (action === 'create' || action === 'retry' || resource === 'refund' || closesDispute(one)) return [];
    if (provider === 'tidewater' && action === 'settle') return ['settle ignored', 'settle applied'];
    if (provider === 'tidewater' && action === 'capture' && from === 'authorized')
      return ['capture duplicate', 'capture applied'];
    return [`${action} applied`];
  });
}

function withoutRequestId({ requestId: _requestId, ...body }: Body): Readonly<Record<string, unknown>> {
  return body;
}

/** Vitest comparisons take 50 times as long, so `expect` is called only to print a difference. */
function same(found: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(found, expected)) expect(found).toEqual(expected);
}
