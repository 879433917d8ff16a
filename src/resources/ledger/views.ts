import { Type } from 'typebox';
import type { Presented } from '../../kernel/envelope.ts';
import { instantToText } from '../../kernel/list.ts';
import { id, resource, Time } from '../../kernel/schema.ts';
import type { LedgerEntryRow } from './table.ts';

/** A ledger entry in its own endpoints and in the response to the move that posted it. */
export const LedgerEntrySchema = resource('ledger_entry', ['posted'], {
  id: id('ledger_entry'),
  reason: Type.String({ description: 'The reason for the entry, such as `capture`.' }),
  paymentId: Type.Optional(id('payment')),
  transferId: Type.Optional(id('transfer')),
  postings: Type.Array(
    Type.Object({
      account: Type.String(),
      currency: Type.String(),
      amount: Type.Integer({ description: 'Minor units; debits are positive, credits negative.' }),
    }),
    { description: 'They sum to zero in each currency.' },
  ),
  createdAt: Time,
});

/** For the response schemas of moves. */
export const ExpandedEntries = Type.Optional(
  Type.Array(LedgerEntrySchema, {
    description: 'With `?expand=ledgerEntries`: the ledger entries that the request posted.',
  }),
);

export function presentEntry(row: LedgerEntryRow): Presented {
  return {
    object: 'ledger_entry',
    sandbox: true,
    status: 'posted',
    id: row.id,
    reason: row.reason,
    ...(row.paymentId === null ? { transferId: row.transferId } : { paymentId: row.paymentId }),
    // The database does not preserve the order of JSON fields.
    postings: row.postings.map(({ account, currency, amount }) => ({ account, currency, amount })),
    createdAt: instantToText(row.createdAt),
  };
}
