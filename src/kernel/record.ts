/**
 * The two kinds of record that have a history, ledger entries and a provider of their own. What is read of them is read
 * in the same way, below the path of each.
 */
export const records = {
  payment: {
    kind: 'payment',
    idName: 'paymentId',
    path: 'developer_api_payments',
    scope: 'payments:read',
    tag: 'Payments',
    title: 'Payment',
  },
  transfer: {
    kind: 'transfer',
    idName: 'transferId',
    path: 'developer_api_transfers',
    scope: 'transfers:read',
    tag: 'Transfers',
    title: 'Transfer',
  },
} as const;

export type RecordKind = keyof typeof records;
