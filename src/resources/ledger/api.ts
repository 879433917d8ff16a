import { type Static, Type } from 'typebox';
import { AnyAmount, exact } from '../../kernel/currency.ts';
import type { Presented } from '../../kernel/envelope.ts';
import { refuse } from '../../kernel/errors.ts';
import {
  type Awaitable,
  listHandler,
  type ReadAnswer,
  type ReadRequest,
  type Route,
  subresourceHandler,
} from '../../kernel/route.ts';
import { idQuery, list, resource, strict, trailQuery } from '../../kernel/schema.ts';
import type { Table, Versioned } from '../../kernel/table.ts';
import { accounts } from '../../ledger/accounts.ts';
import { type RecordKind, records } from '../history/table.ts';
import { paymentsTable } from '../payments/table.ts';
import { transfersTable } from '../transfers/table.ts';
import { findBalances, findRecordBalances } from './store.ts';
import { type BalanceRow, ledgerEntriesTable } from './table.ts';
import { LedgerEntrySchema, presentEntry } from './views.ts';

const recordFilters = {
  paymentId: idQuery('payment'),
  transferId: idQuery('transfer'),
} as const;

const BalancesQuery = strict(recordFilters);

const BalancesSchema = resource('balances', ['ok'], {
  accounts: Type.Array(
    Type.Object({
      account: Type.Enum(Object.keys(accounts)),
      currency: Type.String(),
      balance: AnyAmount,
    }),
  ),
  trialBalance: Type.Array(Type.Object({ currency: Type.String(), amount: AnyAmount }), {
    description: 'The sum of all accounts in a currency: always zero.',
  }),
});

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
    // Every account in every currency that was ever used, so that accounts with a zero balance are included.
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

/** The balances of the organization, or of the requested record. */
function readBalances({ reader, principal: { orgId }, query }: ReadRequest): Awaitable<ReadAnswer> {
  const { paymentId, transferId } = query as Static<typeof BalancesQuery>;
  if (paymentId !== undefined && transferId !== undefined) {
    return refuse('invalid_request', {
      message: 'Send either paymentId or transferId, not both.',
      param: 'transferId',
    });
  }
  const balancesOf = <Row extends Versioned>(
    kind: RecordKind,
    table: Table<Row>,
    recordId: string,
  ): PromiseLike<ReadAnswer> =>
    reader
      .byKey(table, orgId, recordId)
      .then<ReadAnswer>((record) =>
        record
          ? findRecordBalances(reader, orgId, kind, recordId).then(presentBalances)
          : refuse('resource_not_found'),
      );
  if (paymentId !== undefined) return balancesOf('payment', paymentsTable, paymentId);
  if (transferId !== undefined) return balancesOf('transfer', transfersTable, transferId);
  return findBalances(reader, orgId).then(presentBalances);
}

const readEntries = listHandler(
  'ledger_entry',
  ledgerEntriesTable,
  ['paymentId', 'transferId', 'reason'],
  presentEntry,
);

const meta = {
  method: 'GET',
  scope: 'payments:read',
  tag: 'Ledger',
  response: list(LedgerEntrySchema),
  responseName: 'LedgerEntryList',
} as const;

function entriesRoute<Row extends Versioned>(kind: RecordKind, table: Table<Row>, owner: string): Route {
  const { idName, path, scope, title } = records[kind];
  return {
    ...meta,
    scope,
    operationId: `list${title}LedgerEntries`,
    path: `${path}/{id}/ledger_entries`,
    summary: `List ledger entries of ${owner}, newest first`,
    query: trailQuery(),
    read: subresourceHandler(kind, table, ({ reader, principal, query }, { id: recordId }) =>
      readEntries({ reader, principal, query: { ...(query as object), [idName]: recordId } }),
    ),
  };
}

export const ledgerRoutes: readonly Route[] = [
  {
    ...meta,
    operationId: 'getBalances',
    path: 'developer_api_balances',
    summary: 'Retrieve account balances and the trial balance of the organization, a payment or a transfer',
    query: BalancesQuery,
    response: BalancesSchema,
    responseName: 'Balances',
    namesRecord: true,
    read: readBalances,
  },
  {
    ...meta,
    operationId: 'listLedgerEntries',
    path: 'developer_api_ledger_entries',
    summary: 'List ledger entries of the organization, newest first',
    query: trailQuery({
      ...recordFilters,
      reason: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 40,
          description: 'Only entries with this reason, such as `capture`.',
        }),
      ),
    }),
    read: readEntries,
  },
  entriesRoute('payment', paymentsTable, 'a payment, its refunds and disputes'),
  entriesRoute('transfer', transfersTable, 'a transfer'),
];
