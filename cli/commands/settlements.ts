import type { Command } from 'commander';
import type { GetReconciliationQuery, Reconciliation, Settlement } from '../../sdk/client.ts';
import { declare, group } from '../declare.ts';
import { fieldValues } from '../generated/values.ts';
import { fields, table } from '../layout.ts';
import { amountText } from '../money.ts';
import { type PageOptions, pageOptions, showPage, withoutUndefined } from '../paging.ts';
import { choice, currency } from '../reading.ts';

interface ReconciliationOptions extends PageOptions {
  readonly date?: string;
  readonly result?: string;
  readonly currency?: string;
}

const results = fieldValues.getReconciliation.result;

export function addSettlements(program: Command): void {
  const settlements = group(program, 'settlements', "Read the providers' settlement reports");
  declare<PageOptions>(settlements, 'list', {
    summary: 'List the days with a settlement report, newest first, with totals',
    options: [...pageOptions],
    examples: [['settlements list']],
    run: async (session, { limit, cursor }) => {
      const pages = (await session.sandbank()).settlements.list(withoutUndefined({ limit, cursor }));
      await showPage(session.out, pages, ['DATE', 'STATUS', 'LINES', 'NET'], (one) => [
        one.date,
        one.status,
        String(one.lines),
        netText(one),
      ]);
      return undefined;
    },
  });
  declare<PageOptions & { readonly csv?: true }>(settlements, 'get <date>', {
    summary: 'Show the settlement report of a day, such as 2031-03-04',
    options: [['--csv', 'print the CSV file that the provider sends'], ...pageOptions],
    examples: [['settlements get 2031-03-04'], ['settlements get 2031-03-04 --csv > report.csv']],
    run: async (session, { csv, limit, cursor }, date = '') => {
      const { settlements: api } = await session.sandbank();
      const query = withoutUndefined({ limit, cursor });
      if (csv) {
        session.out.line((await api.csv(date, query)).trimEnd());
        return undefined;
      }
      const head = ['SETTLED', 'PROVIDER', 'TRANSACTION', 'GROSS', 'FEE', 'NET'];
      await showPage(
        session.out,
        api.retrieve(date, query),
        head,
        ({ settledAt, provider, providerTransactionId, gross, fee, net, currency }) => [
          settledAt,
          provider,
          providerTransactionId,
          ...[gross, fee, net].map((amount) => amountText(amount, currency)),
        ],
        (report) =>
          fields([
            ['date', report.date],
            ['status', report.status],
            ['lines', report.lines],
            ['net', netText(report)],
          ]),
      );
      return undefined;
    },
  });
  declare<ReconciliationOptions>(program, 'reconciliation', {
    summary: 'Compare settlement reports with the ledger, line by line',
    options: [
      ['--date <date>', 'only of this day, such as 2031-03-04'],
      ['--result <result>', `only with this result: ${results.join(', ')}`, choice(...results)],
      ['--currency <code>', 'only in this currency', currency],
      ...pageOptions,
    ],
    examples: [['reconciliation'], ['reconciliation --result amount_mismatch --json']],
    run: async (session, { date, result, currency, limit, cursor }) => {
      const query = withoutUndefined({ date, result, currency, limit, cursor }) as GetReconciliationQuery;
      const pages = (await session.sandbank()).reconciliation.retrieve(query);
      const head = ['DATE', 'RESULT', 'RECORD', 'LEDGER', 'REPORTED', 'DIFFERENCE'];
      await showPage(
        session.out,
        pages,
        head,
        (one) => [
          one.date,
          one.result,
          one.paymentId ?? one.transferId ?? one.providerTransactionId,
          one.ledger === null ? '-' : amountText(one.ledger.net, one.currency),
          one.reported === null ? '-' : amountText(one.reported.net, one.currency),
          amountText(one.difference, one.currency),
        ],
        countsText,
      );
      return undefined;
    },
  });
}

function netText({ totals }: Pick<Settlement, 'totals'>): string {
  return totals.map(({ net, currency }) => amountText(net, currency)).join(', ');
}

function countsText({ counts, totals }: Reconciliation): string {
  const found = Object.entries(counts).filter(([, count]) => count > 0);
  const lines = table(
    ['RESULT', 'LINES'],
    found.map(([result, count]) => [result, String(count)]),
  );
  const sums = totals.map(
    ({ currency, difference }) => ['difference', amountText(difference, currency)] as const,
  );
  return sums.length === 0 ? lines : `${lines}\n\n${fields(sums)}`;
}
