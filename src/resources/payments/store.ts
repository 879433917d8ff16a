import { defineTable } from '../../kernel/table.ts';
import type { PaymentRow } from './machine.ts';

export const paymentsTable = defineTable<PaymentRow>('payments', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  appId: 'text',
  status: 'text',
  version: 'integer',
  amount: 'bigint',
  currency: 'text',
  amountCapturable: 'bigint',
  amountCaptured: 'bigint',
  amountRefunded: 'bigint',
  amountDisputed: 'bigint',
  feeAmount: 'bigint',
  captureMethod: 'text',
  paymentMethodType: 'text',
  customerId: 'text',
  description: 'text',
  reference: 'text',
  metadata: 'jsonb',
  scenario: 'jsonb',
  autoAdvance: 'boolean',
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
});
