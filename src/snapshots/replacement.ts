import { encodeArray } from '../db/array.ts';
import type { Connection } from '../db/database.ts';
import { clearMsMax, takeOrganization } from '../engine/clearing.ts';
import { tablesOf } from '../engine/organization-tables.ts';
import type { Id } from '../kernel/ids.ts';
import type { Statement } from '../kernel/table.ts';
import type { WebhookRow } from '../resources/webhooks/table.ts';

/** A clock of the organization is being advanced: the advance would continue on the restored records. */
export class ClockAdvancing extends Error {
  override readonly name = 'ClockAdvancing';
}

/** What a snapshot without secrets cannot restore. */
type RetainedWebhook = Pick<WebhookRow, 'secrets' | 'headers'>;
export type RetainedWebhooks = ReadonlyMap<string, RetainedWebhook>;

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

/** Locks an organization before its records and settings are replaced. Returns the secrets and headers of its webhooks. */
export async function beginReplacement(
  connection: Connection,
  orgId: Id<'organization'>,
): Promise<RetainedWebhooks> {
  await takeOrganization(connection, orgId);
  await connection.query(begin, [orgId]);
  const [busy] = await connection.query(advancing, [orgId]);
  if (busy) throw new ClockAdvancing(orgId);
  const rows = await connection.query<RetainedWebhook & { readonly id: string }>(webhooksOf, [orgId]);
  return new Map(rows.map(({ id, ...webhook }) => [id, webhook]));
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
