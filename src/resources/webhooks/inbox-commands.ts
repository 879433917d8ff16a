import { accepted, change, type PreparedCommand } from '../../kernel/command.ts';
import { refuse } from '../../kernel/errors.ts';
import type { Id } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import {
  findWithinReach,
  moveWebhook,
  type NewSecret,
  newWebhook,
  type WebhookFields,
  webhookMachine,
  withSecret,
} from './machine.ts';
import { defaultInbox, type InboxBehavior, type WebhookRow } from './table.ts';

export interface OpenInbox extends NewSecret {
  /** The inbox that the application has; null if it has none. */
  readonly existingId: Id<'webhook'> | null;
  /** What the client requested. It also changes an inbox that exists. */
  readonly requested: Partial<Pick<WebhookFields, 'eventTypes' | 'retryProfile'>> & {
    readonly inbox?: InboxBehavior;
  };
  /** The URL of the inbox at this server. It changes with the public URL of the server. */
  readonly url: string;
  readonly defaults: Omit<WebhookFields, 'url'>;
  /** The number of endpoints that the application already has. */
  readonly others: number;
}

/** Returns the inbox of the application, and creates it if there is none. Only a creation returns a secret. */
export const openInbox: PreparedCommand<OpenInbox> = {
  name: 'webhooks.open_inbox',
  success: 'ok',
  needsPrepare: true,
  answersWithSecret: true,
  reads: ({ existingId: id }) => (id === null ? [] : [{ resource: 'webhook', id, lock: 'update' }]),
  decide: ({ existingId, requested, url, defaults, others, ...newSecret }, context, rows) => {
    const before = existingId === null ? undefined : findWithinReach(existingId, context, rows);
    // It may have been deleted in the meantime.
    if (before?.inbox && before.status !== 'deleted') {
      const after: WebhookRow = { ...before, ...requested, url };
      if (isSame(before, after)) return accepted([], 'webhook', before);
      return moveWebhook('update', before, after, context);
    }
    if (others >= limits.webhooksPerApplicationMax) return refuse('webhook_limit_reached');
    // From here it must succeed.
    const row = newWebhook({ ...defaults, inbox: defaultInbox, ...requested, url }, newSecret, context);
    return withSecret(accepted([change(webhookMachine, 'create', null, row)], 'webhook', row), newSecret);
  },
};

function isSame(before: WebhookRow, after: WebhookRow): boolean {
  return (
    before.url === after.url &&
    before.eventTypes.join() === after.eventTypes.join() &&
    before.retryProfile === after.retryProfile &&
    isSameInbox(before.inbox, after.inbox)
  );
}

function isSameInbox(one: InboxBehavior | null, other: InboxBehavior | null): boolean {
  if (one?.type !== 'respond' || other?.type !== 'respond') return one?.type === other?.type;
  return one.responseStatus === other.responseStatus && one.delayMs === other.delayMs;
}
