import type { Step } from '../../kernel/advance.ts';
import { unreachable } from '../../kernel/assert.ts';
import { type Due, earliest } from '../../kernel/clock.ts';
import type { DeclineCode } from '../../kernel/decline.ts';
import { allowedActions } from '../../kernel/machine.ts';
import { declineOf } from '../../kernel/scenario.ts';
import { payoutAt } from '../../ledger/settlement.ts';
import { currentScenario, paymentMachine, returnable } from './machine.ts';
import type { PaymentRow } from './table.ts';

/** What the moves of a payment take. Each takes its own; the route has refused what is not for it. */
export interface MoveParams {
  /** Null takes all that is left, or half of it where only a part leads to the state that is asked for. */
  readonly amount: bigint | null;
  readonly isPart: boolean;
  readonly currency: string | null;
  /** A capture after which nothing more is captured: what is left of the hold is released. */
  readonly isFinal: boolean;
  readonly failureCode: DeclineCode | null;
  readonly reason: string | null;
  readonly metadata: Readonly<Record<string, string>>;
}

export const noParams: MoveParams = {
  amount: null,
  isPart: false,
  currency: null,
  isFinal: false,
  failureCode: null,
  reason: null,
  metadata: {},
};

/** What the payment's scenario does next: the provider's and the customer's part of the play. */
export function nextStep(row: PaymentRow): Step<MoveParams> | undefined {
  const scenario = currentScenario(row);
  const step = (action: string, params: Partial<MoveParams> = {}): Step<MoveParams> => ({
    action,
    params: { ...noParams, ...params },
  });
  const pay = step(row.captureMethod === 'automatic' ? 'capture' : 'authorize');
  switch (row.status) {
    case 'pending': {
      const failureCode = declineOf(scenario);
      if (failureCode !== undefined) return step('fail', { failureCode });
      if (scenario === 'require_action') return step('require_action');
      if (scenario === 'async') return step('process');
      return scenario === 'capture_fails' ? step('authorize') : pay;
    }
    case 'requires_action':
    case 'processing':
      return pay;
    case 'authorized':
    case 'partially_captured':
      return step('capture');
    case 'captured':
    case 'settled':
    case 'partially_refunded': {
      const isStillToDispute = scenario === 'dispute' && row.disputeId === null && returnable(row) > 0n;
      if (isStillToDispute) return step('dispute');
      return isOpen(row, 'settle') ? step('settle') : undefined;
    }
    case 'failed':
      return isOpen(row, 'retry') ? step('retry') : undefined;
    case 'disputed':
    case 'refunded':
    case 'charged_back':
    case 'canceled':
    case 'expired':
      return undefined;
    default:
      return unreachable(row.status, 'the status of a payment');
  }
}

function isOpen(row: PaymentRow, action: string): boolean {
  return allowedActions(paymentMachine, row).includes(action);
}

/**
 * How long a payment that advances by itself takes for each step, from its last change on. Settlement is not among them: it
 * comes with the provider's daily run, whether a payment advances by itself or not.
 */
export const stepDelaysMs: Readonly<Record<string, number>> = {
  require_action: 1_000,
  process: 1_000,
  authorize: 1_000,
  fail: 1_000,
  capture: 1_000,
  confirm: 10_000,
  clear: 60_000,
  retry: 60_000,
  dispute: 3_600_000,
};

/** The delay of a step: what the customer or the bank does takes longer than an answer of the provider. */
function delayOf({ status }: PaymentRow, action: string): number {
  const name = status === 'requires_action' ? 'confirm' : status === 'processing' ? 'clear' : action;
  return stepDelaysMs[name] ?? 0;
}

/** What a payment waits for: its own next step, the end of its authorization, or the day it is paid out. */
export function paymentDue(row: PaymentRow): Due | null {
  const { status, instants, updatedAt } = row;
  const isHeld = status === 'authorized' || status === 'partially_captured';
  const { authorizationExpiresAt, capturedAt } = instants;
  return earliest([
    row.autoAdvance ? ownStep(row) : null,
    isHeld && authorizationExpiresAt !== undefined ? { at: authorizationExpiresAt, action: 'expire' } : null,
    capturedAt !== undefined && isOpen(row, 'settle')
      ? { at: payoutAt(row.provider, capturedAt, updatedAt), action: 'settle' }
      : null,
  ]);
}

function ownStep(row: PaymentRow): Due | null {
  const action = nextStep(row)?.action;
  if (action === undefined || action === 'settle') return null;
  return { at: row.updatedAt + delayOf(row, action), action };
}
