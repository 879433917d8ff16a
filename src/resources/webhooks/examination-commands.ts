import { accepted, type CommandKind } from '../../kernel/command.ts';
import type { Presented } from '../../kernel/envelope.ts';
import { refuse } from '../../kernel/errors.ts';
import { findWithinReach } from './machine.ts';

export interface BeginExamination {
  readonly id: string;
  /** Another request of this process examines the same endpoint. */
  readonly isRunning: boolean;
  /** The process has reached its limit of concurrent examinations, for the organization or in total. */
  readonly isBusy: boolean;
}

/** Longer than an examination may take. */
const deadAfterMs = 60_000;
const retryAfterSeconds = 5;

/**
 * The first command of an examination: it says who examines what, and gives the endpoint as it is now. Nothing is changed,
 * and no event is made: what is sent is no news, and stays out of the log of deliveries.
 */
export const beginExamination: CommandKind<BeginExamination> = {
  name: 'webhooks.examine',
  success: 'ok',
  retakenAfterMs: deadAfterMs,
  reads: ({ id }) => [{ resource: 'webhook', id, lock: 'share' }],
  decide: ({ id, isRunning, isBusy }, context, rows) => {
    const webhook = findWithinReach(id, context, rows);
    if (!webhook) return refuse('resource_not_found');
    if (isRunning) return refuse('examination_running', { retryAfterSeconds });
    if (isBusy)
      return refuse('examination_running', {
        message: 'Too many webhook receivers are being examined at the moment.',
        retryAfterSeconds,
      });
    return {
      ...accepted([], 'webhook', webhook),
      isInterim: true,
      fields: { begun: { webhook } },
    };
  },
};

export interface ConcludeExamination {
  readonly webhookId: string;
  readonly shown: Presented;
}

export const concludeExamination: CommandKind<ConcludeExamination> = {
  name: 'webhooks.conclude_examination',
  success: 'ok',
  concludes: true,
  reads: () => [],
  decide: ({ webhookId, shown }, { orgId }) => ({
    ok: true,
    changes: [],
    answer: { resource: 'webhook', row: { orgId, id: webhookId }, shown },
  }),
};
