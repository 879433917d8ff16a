import { type RequestContext, reachesApplication } from '../../kernel/command.ts';
import { type Id, isId } from '../../kernel/ids.ts';
import { type Reader, type Statement, selectList } from '../../kernel/table.ts';
import { isNotDeleted } from './delivery-table.ts';
import { type WebhookHealth, type WebhookRow, webhookHealthTable, webhooksTable } from './table.ts';

type Rows = Pick<Reader, 'rows'>;

const ofApplication: Statement = {
  name: 'webhooks_of_application',
  text: `select ${selectList(webhooksTable, 'w')} from webhooks w
    where w.org_id = $1 and w.app_id = $2 and ${isNotDeleted} order by w.org_id, w.app_id, right(w.id, 6)`,
};

/** All endpoints of an application that are not deleted. */
export function findWebhooks(
  reader: Rows,
  orgId: Id<'organization'>,
  appId: Id<'application'>,
): PromiseLike<readonly WebhookRow[]> {
  return reader.rows<WebhookRow>(ofApplication, [orgId, appId]);
}

/** A deleted webhook is not found. For an API key, neither is one of another application. */
export async function findWebhookFor(
  reader: Pick<Reader, 'byKey'>,
  context: Pick<RequestContext, 'orgId' | 'appId' | 'actor'>,
  id: string,
): Promise<WebhookRow | undefined> {
  const row = isId('webhook', id) ? await reader.byKey(webhooksTable, context.orgId, id) : undefined;
  return row && row.status !== 'deleted' && reachesApplication(context, row.appId) ? row : undefined;
}

const anyWebhook: Statement = {
  name: 'any_webhook',
  text: `select ${selectList(webhooksTable, 'w')} from webhooks w where ${isNotDeleted} limit 1`,
};

/** Any webhook, to test whether its secret can be decrypted. */
export async function findAnyWebhook(reader: Rows): Promise<WebhookRow | undefined> {
  const [row] = await reader.rows<WebhookRow>(anyWebhook, []);
  return row;
}

const inboxesById: Statement = {
  name: 'webhooks_inboxes_by_id',
  text: `select ${selectList(webhooksTable, 'w')} from webhooks w 
    where w.id = $1 and w.inbox is not null and ${isNotDeleted} limit $2`,
};

/** A request to an inbox names only its id, so several organizations could have one; imported snapshots can cause that. */
const inboxesMax = 4;

export function findInboxes(reader: Rows, id: Id<'webhook'>): PromiseLike<readonly WebhookRow[]> {
  return reader.rows<WebhookRow>(inboxesById, [id, inboxesMax]);
}

const everyEndpoint: Statement = {
  name: 'webhooks_everywhere',
  text: `select w.org_id as "orgId", w.app_id as "appId", w.id from webhooks w
    where ${isNotDeleted} order by w.org_id, w.id`,
};

/** All endpoints of all organizations that are not deleted, for the single process of an embedded database. */
export function findEveryEndpoint(
  reader: Rows,
): PromiseLike<readonly Pick<WebhookRow, 'orgId' | 'appId' | 'id'>[]> {
  return reader.rows(everyEndpoint, []);
}

const healthOf: Statement = {
  name: 'webhook_health_of',
  text: `select ${selectList(webhookHealthTable, 'h')}, (select count(*)::integer from (select 1 from deliveries d
        where d.org_id = $1 and d.webhook_id = $2 and d.status = 'pending' limit $3) p) as pending
    from (select 1) one left join webhook_health h on h.org_id = $1 and h.webhook_id = $2`,
};

/** Counts pending deliveries up to the limit. */
export async function findHealth(
  reader: Rows,
  orgId: Id<'organization'>,
  webhookId: Id<'webhook'>,
  pendingMax: number,
): Promise<WebhookHealth & { readonly pending: number }> {
  const [found] = await reader.rows<WebhookHealth & { readonly pending: number }>(healthOf, [
    orgId,
    webhookId,
    pendingMax,
  ]);
  if (!found) throw new Error('webhook_health_of returned no row');
  return found;
}
