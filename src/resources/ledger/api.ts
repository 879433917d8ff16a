import { type Static, Type } from 'typebox';
import type { Presented } from '../../kernel/envelope.ts';
import { refuse } from '../../kernel/errors.ts';
import { LedgerEntrySchema, presentEntry } from '../../kernel/ledger-entry.ts';
import { listing, type Route, readingOf } from '../../kernel/route.ts';
import { id, list, resource, strict, trailQuery } from '../../kernel/schema.ts';
import { type BalanceRow, ledgerEntriesTable } from '../../kernel/trail.ts';
import { accounts } from '../../ledger/accounts.ts';
import { paymentsTable } from '../payments/store.ts';
import { findBalances, findPaymentBalances } from './store.ts';

const AmountOfAny = Type.Union([Type.Integer(), Type.String({ pattern: '^-?\\d+$' })], {
  description:
    'Minor units; debits positive. A sum beyond 2^53 is written as text, because JSON numbers end there.',
});

const BalancesQuery = strict({ paymentId: Type.Optional(id('payment')) });

const BalancesSchema = resource('balances', ['ok'], {
  accounts: Type.Array(
    Type.Object({
      account: Type.Enum(Object.keys(accounts)),
      currency: Type.String(),
      balance: AmountOfAny,
    }),
  ),
  trialBalance: Type.Array(Type.Object({ currency: Type.String(), amount: AmountOfAny }), {
    description: 'The sum of all accounts in a currency: always zero.',
  }),
});

function exact(amount: bigint): number | string {
  const number = Number(amount);
  return Number.isSafeInteger(number) ? number : amount.toString();
}

function presentBalances(rows: readonly BalanceRow[]): Presented {
  const currencies = [...new Set(rows.map(({ currency }) => currency))];
  const balanceOf = (account: string, currency: string) =>
    rows.find((row) => row.account === account && row.currency === currency)?.balance ?? 0n;
  const total = (currency: string) =>
    rows.filter((row) => row.currency === currency).reduce((sum, { balance }) => sum + balance, 0n);
  return {
    object: 'balances',
    sandbox: true,
    status: 'ok',
    // Every account of every currency that was ever used, so that none is missing because it is at zero.
    accounts: currencies.flatMap((currency) =>
      Object.keys(accounts).map((account) => ({
        account,
        currency,
        balance: exact(balanceOf(account, currency)),
      })),
    ),
    trialBalance: currencies.map((currency) => ({ currency, amount: exact(total(currency)) })),
  };
}

const readEntries = listing('ledger_entry', ledgerEntriesTable, ['paymentId', 'reason'], presentEntry);

const words = {
  method: 'GET',
  scope: 'payments:read',
  tag: 'Ledger',
  response: list(LedgerEntrySchema),
  responseName: 'LedgerEntryList',
} as const;

export const ledgerRoutes: readonly Route[] = [
  {
    ...words,
    operationId: 'getBalances',
    path: 'developer_api_balances',
    summary: 'Balances of all accounts and the trial balance, of the organization or of one payment',
    query: BalancesQuery,
    response: BalancesSchema,
    responseName: 'Balances',
    read: ({ reader, principal: { orgId }, query }) => {
      const { paymentId } = query as Static<typeof BalancesQuery>;
      if (paymentId === undefined) return findBalances(reader, orgId).then(presentBalances);
      return reader
        .byKey(paymentsTable, orgId, paymentId)
        .then((payment) =>
          payment
            ? findPaymentBalances(reader, orgId, paymentId).then(presentBalances)
            : refuse('resource_not_found'),
        );
    },
  },
  {
    ...words,
    operationId: 'listLedgerEntries',
    path: 'developer_api_ledger_entries',
    summary: 'List ledger entries of the organization, newest first',
    query: trailQuery({
      paymentId: Type.Optional(id('payment')),
      reason: Type.Optional(Type.String({ minLength: 1, maxLength: 40 })),
    }),
    read: readEntries,
  },
  {
    ...words,
    operationId: 'listPaymentLedgerEntries',
    path: 'developer_api_payments/{id}/ledger_entries',
    summary: 'List ledger entries of a payment, its refunds and disputes, newest first',
    query: trailQuery(),
    read: readingOf('payment', paymentsTable, ({ reader, principal, query }, paymentId) =>
      readEntries({ reader, principal, query: { ...(query as object), paymentId } }),
    ),
  },
];
