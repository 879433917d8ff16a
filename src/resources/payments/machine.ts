import {
  accepted,
  type CommandContext,
  type CommandKind,
  change,
  type Decision,
  type LoadedRows,
  type Read,
} from '../../kernel/command.ts';
import { findCurrency } from '../../kernel/currency.ts';
import { refuse } from '../../kernel/errors.ts';
import { formatId } from '../../kernel/ids.ts';
import { defineMachine } from '../../kernel/machine.ts';
import type { Instant } from '../../kernel/table.ts';

/** A payment's life. The table grows with its moves; `allowedActions`, capabilities and documents follow it. */
export const paymentMachine = defineMachine({
  resource: 'payment',
  states: ['pending'],
  moves: [{ action: 'create', from: [], to: ['pending'], event: 'created' }],
});

export const captureMethods = ['automatic', 'manual'] as const;
export const paymentMethodTypes = ['card', 'bank_debit', 'bank_transfer', 'wallet'] as const;

export interface PaymentRow {
  readonly orgId: string;
  readonly id: string;
  readonly appId: string;
  readonly status: 'pending';
  readonly version: number;
  readonly amount: bigint;
  readonly currency: string;
  readonly amountCapturable: bigint;
  readonly amountCaptured: bigint;
  readonly amountRefunded: bigint;
  readonly amountDisputed: bigint;
  readonly feeAmount: bigint;
  readonly captureMethod: (typeof captureMethods)[number];
  readonly paymentMethodType: (typeof paymentMethodTypes)[number];
  readonly customerId: string | null;
  readonly description: string | null;
  readonly reference: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** One name, or a list for successive attempts. */
  readonly scenario: string | readonly string[];
  readonly autoAdvance: boolean;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

export interface CreatePayment {
  readonly amount: bigint;
  readonly currency: string;
  readonly customerId: string | null;
  readonly captureMethod: PaymentRow['captureMethod'];
  readonly paymentMethodType: PaymentRow['paymentMethodType'];
  readonly description: string | null;
  readonly reference: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly scenario: PaymentRow['scenario'];
  readonly autoAdvance: boolean;
}

export const createPayment: CommandKind<CreatePayment> = {
  name: 'payments.create',
  success: 'created',
  // Shared, so that the customer cannot be archived between this look and the commit.
  reads: ({ customerId }): readonly Read[] =>
    customerId === null ? [] : [{ resource: 'customer', id: customerId, lock: 'share' }],
  decide: decideCreate,
};

function decideCreate(input: CreatePayment, context: CommandContext, rows: LoadedRows): Decision {
  const currency = input.currency.toUpperCase();
  if (!findCurrency(currency)) {
    return refuse('unsupported_currency', {
      message: `${currency} is no currency that is supported. Use a code listed by developer_api_capabilities.`,
      param: '/currency',
    });
  }
  if (input.customerId !== null) {
    const customer = rows.get<{ status: string }>('customer', input.customerId);
    if (!customer) return refuse('customer_not_found', { param: '/customerId' });
    if (customer.status === 'archived') return refuse('customer_archived', { param: '/customerId' });
  }
  if (context.appId === null) throw new Error('a payment is made by an application');
  // From here it must succeed.
  const row: PaymentRow = {
    orgId: context.orgId,
    id: formatId('payment', context.suffix),
    appId: context.appId,
    status: 'pending',
    version: 1,
    ...input,
    currency,
    amountCapturable: 0n,
    amountCaptured: 0n,
    amountRefunded: 0n,
    amountDisputed: 0n,
    feeAmount: 0n,
    createdAt: context.now,
    updatedAt: context.now,
  };
  return accepted([change(paymentMachine, 'create', null, row)], 'payment', row);
}
