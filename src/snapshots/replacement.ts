import { encodeArray } from '../db/array.ts';
import type { Connection } from '../db/database.ts';
import { clearMsMax, takeOrganization } from '../engine/clearing.ts';
import { tablesOf } from '../engine/organization-tables.ts';
import type { Id } from '../kernel/ids.ts';
import type { Instant, Statement } from '../kernel/table.ts';
import type { WebhookRow } from '../resources/webhooks/table.ts';

/** A clock of the organization is being advanced: the advance would continue on the restored records. */
export class ClockAdvancing extends Error {
  override readonly name = 'ClockAdvancing';
}

/** The organization was deleted after the request was admitted. */
export class OrganizationGone extends Error {
  override readonly name = 'OrganizationGone';
}

/** The organization whose content is replaced, and the request that replaces it. */
export interface Replaced {
  readonly orgId: Id<'organization'>;
  readonly requestId: Id<'request'>;
  readonly now: Instant;
}

/** What a snapshot without secrets cannot restore. */
type RetainedWebhook = Pick<WebhookRow, 'secrets' | 'headers'>;

/** What an import needs of the content that it replaces. */
export interface Retained {
  readonly webhooks: ReadonlyMap<string, RetainedWebhook>;
  /** They stay archived, because their keys stay too. */
  readonly archivedApplications: ReadonlySet<string>;
  readonly clocks: readonly { readonly id: string; readonly appId: string; readonly version: number }[];
}

/** Tables whose rows stay. A revoked API key stays revoked, although the snapshot may be older than its revocation. */
const retainedTables = ['organizations', 'api_keys'];
/** The resources whose history stays with their rows. */
const retainedResources = ['organization', 'api_key', 'member', 'invitation'];

const isRetainedTable = (table: string) => retainedTables.includes(table);

/** Whether a row of a snapshot is not restored, because the present state of its record stays. */
export function isRetained(table: string, fields: Readonly<Record<string, unknown>>): boolean {
  return (
    isRetainedTable(table) ||
    (table === 'state_history' && retainedResources.includes(String(fields.resource)))
  );
}

const begin: Statement = {
  name: 'organization_replace_begin',
  text: `select set_config('sandbank.reset_of', $1, true), set_config('statement_timeout', '${clearMsMax}', true)`,
};

const advancing: Statement = {
  name: 'organization_replace_advancing',
  text: 'select 1 as one from clocks where org_id = $1 and advance is not null limit 1',
};

/** A deleted webhook has no secrets, and gets a new one if it returns. */
const webhooksOf: Statement = {
  name: 'organization_replace_webhooks',
  text: "select w.id, w.secrets, w.headers from webhooks w where w.org_id = $1 and w.status <> 'deleted'",
};

/** The applications that the snapshot does not contain: they stay, with their clocks and webhooks. */
const newer = 'app_id <> all($3::text[])';
const cleared: Readonly<Record<string, string>> = {
  applications: ' and id = any($3::text[])',
  clocks: ' and app_id = any($3::text[])',
  webhooks: ' and app_id = any($3::text[])',
  state_history: ` and not (resource = any($2::text[])) and resource_id not in (
      select id from applications where org_id = $1 and id <> all($3::text[])
      union all select id from clocks where org_id = $1 and ${newer}
      union all select id from webhooks where org_id = $1 and ${newer})`,
};

const clear: Statement = {
  name: 'organization_replace_clear',
  text: `with ${tablesOf('configuration', 'record', 'trace')
    .filter((name) => !isRetainedTable(name))
    .map((name) => `d_${name} as (delete from ${name} where org_id = $1${cleared[name] ?? ''})`)
    .join(', ')} select 1 as done`,
  msMax: clearMsMax,
};

const isLive: Statement = {
  name: 'organization_replace_is_live',
  text: `select 1 as one from organizations o where o.org_id = $1
    and not exists (select from deleted_organizations d where d.org_id = $1)`,
};

const archived: Statement = {
  name: 'organization_replace_archived',
  text: "select a.id from applications a where a.org_id = $1 and a.status = 'archived'",
};

const clocksOf: Statement = {
  name: 'organization_replace_clocks',
  text: 'select c.id, c.app_id as "appId", c.version from clocks c where c.org_id = $1',
};

/** Locks an organization before its records and settings are replaced, and reads what is retained of them. */
export async function beginReplacement(connection: Connection, orgId: Id<'organization'>): Promise<Retained> {
  await takeOrganization(connection, orgId);
  const [found] = await connection.query(isLive, [orgId]);
  if (!found) throw new OrganizationGone(orgId);
  await connection.query(begin, [orgId]);
  const [busy] = await connection.query(advancing, [orgId]);
  if (busy) throw new ClockAdvancing(orgId);
  const webhooks = await connection.query<RetainedWebhook & { readonly id: string }>(webhooksOf, [orgId]);
  const applications = await connection.query<{ readonly id: string }>(archived, [orgId]);
  const clocks = await connection.query<Retained['clocks'][number]>(clocksOf, [orgId]);
  // Also those that the snapshot does not contain.
  await connection.query(announce, [orgId]);
  return {
    webhooks: new Map(webhooks.map(({ id, ...webhook }) => [id, webhook])),
    archivedApplications: new Set(applications.map(({ id }) => id)),
    clocks,
  };
}

/**
 * Deletes the records and settings of a locked organization. Its name, members, invitations, API keys and audit trail stay, and the
 * applications that are newer than the snapshot, because the audit trail refers to them.
 */
export async function clearForReplacement(
  connection: Connection,
  orgId: Id<'organization'>,
  appIds: readonly string[],
): Promise<void> {
  const values = [orgId, encodeArray('text', retainedResources), encodeArray('text', appIds)];
  await connection.query(clear, values);
}

/**
 * Nodes cache clocks by version, and write with the version that they know. So a restored clock continues the versions of the
 * present one: with an earlier version, which a later move would reach again, a node could decide by a clock that no longer exists.
 */
const continueClocks: Statement = {
  name: 'organization_replace_continue_clocks',
  text: `with before as (select * from unnest($2::text[], $3::text[]) as k(id, app_id)),
    moved as (
      update clocks c set version = greatest(c.version, $4) + 1, updated_at = $5
      where c.org_id = $1 and c.id in (select id from before) and c.app_id = any($6::text[])
      returning c.id, c.version, c.status, 'advance' as action),
    running as (
      insert into clocks (org_id, id, app_id, status, version, offset_ms, created_at, updated_at)
      select $1, b.id, b.app_id, 'running', $4 + 1, 0, $5, $5 from before b
      where b.app_id = any($6::text[]) and not exists (select from clocks c where c.org_id = $1 and c.id = b.id)
      returning id, version, status, 'reset' as action)
    insert into state_history (org_id, resource_id, version, resource, action, from_status, to_status, actor_kind, actor_id,
      request_id, at)
    select $1, c.id, c.version, 'clock', c.action, c.status, c.status, 'system', 'operator', $7, $5
    from (select * from moved union all select * from running) c`,
};

const archiveAgain: Statement = {
  name: 'organization_replace_archive',
  text: `with changed as (
      update applications a set status = 'archived', version = a.version + 1, updated_at = $3
      where a.org_id = $1 and a.id = any($2::text[]) and a.status = 'active' returning a.id, a.version)
    insert into state_history (org_id, resource_id, version, resource, action, from_status, to_status, actor_kind, actor_id,
      request_id, at)
    select $1, c.id, c.version, 'application', 'archive', 'active', 'archived', 'system', 'operator', $4, $3 from changed c`,
};

/** Notifies all nodes that the endpoints have changed, when the transaction commits. */
const announce: Statement = {
  name: 'organization_replace_announce',
  text: `select pg_notify('sandbank_work', concat_ws(' ', w.org_id, w.id, 'changed')) from webhooks w
    where w.org_id = $1 and current_setting('sandbank.announces', true) = 'on'`,
};

/** After the rows of the snapshot are written. */
export async function finishReplacement(
  connection: Connection,
  { orgId, requestId, now }: Replaced,
  { clocks, archivedApplications }: Retained,
  appIds: readonly string[],
): Promise<void> {
  const texts = (values: Iterable<string>) => encodeArray('text', [...values]);
  const at = new Date(now).toISOString();
  await connection.query(continueClocks, [
    orgId,
    texts(clocks.map(({ id }) => id)),
    texts(clocks.map(({ appId }) => appId)),
    Math.max(0, ...clocks.map(({ version }) => version)),
    at,
    texts(appIds),
    requestId,
  ]);
  await connection.query(archiveAgain, [orgId, texts(archivedApplications), at, requestId]);
  await connection.query(announce, [orgId]);
}
