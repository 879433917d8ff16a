import type { Customer } from '../../generated/shapes.ts';
import { type Row, recordOf, rowsOf } from '../records/rows.tsx';

const texts = ['name', 'email', 'phone', 'reference'] as const;
export type Text = (typeof texts)[number];

export interface Draft extends Readonly<Record<Text, string>> {
  readonly metadata: readonly Row[];
}

export function draftOf(customer: Customer | undefined): Draft {
  return {
    name: customer?.name ?? '',
    email: customer?.email ?? '',
    phone: customer?.phone ?? '',
    reference: customer?.reference ?? '',
    metadata: rowsOf(customer?.metadata ?? null),
  };
}

/** The filled fields of a new customer, or the changed fields of an existing one, with null for a cleared field. */
export function bodyOf(draft: Draft, customer: Customer | undefined): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const name of texts) {
    const value = draft[name].trim();
    if (value !== (customer?.[name] ?? '')) body[name] = value === '' ? null : value;
  }
  const metadata = recordOf(draft.metadata) ?? {};
  if (JSON.stringify(metadata) !== JSON.stringify(customer?.metadata ?? {})) body.metadata = metadata;
  return body;
}
