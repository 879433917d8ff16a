import { type Static, Type } from 'typebox';
import { AnyAmount, exact } from '../../kernel/currency.ts';
import type { Presented } from '../../kernel/envelope.ts';
import { reconciliations } from '../../kernel/ledger.ts';
import { instantToText } from '../../kernel/list.ts';
import { listHandler, type Route } from '../../kernel/route.ts';
import {
  CurrencyCode,
  component,
  Day,
  id,
  nullable,
  pageQuery,
  resource,
  strict,
  Time,
} from '../../kernel/schema.ts';
import { findTotals, type TotalRow } from './reconciliation-store.ts';
import { type SettlementLineRow, settlementLinesTable } from './table.ts';

const Query = strict({
  ...pageQuery,
  date: Type.Optional(Day),
  result: Type.Optional(Type.Enum([...reconciliations], { description: 'Only lines with this result.' })),
  currency: Type.Optional(CurrencyCode),
});

const Side = Type.Object(
  { gross: Type.Integer(), fee: Type.Integer(), net: Type.Integer() },
  component('ReconciliationAmounts'),
);
const SumSide = Type.Object({ gross: AnyAmount, fee: AnyAmount, net: AnyAmount });

const LineSchema = resource('reconciliation_line', reconciliations, {
  id: id('settlement_line'),
  date: Day,
  result: Type.Enum([...reconciliations]),
  provider: Type.String(),
  providerTransactionId: Type.String(),
  paymentId: nullable(id('payment')),
  transferId: nullable(id('transfer')),
  currency: Type.String(),
  ledger: nullable(Side),
  reported: nullable(Side),
  difference: Type.Integer({ description: 'The reported net amount minus the net amount in the ledger.' }),
  createdAt: Time,
});

const ReconciliationSchema = resource('reconciliation', ['ok'], {
  data: Type.Array(LineSchema),
  hasMore: Type.Boolean(),
  nextCursor: nullable(Type.String()),
  counts: Type.Object(Object.fromEntries(reconciliations.map((result) => [result, Type.Integer()])), {
    description: 'The number of lines by result, over all pages.',
  }),
  totals: Type.Array(
    Type.Object({
      currency: Type.String(),
      lines: Type.Integer(),
      ledger: SumSide,
      reported: SumSide,
      difference: AnyAmount,
    }),
    { description: 'Sums over all pages, by currency.' },
  ),
});

function side(gross: bigint | null, fee: bigint | null) {
  if (gross === null || fee === null) return null;
  return { gross: Number(gross), fee: Number(fee), net: Number(gross - fee) };
}

function presentLine(row: SettlementLineRow): Presented {
  const ledger = side(row.ledgerGross, row.ledgerFee);
  const reported = side(row.gross, row.fee);
  return {
    object: 'reconciliation_line',
    sandbox: true,
    status: row.result,
    id: row.id,
    date: row.settledOn,
    result: row.result,
    provider: row.provider,
    providerTransactionId: row.providerTransactionId,
    paymentId: row.paymentId,
    transferId: row.transferId,
    currency: row.currency,
    ledger,
    reported,
    difference: (reported?.net ?? 0) - (ledger?.net ?? 0),
    createdAt: instantToText(row.createdAt),
  };
}

function presentCounts(rows: readonly TotalRow[]): Record<string, number> {
  const count = (result: string) =>
    rows.filter((row) => row.result === result).reduce((sum, { lines }) => sum + lines, 0);
  return Object.fromEntries(reconciliations.map((result) => [result, count(result)]));
}

function presentTotals(rows: readonly TotalRow[]) {
  return [...new Set(rows.map(({ currency }) => currency))].map((currency) => {
    const own = rows.filter((row) => row.currency === currency);
    const sum = (of: (row: TotalRow) => bigint) => own.reduce((total, row) => total + of(row), 0n);
    const sides = (gross: bigint, fee: bigint) => ({
      gross: exact(gross),
      fee: exact(fee),
      net: exact(gross - fee),
    });
    const net = sum(({ gross, fee }) => gross - fee);
    const ledgerNet = sum(({ ledgerGross, ledgerFee }) => ledgerGross - ledgerFee);
    return {
      currency,
      lines: own.reduce((total, { lines }) => total + lines, 0),
      ledger: sides(
        sum(({ ledgerGross }) => ledgerGross),
        sum(({ ledgerFee }) => ledgerFee),
      ),
      reported: sides(
        sum(({ gross }) => gross),
        sum(({ fee }) => fee),
      ),
      difference: exact(net - ledgerNet),
    };
  });
}

const readLines = listHandler(
  'settlement_line',
  settlementLinesTable,
  ['settledOn', 'result', 'currency'],
  presentLine,
);

export const reconciliationRoutes: readonly Route[] = [
  {
    operationId: 'getReconciliation',
    method: 'GET',
    path: 'developer_api_reconciliation',
    scope: 'payments:read',
    tag: 'Settlement',
    summary: "Compare the providers' reports with the ledger: lines, newest first, and totals",
    query: Query,
    response: ReconciliationSchema,
    responseName: 'Reconciliation',
    read: async ({ reader, principal, query }) => {
      const { date: settledOn, result, currency: code, ...page } = query as Static<typeof Query>;
      const currency = code?.toUpperCase();
      const filter = {
        ...(settledOn === undefined ? {} : { settledOn }),
        ...(result === undefined ? {} : { result }),
        ...(currency === undefined ? {} : { currency }),
      };
      const lines = await readLines({ reader, principal, query: { ...page, ...filter } });
      if ('ok' in lines) return lines;
      const totals = await findTotals(reader, principal.orgId, { settledOn, result, currency });
      return {
        object: 'reconciliation',
        sandbox: true,
        status: 'ok',
        ...lines,
        counts: presentCounts(totals),
        totals: presentTotals(totals),
      };
    },
  },
];
