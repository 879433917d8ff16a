import { type Step, type StepDelaysMs, stepDue } from '../../kernel/advance.ts';
import { unreachable } from '../../kernel/assert.ts';
import type { DeclineCode } from '../../kernel/decline.ts';
import { openMoves } from '../../kernel/machine.ts';
import { declineOf } from '../../kernel/scenario.ts';
import type { Instant } from '../../kernel/table.ts';
import { type Due, earliest, hourMs, minuteMs, secondMs } from '../../kernel/time.ts';
import { payoutAt } from '../../ledger/settlement.ts';
import { currentScenario, type PaymentAction, paymentMachine, returnable } from './machine.ts';
import type { PaymentRow } from './table.ts';

/** The parameters of payment moves. Each move uses some of them; the route refuses parameters that do not apply. */
export interface MoveParams {
  /** Null means the full remaining amount, or half of it if only a part leads to the requested state. */
  readonly amount: bigint | null;
  readonly isPart: boolean;
  readonly currency: string | null;
  /** The last capture of the payment: the rest of the hold is released. */
  readonly isFinal: boolean;
  readonly failureCode: DeclineCode | null;
  readonly reason: string | null;
  readonly metadata: Readonly<Record<string, string>>;
}

export type PaymentStep = Step<PaymentAction, MoveParams>;

export const noParams: MoveParams = {
  amount: null,
  isPart: false,
  currency: null,
  isFinal: false,
  failureCode: null,
  reason: null,
  metadata: {},
};

/** The next step of the payment's scenario, by the provider or the customer. */
export function nextStep(row: PaymentRow): PaymentStep | undefined {
  const scenario = currentScenario(row);
  const step = (action: PaymentAction, params: Partial<MoveParams> = {}): PaymentStep => ({
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
      const isDisputePending = scenario === 'dispute' && row.disputeId === null && returnable(row) > 0n;
      if (isDisputePending) return step('dispute');
      return isAllowed(row, 'settle') ? step('settle') : undefined;
    }
    case 'failed':
      return isAllowed(row, 'retry') ? step('retry') : undefined;
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

function isAllowed(row: PaymentRow, action: PaymentAction): boolean {
  return openMoves(paymentMachine, row).some((move) => move.action === action);
}

/**
 * The step delays of a payment with `autoAdvance`. Settlement has none: it happens in the provider's daily payout run, with or
 * without `autoAdvance`.
 */
export const stepDelaysMs: StepDelaysMs<PaymentAction | 'confirm' | 'clear'> = {
  require_action: secondMs,
  process: secondMs,
  authorize: secondMs,
  fail: secondMs,
  capture: secondMs,
  confirm: 10 * secondMs,
  clear: minuteMs,
  retry: minuteMs,
  dispute: hourMs,
};

/** The delay of a step: a step by the customer or the bank takes longer than a provider response. */
function delayOf({ status }: PaymentRow, action: PaymentAction): number | undefined {
  const name = status === 'requires_action' ? 'confirm' : status === 'processing' ? 'clear' : action;
  return stepDelaysMs[name];
}

/** The next timer of a payment: its next scenario step, the expiry of its authorization, or its payout. */
export function paymentDue(row: PaymentRow): Due<PaymentAction> | null {
  const { status, instants } = row;
  const isHeld = status === 'authorized' || status === 'partially_captured';
  const { authorizationExpiresAt, capturedAt } = instants;
  return earliest([
    row.autoAdvance ? scenarioStepDue(row) : null,
    isHeld && authorizationExpiresAt !== undefined ? { at: authorizationExpiresAt, action: 'expire' } : null,
    capturedAt !== undefined && isAllowed(row, 'settle')
      ? { at: payoutAt(row.provider, capturedAt, lastMoveAt(row)), action: 'settle' }
      : null,
  ]);
}

function lastMoveAt({ instants, updatedAt }: PaymentRow): Instant {
  return instants.movedAt ?? updatedAt;
}

function scenarioStepDue(row: PaymentRow): Due<PaymentAction> | null {
  return stepDue({ updatedAt: lastMoveAt(row) }, nextStep(row)?.action, (action) => delayOf(row, action));
}
