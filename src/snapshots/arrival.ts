import { belongsTo, newWebhookSecret } from '../delivery/signature.ts';
import type { IdGenerator } from '../engine/id-generator.ts';
import { newApiKey } from '../engine/tokens.ts';
import type { Vault } from '../engine/vault.ts';
import { clockIdOf } from '../kernel/clock.ts';
import { formatId } from '../kernel/ids.ts';
import type { Instant } from '../kernel/table.ts';
import { webhookSecretPattern } from '../resources/webhooks/machine.ts';
import type { StoredSecret } from '../resources/webhooks/table.ts';
import { type SnapshotHeader, SnapshotProblem, type SnapshotRow } from './format.ts';
import type { SetUp } from './import.ts';
import type { Arrival } from './rows.ts';

/** What came in, for whoever asked: secrets that were made are told this once. */
export interface Arrived {
  readonly organization: { readonly id: string; readonly name: string };
  readonly applications: readonly { readonly id: string; readonly name: string }[];
  readonly apiKeys: readonly { readonly id: string; readonly name: string; readonly key?: string }[];
  readonly webhooks: readonly {
    readonly id: string;
    readonly appId: string;
    readonly url: string;
    readonly secret?: string;
  }[];
}

/** As a new organization, under a name of its own if it is given one. */
export interface AsFork {
  readonly name: string | undefined;
  readonly requestId: string;
  readonly now: Instant;
  /** When the copy is deleted. */
  readonly expiresAt?: Instant | null;
}

/** A secret as a snapshot has it. */
interface ShownSecret extends Pick<StoredSecret, 'hint' | 'expiresAt'> {
  readonly secret: string;
}

const secretForm = new RegExp(webhookSecretPattern);

/** The row of an endpoint on its way out: what is kept sealed is opened, or left out. */
export function showWebhook(vault: Vault, hasSecrets: boolean): (row: string) => string {
  return (text) => {
    const row = JSON.parse(text) as { org_id: string; id: string; secrets: readonly StoredSecret[] };
    const owner = belongsTo(row.org_id, row.id);
    const secrets: readonly ShownSecret[] = hasSecrets
      ? row.secrets.map(({ sealed, hint, expiresAt }) => ({
          secret: vault.open(sealed, owner),
          hint,
          expiresAt,
        }))
      : [];
    return JSON.stringify({ ...row, secrets });
  };
}

/** Decides how what was set up arrives: under its own ids or new ones, and which secrets are made for it. */
export function arrivalOf(
  { vault, idGenerator }: { readonly vault: Vault; readonly idGenerator: IdGenerator },
  fork: AsFork | undefined,
  { organization, hasSecrets }: SnapshotHeader,
  setUp: SetUp,
): { readonly arrival: Arrival; readonly arrived: Arrived } {
  const rowsOf = (table: string) => setUp.get(table) ?? [];
  const name = fork?.name ?? organization.name;
  const ids = fork ? newIds(organization.id, rowsOf, idGenerator, name) : new Map<string, string>();
  const idOf = (row: SnapshotRow, field = 'id') => {
    const id = String(row.fields[field]);
    return ids.get(id) ?? id;
  };
  const rewritten = new Map<SnapshotRow, string>();
  const orgId = ids.get(organization.id) ?? organization.id;
  for (const row of rowsOf('organizations'))
    if (fork) {
      const { expiresAt = null } = fork;
      const expiry = expiresAt === null ? null : new Date(expiresAt).toISOString();
      rewritten.set(row, JSON.stringify({ ...row.fields, name, expires_at: expiry }));
    }
  const apiKeys = rowsOf('api_keys').map((row) => {
    const shown = { id: idOf(row), name: String(row.fields.name) };
    if (!fork) return shown;
    const { key, hash } = newApiKey();
    const kept = { hash: `\\x${Buffer.from(hash).toString('hex')}`, last_four: key.slice(-4) };
    rewritten.set(row, JSON.stringify({ ...row.fields, ...kept }));
    return row.fields.status === 'active' ? { ...shown, key } : shown;
  });
  const webhooks = rowsOf('webhooks').map((row) => {
    const id = idOf(row);
    const shown = { id, appId: idOf(row, 'app_id'), url: String(row.fields.url) };
    const made = hasSecrets ? undefined : newWebhookSecret();
    const secrets: readonly ShownSecret[] =
      made === undefined
        ? shownSecrets(row)
        : [{ secret: made, hint: made.replace(/=+$/, '').slice(-4), expiresAt: null }];
    const sealed = secrets.map(({ secret, ...rest }) => ({
      sealed: vault.seal(secret, belongsTo(orgId, id)),
      ...rest,
    }));
    rewritten.set(row, JSON.stringify({ ...row.fields, secrets: sealed }));
    return made === undefined ? shown : { ...shown, secret: made };
  });
  return {
    arrival: { ids, rewritten, silencedBy: fork ? { requestId: fork.requestId, now: fork.now } : null },
    arrived: {
      organization: { id: orgId, name },
      applications: rowsOf('applications').map((row) => ({ id: idOf(row), name: String(row.fields.name) })),
      apiKeys,
      webhooks,
    },
  };
}

/** Of what was set up. Records keep theirs: their keys begin with the organization. */
function newIds(
  orgId: string,
  rowsOf: (table: string) => readonly SnapshotRow[],
  idGenerator: IdGenerator,
  name: string,
): ReadonlyMap<string, string> {
  const suffix = idGenerator.organization(name);
  const newSuffix = idGenerator.rowSuffixes(suffix);
  const ids = new Map([[orgId, formatId('organization', suffix)]]);
  for (const { fields } of rowsOf('applications')) {
    const [before, after] = [String(fields.id), formatId('application', newSuffix())];
    ids.set(before, after).set(clockIdOf(before), clockIdOf(after));
  }
  for (const { fields } of rowsOf('api_keys')) ids.set(String(fields.id), formatId('api_key', newSuffix()));
  for (const { fields } of rowsOf('webhooks')) ids.set(String(fields.id), formatId('webhook', newSuffix()));
  return ids;
}

function shownSecrets(row: SnapshotRow & { readonly line?: number }): readonly ShownSecret[] {
  const { secrets } = row.fields as { secrets: unknown };
  const isRight =
    Array.isArray(secrets) &&
    secrets.length >= 1 &&
    secrets.every(
      (one: Partial<ShownSecret> | null) =>
        typeof one?.secret === 'string' && secretForm.test(one.secret) && typeof one.hint === 'string',
    );
  if (!isRight)
    throw new SnapshotProblem(
      row.line ?? 0,
      'secrets must be a list of what was exported with secrets=true.',
    );
  return secrets as readonly ShownSecret[];
}
