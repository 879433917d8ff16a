/** The fields that responses must show of a payment, refund or dispute by the model, and the same fields of a response. */
import type { Body } from '../support/api-client.ts';
import { allowedDisputeActions, allowedRefundActions } from './advance.ts';
import { allowedActions, disputed, type Payment, refunded, returnable, transitionsOf } from './payments.ts';

type Fields = Readonly<Record<string, unknown>>;

export function expectedPayment(payment: Payment): Fields {
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
    allowedActions: allowedActions(payment),
    version: transitionsOf(payment, 'payment').length,
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
    allowedActions: body.allowedActions,
  };
}

export function expectedRefund(paymentId: string, payment: Payment, index: number): Fields | undefined {
  const refund = payment.refunds[index];
  if (!refund) return undefined;
  const { status, amount } = refund;
  return {
    ...{ object: 'refund', status, paymentId, amount: Number(amount), currency: payment.currency },
    version: transitionsOf(payment, 'refund', index).length,
    allowedActions: allowedRefundActions(refund),
  };
}

export function expectedDispute(paymentId: string, payment: Payment, index: number): Fields | undefined {
  const dispute = payment.disputes[index];
  if (!dispute) return undefined;
  const { status, amount, stage } = dispute;
  return {
    ...{ object: 'dispute', status, paymentId, amount: Number(amount), currency: payment.currency },
    version: transitionsOf(payment, 'dispute', index).length,
    allowedActions: allowedDisputeActions(dispute),
    stage: ['chargeback', 'pre_arbitration', 'arbitration'][stage - 1],
  };
}

export function shownPart(body: Body): Fields {
  return {
    ...only(body, ['object', 'status', 'paymentId', 'amount', 'currency', 'version']),
    allowedActions: body.allowedActions,
    ...(body.object === 'dispute' ? { stage: body.stage } : {}),
  };
}

function only(body: Body, fields: readonly string[]): Fields {
  return Object.fromEntries(fields.map((field) => [field, body[field]]));
}

/** The sum of a response's ledger entries for each account. Every entry must balance by itself. */
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
