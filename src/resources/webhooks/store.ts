import type { Reader } from '../../kernel/route.ts';
import { defineTable, type Instant, type Statement, selectList } from '../../kernel/table.ts';
import type { WebhookRow } from './machine.ts';

export const webhooksTable = defineTable<WebhookRow>('webhooks', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  appId: 'text',
  status: 'text',
  version: 'integer',
  url: 'text',
  description: 'text',
  eventTypes: 'jsonb',
  retryProfile: 'text',
  concurrencyMax: 'integer',
  secrets: 'jsonb',
  disabledReason: 'text',
  since: 'timestamptz',
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
});

type Rows = Pick<Reader, 'rows'>;

const ofApplication: Statement = {
  name: 'webhooks_of_application',
  text: `select ${selectList(webhooksTable, 'w')} from webhooks w where w.org_id = $1 and w.app_id = $2
    order by w.org_id, w.app_id, right(w.id, 6)`,
};

export function findWebhooks(reader: Rows, orgId: string, appId: string): PromiseLike<readonly WebhookRow[]> {
  return reader.rows<WebhookRow>(ofApplication, [orgId, appId]);
}

const anyWebhook: Statement = {
  name: 'any_webhook',
  text: `select ${selectList(webhooksTable, 'w')} from webhooks w limit 1`,
};

/** One whose secret can be tried, whichever it is. */
export async function findAnyWebhook(reader: Rows): Promise<WebhookRow | undefined> {
  const [row] = await reader.rows<WebhookRow>(anyWebhook, []);
  return row;
}

const everyEndpoint: Statement = {
  name: 'webhooks_everywhere',
  text: `select w.org_id as "orgId", w.app_id as "appId", w.id from webhooks w order by w.org_id, w.id`,
};

/** All endpoints there are, for the one process of an embedded database. */
export function findEveryEndpoint(
  reader: Rows,
): PromiseLike<readonly Pick<WebhookRow, 'orgId' | 'appId' | 'id'>[]> {
  return reader.rows(everyEndpoint, []);
}

/** How an endpoint has been doing, by the clock of its application. */
export interface WebhookHealth {
  readonly orgId: string;
  readonly webhookId: string;
  /** The process that sends to it, and the wall time until which it is believed to live. */
  readonly sender: string | null;
  readonly senderUntil: Instant | null;
  readonly failingSince: Instant | null;
  readonly lastSuccessAt: Instant | null;
  readonly lastFailureAt: Instant | null;
}

export const webhookHealthTable = defineTable<WebhookHealth>('webhook_health', ['org_id', 'webhook_id'], {
  orgId: 'text',
  webhookId: 'text',
  sender: 'text',
  senderUntil: 'timestamptz',
  failingSince: 'timestamptz',
  lastSuccessAt: 'timestamptz',
  lastFailureAt: 'timestamptz',
});

const healthOf: Statement = {
  name: 'webhook_health_of',
  text: `select ${selectList(webhookHealthTable, 'h')}, (select count(*)::integer from (select 1 from deliveries d
        where d.org_id = $1 and d.webhook_id = $2 and d.status = 'pending' limit $3) p) as pending
    from (select 1) one left join webhook_health h on h.org_id = $1 and h.webhook_id = $2`,
};

/** What waits is counted as far as the limit. */
export async function findHealth(
  reader: Rows,
  orgId: string,
  webhookId: string,
  pendingMax: number,
): Promise<WebhookHealth & { readonly pending: number }> {
  const [found] = await reader.rows<WebhookHealth & { readonly pending: number }>(healthOf, [
    orgId,
    webhookId,
    pendingMax,
  ]);
  if (!found) throw new Error('a query for one row gives one');
  return found;
}
