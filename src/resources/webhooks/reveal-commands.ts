import { accepted, type CommandKind } from '../../kernel/command.ts';
import { refuse } from '../../kernel/errors.ts';
import type { Id } from '../../kernel/ids.ts';
import { findWithinReach } from './machine.ts';
import type { WebhookRow } from './table.ts';

/**
 * Records in the audit trail that a person saw the secret of an endpoint, and returns the endpoint. It changes nothing. The secret is
 * not part of the stored response: each request has to confirm the password again.
 */
export const revealSecret: CommandKind<{ readonly id: Id<'webhook'> }, { readonly webhook: WebhookRow }> = {
  name: 'webhooks.reveal_secret',
  success: 'ok',
  reads: ({ id }) => [{ resource: 'webhook', id, lock: 'share' }],
  decide: ({ id }, context, rows) => {
    const webhook = findWithinReach(id, context, rows);
    if (!webhook || webhook.status === 'deleted') return refuse('resource_not_found');
    return { ...accepted([], 'webhook', webhook), result: { webhook } };
  },
};
