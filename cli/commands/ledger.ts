import type { Command } from 'commander';
import { declare, group } from '../declare.ts';
import { table } from '../layout.ts';
import { amountText } from '../money.ts';
import { noResults, type PageOptions, pageOptions, showPage, withoutUndefined } from '../paging.ts';
import { ledgerHead, ledgerRow } from './trail.ts';

interface SubjectOptions {
  readonly payment?: string;
  readonly transfer?: string;
}

interface EntriesOptions extends SubjectOptions, PageOptions {
  readonly reason?: string;
}

const subjectOptions = [
  ['--payment <id>', 'only of this payment'],
  ['--transfer <id>', 'only of this transfer'],
] as const;

export function addLedger(program: Command): void {
  const ledger = group(program, 'ledger', 'Read the double-entry ledger');
  declare<SubjectOptions>(ledger, 'balances', {
    summary: 'Show the balance of each account, and the trial balance',
    options: subjectOptions,
    examples: [['ledger balances'], ['ledger balances --payment pay_...']],
    run: async (session, { payment, transfer }) => {
      const query = withoutUndefined({ paymentId: payment, transferId: transfer });
      const balances = await (await session.sandbank()).ledger.balances(query);
      session.out.show(balances, () => {
        const rows = [
          ...balances.accounts.map(({ account, currency, balance }) => [
            account,
            amountText(balance, currency),
          ]),
          ...balances.trialBalance.map(({ currency, amount }) => [
            'trial balance',
            amountText(amount, currency),
          ]),
        ];
        return rows.length === 0 ? noResults : table(['ACCOUNT', 'BALANCE'], rows);
      });
      return undefined;
    },
  });
  declare<EntriesOptions>(ledger, 'entries', {
    summary: 'List ledger entries, newest first',
    options: [
      ...subjectOptions,
      ['--reason <reason>', 'only with this reason, such as capture'],
      ...pageOptions,
    ],
    examples: [['ledger entries --reason refund'], ['ledger entries --transfer trf_... --json']],
    run: async (session, { payment, transfer, reason, limit, cursor }) => {
      const query = withoutUndefined({ paymentId: payment, transferId: transfer, reason, limit, cursor });
      const pages = (await session.sandbank()).ledger.entries(query);
      await showPage(session.out, pages, ledgerHead, ledgerRow);
      return undefined;
    },
  });
}
