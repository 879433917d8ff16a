import { openHeaders, sealHeaders } from '../delivery/custom-headers.ts';
import { belongsTo, newWebhookSecret } from '../delivery/signature.ts';
import type { IdGenerator } from '../engine/id-generator.ts';
import { newApiKey } from '../engine/tokens.ts';
import type { Vault } from '../engine/vault.ts';
import { formatId, type Id, type IdKind } from '../kernel/ids.ts';
import type { Instant } from '../kernel/table.ts';
import { clockIdOf } from '../kernel/time.ts';
import { refuseHeaders } from '../resources/webhooks/header-commands.ts';
import { webhookSecretPattern } from '../resources/webhooks/machine.ts';
import type { StoredHeaders, StoredSecret } from '../resources/webhooks/table.ts';
import { type SnapshotHeader, SnapshotProblem, type SnapshotRow } from './format.ts';
import type { Configuration } from './import.ts';
import type { Retained } from './replacement.ts';
import type { ImportPlan } from './rows.ts';

/** The imported configuration, for the response. Generated secrets are shown only here. */
export interface ImportedContent {
  readonly organization: { readonly id: Id<'organization'>; readonly name: string };
  readonly applications: readonly { readonly id: string; readonly name: string }[];
  readonly apiKeys: readonly { readonly id: string; readonly name: string; readonly key?: string }[];
  readonly webhooks: readonly {
    readonly id: Id<'webhook'>;
    readonly appId: Id<'application'>;
    readonly url: string;
    readonly secret?: string;
  }[];
}

/** Import as a new organization, optionally under a new name. */
export interface ForkOptions {
  readonly name: string | undefined;
  readonly requestId: Id<'request'>;
  readonly now: Instant;
  /** When the copy is deleted. */
  readonly expiresAt?: Instant | null;
}

/** A webhook secret in a snapshot. */
interface ExportedSecret extends Pick<StoredSecret, 'hint' | 'expiresAt'> {
  readonly secret: string;
}

const secretPattern = new RegExp(webhookSecretPattern);

/** Converts a webhook row for export: decrypts its secrets, or omits them. */
export function exportWebhook(vault: Vault, hasSecrets: boolean): (row: string) => string {
  return (text) => {
    const row = JSON.parse(text) as {
      org_id: string;
      id: string;
      secrets: readonly StoredSecret[];
      headers: StoredHeaders | null;
    };
    const owner = belongsTo(row.org_id, row.id);
    const secrets: readonly ExportedSecret[] = hasSecrets
      ? row.secrets.map(({ sealed, hint, expiresAt }) => ({
          secret: vault.open(sealed, owner),
          hint,
          expiresAt,
        }))
      : [];
    const headers = hasSecrets && row.headers ? openHeaders(vault, row.headers, row.org_id, row.id) : null;
    return JSON.stringify({ ...row, secrets, headers: headers ?? null });
  };
}

/** Plans the import of the configuration: original or new ids, and which secrets are generated. */
export function planImport(
  { vault, idGenerator }: { readonly vault: Vault; readonly idGenerator: IdGenerator },
  fork: ForkOptions | undefined,
  { organization, hasSecrets }: SnapshotHeader,
  configuration: Configuration,
  retained?: Retained,
): { readonly plan: ImportPlan; readonly content: ImportedContent } {
  const rowsOf = (table: string) => configuration.get(table) ?? [];
  const name = fork?.name ?? organization.name;
  const ids = fork ? newIds(organization.id, rowsOf, idGenerator, name) : new Map<string, string>();
  const idOf = <Kind extends IdKind>(_kind: Kind, row: SnapshotRow, field = 'id'): Id<Kind> => {
    const id = String(row.fields[field]);
    return (ids.get(id) ?? id) as Id<Kind>;
  };
  const rewritten = new Map<SnapshotRow, string>();
  const orgId = (ids.get(organization.id) ?? organization.id) as Id<'organization'>;
  for (const row of rowsOf('organizations'))
    if (fork) {
      const { expiresAt = null } = fork;
      const expiry = expiresAt === null ? null : new Date(expiresAt).toISOString();
      const now = new Date(fork.now).toISOString();
      const own = { name, expires_at: expiry, created_at: now, updated_at: now };
      rewritten.set(row, JSON.stringify({ ...row.fields, ...own }));
    }
  const apiKeys = rowsOf('api_keys').map((row) => {
    const shown = { id: idOf('api_key', row), name: String(row.fields.name) };
    if (!fork) return shown;
    const { key, hash } = newApiKey();
    const stored = { hash: `\\x${Buffer.from(hash).toString('hex')}`, last_four: key.slice(-4) };
    rewritten.set(row, JSON.stringify({ ...row.fields, ...stored }));
    return row.fields.status === 'active' ? { ...shown, key } : shown;
  });
  const webhooks = rowsOf('webhooks').map((row) => {
    const id = idOf('webhook', row);
    const shown = { id, appId: idOf('application', row, 'app_id'), url: urlOf(row, id) };
    // A deleted endpoint has no secrets.
    const isDeleted = row.fields.status === 'deleted';
    const present = isDeleted ? undefined : retained?.webhooks.get(id);
    if (present) {
      rewritten.set(row, JSON.stringify({ ...row.fields, ...present }));
      return shown;
    }
    const generated = hasSecrets || isDeleted ? undefined : newWebhookSecret();
    const secrets: readonly ExportedSecret[] =
      generated === undefined
        ? isDeleted
          ? []
          : exportedSecrets(row)
        : [{ secret: generated, hint: generated.replace(/=+$/, '').slice(-4), expiresAt: null }];
    const sealed = secrets.map(({ secret, ...rest }) => ({
      sealed: vault.seal(secret, belongsTo(orgId, id)),
      ...rest,
    }));
    const headers = hasSecrets ? importedHeaders(row, vault, orgId, id) : null;
    rewritten.set(row, JSON.stringify({ ...row.fields, url: shown.url, secrets: sealed, headers }));
    return generated === undefined ? shown : { ...shown, secret: generated };
  });
  return {
    plan: { ids, rewritten, disabledBy: fork ? { requestId: fork.requestId, now: fork.now } : null },
    content: {
      organization: { id: orgId, name },
      applications: rowsOf('applications').map((row) => ({
        id: idOf('application', row),
        name: String(row.fields.name),
      })),
      apiKeys,
      webhooks,
    },
  };
}

/** A snapshot with secrets contains custom headers in plain text. */
function importedHeaders(
  { fields, line }: SnapshotRow & { readonly line?: number },
  vault: Vault,
  orgId: string,
  webhookId: string,
): StoredHeaders | null {
  const headers: unknown = fields.headers ?? null;
  if (headers === null) return null;
  const isValid =
    typeof headers === 'object' &&
    !Array.isArray(headers) &&
    Object.values(headers).every((value) => typeof value === 'string') &&
    refuseHeaders(Object.keys(headers)) === undefined;
  if (!isValid)
    throw new SnapshotProblem(line ?? 0, 'headers must be an object of texts, without reserved names.');
  const values = headers as Readonly<Record<string, string>>;
  return { names: Object.keys(values), sealed: sealHeaders(vault, values, orgId, webhookId) };
}

/** The URL of an inbox ends with its id. */
function urlOf({ fields }: SnapshotRow, id: Id<'webhook'>): string {
  const url = String(fields.url);
  return fields.inbox ? url.replace(/[^/]*$/, id) : url;
}

/** New ids for the configuration. Records keep their ids, because their keys begin with the organization. */
function newIds(
  orgId: string,
  rowsOf: (table: string) => readonly SnapshotRow[],
  idGenerator: IdGenerator,
  name: string,
): ReadonlyMap<string, string> {
  const suffix = idGenerator.organization(name);
  const newSuffix = idGenerator.rowSuffixes(suffix);
  const ids = new Map<string, string>([[orgId, formatId('organization', suffix)]]);
  for (const { fields } of rowsOf('applications')) {
    const before = String(fields.id) as Id<'application'>;
    const after = formatId('application', newSuffix());
    ids.set(before, after).set(clockIdOf(before), clockIdOf(after));
  }
  for (const { fields } of rowsOf('api_keys')) ids.set(String(fields.id), formatId('api_key', newSuffix()));
  for (const { fields } of rowsOf('webhooks')) ids.set(String(fields.id), formatId('webhook', newSuffix()));
  return ids;
}

function exportedSecrets(row: SnapshotRow & { readonly line?: number }): readonly ExportedSecret[] {
  const { secrets } = row.fields as { secrets: unknown };
  const isValid =
    Array.isArray(secrets) &&
    secrets.length >= 1 &&
    secrets.every(
      (one: Partial<ExportedSecret> | null) =>
        typeof one?.secret === 'string' && secretPattern.test(one.secret) && typeof one.hint === 'string',
    );
  if (!isValid)
    throw new SnapshotProblem(
      row.line ?? 0,
      'secrets must be the list that an export with secrets=true contains.',
    );
  return secrets as readonly ExportedSecret[];
}
