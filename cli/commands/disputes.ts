import type { Command } from 'commander';
import type { Dispute, DisputeAdvance, ListDisputesQuery } from '../../sdk/client.ts';
import { declare, group } from '../declare.ts';
import { fieldValues } from '../generated/values.ts';
import { actionsText, fields } from '../layout.ts';
import { amountText } from '../money.ts';
import { type SearchOptions, searchOptions, showPage, withoutUndefined } from '../paging.ts';
import { wrongUsage } from '../problem.ts';
import { actionOrState, choice, pairs } from '../reading.ts';

interface AdvanceOptions {
  readonly to?: string;
  readonly evidence?: Readonly<Record<string, string>>;
}

interface ListOptions extends SearchOptions {
  readonly status?: string;
  readonly payment?: string;
}

export function addDisputes(program: Command): void {
  const disputes = group(program, 'disputes', 'Respond to disputes and decide them');
  declare<ListOptions>(disputes, 'list', {
    summary: 'List disputes, newest first',
    options: [
      ['--status <state>', 'only disputes in this state', choice(...fieldValues.listDisputes.status)],
      ['--payment <id>', 'only of this payment'],
      ...searchOptions,
    ],
    examples: [['disputes list --status needs_response']],
    run: async (session, { status, payment, search: q, limit, cursor }) => {
      const query = withoutUndefined({ status, paymentId: payment, q, limit, cursor }) as ListDisputesQuery;
      const pages = (await session.sandbank()).disputes.list(query);
      const head = ['DISPUTE', 'STATUS', 'STAGE', 'AMOUNT', 'PAYMENT', 'RESPOND BY'];
      await showPage(session.out, pages, head, (one) => [
        one.id,
        one.status,
        one.stage,
        amountText(one.amount, one.currency),
        one.paymentId,
        one.respondBy,
      ]);
      return undefined;
    },
  });
  declare(disputes, 'get <id>', {
    summary: 'Show a dispute',
    examples: [['disputes get dsp_...']],
    run: async (session, _options, id = '') => {
      const dispute = await (await session.sandbank()).disputes.retrieve(id);
      session.out.show(dispute, () => disputeText(dispute));
      return undefined;
    },
  });
  declare<AdvanceOptions>(disputes, 'advance <id> [action]', {
    summary: 'Advance a dispute by action or to a state',
    arguments: { action: choice(...fieldValues.advanceDispute.action) },
    details: `Actions: ${fieldValues.advanceDispute.action.join(', ')}. "sandbank payments advance pay_... dispute" opens a dispute.`,
    options: [
      ['--to <state>', 'take the shortest path to this state', choice(...fieldValues.advanceDispute.to)],
      ['--evidence <name=value>', 'evidence for submit_evidence; may be repeated', pairs],
    ],
    examples: [
      ['disputes advance dsp_... submit_evidence --evidence receipt="signed by the customer"'],
      ['disputes advance dsp_... win'],
      ['disputes advance dsp_... --to lost'],
    ],
    run: async (session, { to, evidence }, id = '', action) => {
      if (evidence !== undefined && action !== 'submit_evidence')
        throw wrongUsage('--evidence goes with the action submit_evidence.');
      const body = withoutUndefined({ ...actionOrState(action, to), evidence }) as DisputeAdvance;
      const dispute = await (await session.sandbank()).disputes.advance(id, body);
      session.out.show(dispute, () => disputeText(dispute));
      return undefined;
    },
  });
}

function disputeText(dispute: Dispute): string {
  const { id, status, stage, amount, currency, paymentId, reason, respondBy, evidence, allowedActions } =
    dispute;
  return fields([
    ['dispute', id],
    ['status', status],
    ['stage', stage],
    ['amount', amountText(amount, currency)],
    ['payment', paymentId],
    ['reason', reason],
    ['respond by', status === 'needs_response' ? respondBy : undefined],
    ['evidence', Object.keys(evidence ?? {}).join(', ')],
    ['actions', actionsText(allowedActions)],
  ]);
}
