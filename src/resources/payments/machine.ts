import {
  accepted,
  type Change,
  type CommandContext,
  type CommandKind,
  change,
  type Decision,
  type LoadedRows,
} from '../../kernel/command.ts';
import { findCurrency } from '../../kernel/currency.ts';
import { findDecline } from '../../kernel/decline.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import { formatId, type Id } from '../../kernel/ids.ts';
import type { Entry, Settlement } from '../../kernel/ledger.ts';
import { limits } from '../../kernel/limits.ts';
import { type ActionOf, defineMachine } from '../../kernel/machine.ts';
import type { ProviderMove } from '../../kernel/provider.ts';
import { refuseAmount } from '../../kernel/refuse-amount.ts';
import { resolveScenario, scenarioOf } from '../../kernel/scenario.ts';
import type { Book } from '../../ledger/payment.ts';
import { readsCustomer, refuseCustomer } from '../customers/machine.ts';
import { type PaymentRow, paymentStates } from './table.ts';

const unpaid = ['pending', 'requires_action', 'processing'] as const;
const paid = ['captured', 'settled', 'partially_refunded'] as const;
const stays = { stays: true, event: 'updated' } as const;

/** The payment life cycle. Refunds and disputes trigger moves of the payment that no caller can request directly. */
export const paymentMachine = defineMachine<PaymentRow>()({
  resource: 'payment',
  states: paymentStates,
  goal: 'settled',
  setbacks: ['failed', 'canceled', 'expired', 'partially_refunded', 'refunded', 'disputed', 'charged_back'],
  moves: [
    { action: 'create', from: [], to: ['pending'], event: 'created' },
    { action: 'require_action', from: ['pending'], to: ['requires_action'] },
    { action: 'process', from: ['pending', 'requires_action'], to: ['processing'] },
    { action: 'authorize', from: unpaid, to: ['authorized'] },
    {
      action: 'capture',
      from: ['authorized', 'partially_captured'],
      to: ['captured', 'partially_captured'],
      amountMaximum: 'amountCapturable',
    },
    {
      action: 'capture',
      from: unpaid,
      to: ['captured', 'partially_captured'],
      amountMaximum: 'amountCapturable',
      when: {
        description: 'it is captured automatically',
        holds: ({ captureMethod }) => captureMethod === 'automatic',
      },
    },
    { action: 'settle', from: ['captured'], to: ['settled'] },
    {
      action: 'settle',
      from: ['partially_refunded'],
      to: ['partially_refunded'],
      stays: true,
      event: 'settled',
      when: {
        description: 'it is not settled yet',
        holds: ({ instants }) => instants.settledAt === undefined,
      },
    },
    { action: 'fail', from: unpaid, to: ['failed'] },
    {
      action: 'fail',
      from: ['authorized'],
      to: ['failed'],
      when: {
        description: 'its scenario is capture_fails',
        holds: (row) => currentScenario(row) === 'capture_fails',
      },
    },
    {
      action: 'retry',
      from: ['failed'],
      to: ['pending'],
      when: {
        description: `the decline was soft and the payment has had fewer than ${limits.paymentAttemptsMax} attempts`,
        holds: mayRetry,
      },
    },
    { action: 'cancel', from: ['pending', 'requires_action', 'authorized'], to: ['canceled'] },
    { action: 'cancel', from: ['partially_captured'], to: ['captured'] },
    { action: 'expire', from: ['pending', 'requires_action', 'authorized'], to: ['expired'] },
    { action: 'expire', from: ['partially_captured'], to: ['captured'] },
    {
      action: 'refund',
      from: paid,
      to: ['partially_refunded', 'refunded'],
      amountMaximum: 'amountRefundable',
    },
    // Pending refunds and earlier disputes reduce both, so the disputable amount equals the refundable amount.
    { action: 'dispute', from: paid, to: ['disputed'], amountMaximum: 'amountRefundable' },
    { action: 'refund_pending', from: paid, to: paid, triggeredBy: 'refund', ...stays },
    { action: 'refund_succeeded', from: paid, to: ['partially_refunded', 'refunded'], triggeredBy: 'refund' },
    { action: 'refund_succeeded', from: ['disputed'], to: ['disputed'], triggeredBy: 'refund', ...stays },
    {
      action: 'refund_failed',
      from: [...paid, 'disputed'],
      to: [...paid, 'disputed'],
      triggeredBy: 'refund',
      ...stays,
    },
    {
      action: 'refund_canceled',
      from: [...paid, 'disputed'],
      to: [...paid, 'disputed'],
      triggeredBy: 'refund',
      ...stays,
    },
    { action: 'update', from: paymentStates, to: paymentStates, isEdit: true, ...stays },
    { action: 'dispute_won', from: ['disputed'], to: paid, triggeredBy: 'dispute' },
    { action: 'dispute_lost', from: ['disputed'], to: ['charged_back', ...paid], triggeredBy: 'dispute' },
  ],
  eventDescriptions: {
    created: 'A payment was created; nothing has been charged yet.',
    requires_action: 'The customer has to confirm the payment before it can continue.',
    processing: 'The provider has accepted the payment and will report the outcome later.',
    authorized: 'The amount is held, and can be captured until `authorizationExpiresAt`.',
    captured: 'The capture is complete, or a dispute has ended and left the payment captured.',
    partially_captured: 'A part of the amount was captured; the rest still can be.',
    settled: 'The provider has paid the money out, or a dispute has ended and left the payment settled.',
    failed: 'The provider declined the payment or refused its capture; `failure` says why.',
    pending: 'A payment that had failed is tried again.',
    canceled: 'The payment was canceled before anything was captured.',
    expired: 'The payment or its authorization ran out before anything was captured.',
    partially_refunded:
      'A part of the money went back to the customer, or a dispute has ended and left the payment refunded in part.',
    refunded: 'All of the captured money has gone back to the customer.',
    disputed: 'The customer disputes the payment; the outcome of the dispute decides its next state.',
    updated:
      'Its description or metadata was edited, or a refund is pending, has failed or was canceled, or succeeded during a dispute; the status of the payment stays as it was.',
    charged_back: 'The dispute was lost, and all of the captured money is gone.',
  },
});

export type PaymentAction = ActionOf<typeof paymentMachine>;

export interface CreatePayment {
  readonly amount: bigint;
  readonly currency: string;
  readonly customerId: Id<'customer'> | null;
  readonly captureMethod: PaymentRow['captureMethod'];
  readonly paymentMethodType: PaymentRow['paymentMethodType'];
  readonly cardNumber: string | null;
  readonly description: string | null;
  readonly reference: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly scenario: PaymentRow['scenario'] | null;
  readonly autoAdvance: boolean;
}

export const createPayment: CommandKind<CreatePayment> = {
  name: 'payments.create',
  success: 'created',
  reads: readsCustomer,
  decide: decideCreate,
};

function decideCreate(input: CreatePayment, context: CommandContext, rows: LoadedRows): Decision {
  const currency = input.currency.toUpperCase();
  if (!findCurrency(currency)) {
    return refuse('unsupported_currency', {
      message: `${currency} is not a supported currency. Use a code listed by developer_api_capabilities.`,
      param: '/currency',
    });
  }
  const refusal = refuseCustomer(input.customerId, rows);
  if (refusal) return refusal;
  if (context.appId === null) throw new Error('createPayment requires an application');
  // From here it must succeed.
  const { cardNumber, scenario } = input;
  const { feeBasisPoints, feeFixed, provider } = context.settings;
  // All fields are listed, because a spread in the middle of a literal is slow: this function was 8 % of the engine's time and is 2 %.
  const row: PaymentRow = {
    orgId: context.orgId,
    id: formatId('payment', context.suffix),
    appId: context.appId,
    status: 'pending',
    version: 1,
    amount: input.amount,
    currency,
    amountCapturable: 0n,
    amountHeld: 0n,
    amountCaptured: 0n,
    amountRefunded: 0n,
    amountRefundPending: 0n,
    amountDisputed: 0n,
    feeAmount: 0n,
    feeBasisPoints,
    feeFixed,
    provider: provider ?? defaultProvider(input.paymentMethodType),
    captureMethod: input.captureMethod,
    paymentMethodType: input.paymentMethodType,
    paymentMethodLastFour: cardNumber?.slice(-4) ?? null,
    customerId: input.customerId,
    description: input.description,
    reference: input.reference,
    metadata: input.metadata,
    scenario: resolveScenario(scenario, cardNumber, input.amount),
    autoAdvance: input.autoAdvance,
    failureCode: null,
    attempts: [],
    disputeId: null,
    reconciliation: null,
    instants: {},
    createdAt: context.now,
    updatedAt: context.now,
  };
  return accepted([change(paymentMachine, 'create', null, row)], 'payment', row);
}

function defaultProvider(type: PaymentRow['paymentMethodType']): string {
  return type === 'bank_debit' || type === 'bank_transfer' ? 'tidewater' : 'meridian';
}

/** The number of the current attempt, or of the last one if the payment failed; starts at 1. */
export function attemptNumber({ status, attempts }: Pick<PaymentRow, 'status' | 'attempts'>): number {
  return status === 'failed' ? attempts.length : attempts.length + 1;
}

export function currentScenario(row: PaymentRow): string {
  return scenarioOf(row.scenario, attemptNumber(row));
}

function mayRetry({ failureCode, attempts }: PaymentRow): boolean {
  return (
    failureCode !== null && findDecline(failureCode).isSoft && attempts.length < limits.paymentAttemptsMax
  );
}

/** The status that follows from the amounts of a payment alone. A payment has it after its dispute is closed. */
export function restingStatus(row: PaymentRow): PaymentRow['status'] {
  if (row.amountRefunded > 0n) {
    return row.amountRefunded === row.amountCaptured ? 'refunded' : 'partially_refunded';
  }
  return row.instants.settledAt === undefined ? 'captured' : 'settled';
}

/** The amount that can still be refunded or disputed. */
export function returnable(row: PaymentRow): bigint {
  return row.amountCaptured - row.amountRefunded - row.amountRefundPending - row.amountDisputed;
}

export function bookOf({ currency, instants }: PaymentRow): Book {
  return { currency, isSettled: instants.settledAt !== undefined };
}

export function refuseCurrency(row: PaymentRow, currency: string | null): Refusal | undefined {
  if (currency === null || currency.toUpperCase() === row.currency) return undefined;
  return refuse('currency_mismatch', {
    message: `The payment is in ${row.currency}, not in ${currency.toUpperCase()}. Omit \`currency\` or send ${row.currency}.`,
    param: '/currency',
  });
}

/** Only its dispute moves a disputed payment, so the refusal names the dispute. */
export function withDispute(refusal: Refusal, { status, disputeId }: PaymentRow): Refusal {
  if (status !== 'disputed' || refusal.code !== 'invalid_state_transition') return refusal;
  return {
    ...refusal,
    message: `${refusal.message} Its dispute decides: advance ${disputeId}.`,
    details: { ...refusal.details, disputeId },
  };
}

/** The amount of a refund or dispute: the requested amount, or by default the full remaining amount. */
export function amountToReturn(
  row: PaymentRow,
  requested: { readonly amount: bigint | null; readonly currency: string | null },
  what: 'refundable' | 'disputable',
): { readonly ok: true; readonly amount: bigint } | Refusal {
  const mismatch = refuseCurrency(row, requested.currency);
  if (mismatch) return mismatch;
  const left = returnable(row);
  const amount = requested.amount ?? left;
  if (left > 0n && amount <= left) return { ok: true, amount };
  return refuseAmount(what, row.currency, left, amount);
}

export interface MoveEffects {
  readonly entries?: readonly Entry[];
  /** The amount in the provider event. */
  readonly amount: bigint;
  /** The refund or dispute that triggers the move. */
  readonly causeId?: string;
  /** The line of the provider's settlement report, when the move pays out. */
  readonly settlement?: Settlement;
}

/** Builds the change for one move of a payment. The provider receives all moves except `retry`, which is the customer's. */
export function movePayment(
  before: PaymentRow,
  action: PaymentAction,
  patch: Partial<PaymentRow>,
  effects: MoveEffects,
  { now }: CommandContext,
): Change & { readonly row: PaymentRow } {
  const moved: PaymentRow = { ...before, ...patch, version: before.version + 1, updatedAt: now };
  const { instants } = moved;
  const row =
    instants.movedAt === undefined ? moved : { ...moved, instants: { ...instants, movedAt: undefined } };
  const { amount, entries = [], causeId = null, settlement = null } = effects;
  const providerMove =
    action === 'retry'
      ? null
      : paymentProviderMove(row, { subject: row, action, from: before.status, amount, causeId });
  return { ...change(paymentMachine, action, before, row, { entries, providerMove, settlement }), row };
}

/** A move of a payment, or of its dispute, in the form that the provider receives. */
export function paymentProviderMove(
  payment: PaymentRow,
  move: Pick<ProviderMove, 'action' | 'from' | 'amount' | 'causeId'> & {
    /** The record after its move. */
    readonly subject: {
      readonly id: string;
      readonly version: number;
      readonly status: string;
      readonly updatedAt: number;
    };
  },
): ProviderMove {
  const { subject, action, from, amount, causeId } = move;
  return {
    provider: payment.provider,
    record: 'payment',
    recordId: payment.id,
    subjectId: subject.id,
    version: subject.version,
    action,
    from,
    to: subject.status,
    amount,
    currency: payment.currency,
    failureCode: payment.failureCode,
    causeId,
    at: subject.updatedAt,
  };
}
