import { accepted, type CommandKind, change } from '../../kernel/command.ts';
import type { Id } from '../../kernel/ids.ts';
import {
  moveWebhook,
  type NewSecret,
  newWebhook,
  storedSecret,
  type WebhookFields,
  webhookMachine,
} from './machine.ts';
import type { WebhookRow } from './table.ts';

export interface DeclareWebhook extends NewSecret {
  readonly id: Id<'webhook'>;
  readonly appId: Id<'application'>;
  readonly fields: WebhookFields;
}

/**
 * Creates or updates an endpoint from the seed file. A disabled endpoint stays disabled, and a deleted
 * one deleted; an equal secret is not replaced.
 */
export const declareWebhook: CommandKind<DeclareWebhook & { readonly isSameSecret: boolean }> = {
  name: 'webhooks.declare',
  success: 'ok',
  reads: ({ id }) => [{ resource: 'webhook', id, lock: 'update' }],
  decide: ({ id, appId, fields, isSameSecret, ...newSecret }, context, rows) => {
    const before = rows.get<WebhookRow>('webhook', id);
    if (!before) {
      const row = { ...newWebhook(fields, newSecret, { ...context, appId }), id };
      return accepted([change(webhookMachine, 'create', null, row)], 'webhook', row);
    }
    if (before.status === 'deleted') return accepted([], 'webhook', before);
    const secrets = isSameSecret ? before.secrets : [storedSecret(newSecret)];
    if (isSameSecret && isSame(before, fields)) return accepted([], 'webhook', before);
    return moveWebhook('update', before, { ...before, ...fields, secrets }, context);
  },
};

function isSame(row: WebhookRow, fields: WebhookFields): boolean {
  return (
    row.url === fields.url &&
    row.description === fields.description &&
    row.eventTypes.join() === fields.eventTypes.join() &&
    row.retryProfile === fields.retryProfile &&
    row.concurrencyMax === fields.concurrencyMax
  );
}
