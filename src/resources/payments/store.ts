import { type ListQuery, listRequest, type Page, pageOf } from '../../kernel/list.ts';
import type { Reader } from '../../kernel/route.ts';
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

export function findPayment(reader: Reader, orgId: string, id: string): PromiseLike<PaymentRow | undefined> {
  return reader.byKey(paymentsTable, orgId, id);
}

export async function listPayments(
  reader: Reader,
  orgId: string,
  query: ListQuery,
): Promise<Page<PaymentRow> | 'invalid_cursor'> {
  const request = listRequest(paymentsTable, 'payment', ['status', 'customerId'], orgId, query);
  if (request === 'invalid_cursor') return request;
  return pageOf(await reader.rows<PaymentRow>(request.statement, request.values), request.limit);
}
