import { accepted, type CommandKind, type PreparedCommand } from '../../kernel/command.ts';
import type { Presented } from '../../kernel/envelope.ts';
import { refuse } from '../../kernel/errors.ts';
import type { Id } from '../../kernel/ids.ts';
import { minuteMs } from '../../kernel/time.ts';
import { findFor } from './machine.ts';
import type { WebhookRow } from './table.ts';

export interface BeginExamination {
  readonly id: Id<'webhook'>;
  /** Another request of this process examines the same endpoint. */
  readonly isRunning: boolean;
  /** The process has reached its limit of concurrent examinations, for the organization or in total. */
  readonly isBusy: boolean;
}

/** Longer than an examination may take. */
const deadAfterMs = minuteMs;
const retryAfterSeconds = 5;

/**
 * The first command of an examination: adds an audit entry and returns the current endpoint. It changes no row and emits no
 * event: examination requests are not real events and do not appear in the delivery log.
 */
export const beginExamination: PreparedCommand<BeginExamination, { readonly webhook: WebhookRow }> = {
  name: 'webhooks.examine',
  success: 'ok',
  needsPrepare: true,
  retakenAfterMs: deadAfterMs,
  reads: ({ id }) => [{ resource: 'webhook', id, lock: 'share' }],
  decide: ({ id, isRunning, isBusy }, context, rows) => {
    const found = findFor('test', id, context, rows);
    if (!found.ok) return found;
    const { row: webhook } = found;
    if (isRunning) return refuse('examination_running', { retryAfterSeconds });
    if (isBusy)
      return refuse('examination_running', {
        message: 'Too many webhook receivers are being examined at the moment.',
        retryAfterSeconds,
      });
    return {
      ...accepted([], 'webhook', webhook),
      isInterim: true,
      result: { webhook },
    };
  },
};

export interface ConcludeExamination {
  readonly webhookId: Id<'webhook'>;
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
