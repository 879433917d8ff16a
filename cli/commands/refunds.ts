import type { Command } from 'commander';
import type { ListRefundsQuery, Refund, RefundAdvance } from '../../sdk/client.ts';
import { declare, group } from '../declare.ts';
import { fieldValues } from '../generated/values.ts';
import { actionsText, fields } from '../layout.ts';
import { type AmountOptions, amountText } from '../money.ts';
import { type SearchOptions, searchOptions, showPage, withoutUndefined } from '../paging.ts';
import { amountOptions, paymentAmount } from '../payment-amount.ts';
import { actionOrState, choice, pairs } from '../reading.ts';

interface CreateOptions extends AmountOptions {
  readonly reason?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

interface ListOptions extends SearchOptions {
  readonly status?: string;
  readonly payment?: string;
}

export function addRefunds(program: Command): void {
  const refunds = group(program, 'refunds', 'Create refunds and advance them through their lifecycle');
  declareRefund(refunds, 'create <payment>', 'refunds create');
  declare<ListOptions>(refunds, 'list', {
    summary: 'List refunds, newest first',
    options: [
      ['--status <state>', 'only refunds in this state', choice(...fieldValues.listRefunds.status)],
      ['--payment <id>', 'only of this payment'],
      ...searchOptions,
    ],
    examples: [['refunds list --payment pay_...'], ['refunds list --status pending --json']],
    run: async (session, { status, payment, search: q, limit, cursor }) => {
      const query = withoutUndefined({ status, paymentId: payment, q, limit, cursor }) as ListRefundsQuery;
      const pages = (await session.sandbank()).refunds.list(query);
      await showPage(session.out, pages, ['REFUND', 'STATUS', 'AMOUNT', 'PAYMENT', 'CREATED'], (one) => [
        one.id,
        one.status,
        amountText(one.amount, one.currency),
        one.paymentId,
        one.createdAt,
      ]);
      return undefined;
    },
  });
  declare(refunds, 'get <id>', {
    summary: 'Show a refund',
    examples: [['refunds get rfd_...']],
    run: async (session, _options, id = '') => {
      const refund = await (await session.sandbank()).refunds.retrieve(id);
      session.out.show(refund, () => refundText(refund));
      return undefined;
    },
  });
  declare<{ readonly to?: string }>(refunds, 'advance <id> [action]', {
    summary: 'Complete a pending refund: succeed, fail or cancel',
    arguments: { action: choice(...fieldValues.advanceRefund.action) },
    details: "Without an action, the payment's scenario decides.",
    options: [['--to <state>', 'advance to this state', choice(...fieldValues.advanceRefund.to)]],
    examples: [['refunds advance rfd_... succeed'], ['refunds advance rfd_... --to failed']],
    run: async (session, { to }, id = '', action) => {
      const body = actionOrState(action, to) as RefundAdvance;
      const refund = await (await session.sandbank()).refunds.advance(id, body);
      session.out.show(refund, () => refundText(refund));
      return undefined;
    },
  });
}

/** One command under two names: `refunds create` and `payments refund`. */
export function declareRefund(parent: Command, usage: string, path: string): void {
  declare<CreateOptions>(parent, usage, {
    summary: 'Refund a payment, in full or in part',
    options: [
      ...amountOptions,
      ['--reason <text>', 'reason for the refund'],
      ['--metadata <name=value>', 'your own data; may be repeated', pairs],
    ],
    examples: [
      [`${path} pay_...`, 'everything that is left'],
      [`${path} pay_... --amount 2.50 --reason "damaged"`],
    ],
    run: async (session, options, id = '') => {
      const { reason, metadata } = options;
      const sandbank = await session.sandbank();
      const amount = await paymentAmount(sandbank, id, options);
      const refund = await sandbank.payments.refund(id, withoutUndefined({ amount, reason, metadata }));
      session.out.show(refund, () => refundText(refund));
      return undefined;
    },
  });
}

function refundText({ id, status, amount, currency, paymentId, reason, allowedActions }: Refund): string {
  return fields([
    ['refund', id],
    ['status', status],
    ['amount', amountText(amount, currency)],
    ['payment', paymentId],
    ['reason', reason],
    ['actions', actionsText(allowedActions)],
  ]);
}
