/** What answers must show of a payment, a refund and a dispute, and what they do show, cut to the same fields. */
import type { Body } from '../support/api-client.ts';
import {
  type Dispute,
  disputed,
  openActions,
  type Payment,
  type Refund,
  refunded,
  returnable,
} from './model.ts';
import { openDisputeActions } from './ways.ts';

type Fields = Readonly<Record<string, unknown>>;

export function wantedPayment(payment: Payment): Fields {
  return {
    object: 'payment',
    status: payment.status,
    amount: Number(payment.amount),
    currency: payment.currency,
    amountCapturable: Number(payment.capturable),
    amountCaptured: Number(payment.captured),
    amountRefunded: Number(refunded(payment)),
    amountRefundable: Number(returnable(payment)),
    amountDisputed: Number(disputed(payment)),
    feeAmount: Number(payment.fee),
    captureMethod: payment.isManual ? 'manual' : 'automatic',
    scenario: payment.scenario,
    failureCode: payment.failure,
    attempts: payment.failures + (payment.status === 'failed' ? 0 : 1),
    isSettled: payment.isSettled,
    allowedActions: openActions(payment).toSorted(),
    version: payment.steps.length,
  };
}

export function shownPayment(body: Body): Fields {
  return {
    ...only(body, ['object', 'status', 'amount', 'currency', 'amountCapturable', 'amountCaptured']),
    ...only(body, ['amountRefunded', 'amountRefundable', 'amountDisputed', 'feeAmount', 'captureMethod']),
    ...only(body, ['scenario', 'version']),
    failureCode: (body.failure as { code: string } | null)?.code ?? null,
    attempts: (body.attempts as readonly unknown[]).length,
    isSettled: body.settledAt !== undefined,
    allowedActions: (body.allowedActions as readonly string[]).toSorted(),
  };
}

export function wantedRefund(paymentId: string, { currency }: Payment, refund: Refund): Fields {
  const { status, amount, steps } = refund;
  return {
    ...{ object: 'refund', status, paymentId, amount: Number(amount), currency, version: steps.length },
    allowedActions: status === 'pending' ? ['cancel', 'fail', 'succeed'] : [],
  };
}

export function wantedDispute(paymentId: string, { currency }: Payment, dispute: Dispute): Fields {
  const { status, amount, steps, stage } = dispute;
  return {
    ...{ object: 'dispute', status, paymentId, amount: Number(amount), currency, version: steps.length },
    allowedActions: openDisputeActions(dispute).toSorted(),
    stage: ['chargeback', 'pre_arbitration', 'arbitration'][stage - 1],
  };
}

export function shownPart(body: Body): Fields {
  return {
    ...only(body, ['object', 'status', 'paymentId', 'amount', 'currency', 'version']),
    allowedActions: (body.allowedActions as readonly string[]).toSorted(),
    ...(body.object === 'dispute' ? { stage: body.stage } : {}),
  };
}

function only(body: Body, fields: readonly string[]): Fields {
  return Object.fromEntries(fields.map((field) => [field, body[field]]));
}

/** What the entries of an answer add to each account; every one of them must be in balance by itself. */
export function postedBy(entries: readonly Body[], currency: string): Readonly<Record<string, bigint>> {
  const sums: Record<string, bigint> = {};
  for (const { id, postings } of entries) {
    let total = 0n;
    for (const posting of postings as readonly { account: string; currency: string; amount: number }[]) {
      if (posting.currency !== currency) throw new Error(`${id} posts in ${posting.currency}`);
      const amount = BigInt(posting.amount);
      total += amount;
      sums[posting.account] = (sums[posting.account] ?? 0n) + amount;
    }
    if (total !== 0n) throw new Error(`${id} sums to ${total}`);
  }
  return Object.fromEntries(Object.entries(sums).filter(([, amount]) => amount !== 0n));
}
