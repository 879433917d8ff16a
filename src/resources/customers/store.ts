import { type ListQuery, listRequest, type Page, pageOf } from '../../kernel/list.ts';
import type { Reader } from '../../kernel/route.ts';
import { defineTable } from '../../kernel/table.ts';
import type { CustomerRow } from './machine.ts';

export const customersTable = defineTable<CustomerRow>('customers', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  appId: 'text',
  status: 'text',
  version: 'integer',
  name: 'text',
  email: 'text',
  phone: 'text',
  reference: 'text',
  metadata: 'jsonb',
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
});

export function findCustomer(
  reader: Reader,
  orgId: string,
  id: string,
): PromiseLike<CustomerRow | undefined> {
  return reader.byKey(customersTable, orgId, id);
}

export async function listCustomers(
  reader: Reader,
  orgId: string,
  query: ListQuery,
): Promise<Page<CustomerRow> | 'invalid_cursor'> {
  const request = listRequest(customersTable, 'customer', ['status'], orgId, query);
  if (request === 'invalid_cursor') return request;
  return pageOf(await reader.rows<CustomerRow>(request.statement, request.values), request.limit);
}
