import {
  type Accepted,
  accepted,
  type Change,
  type CommandKind,
  change,
  type LoadedRows,
  type PreparedCommand,
} from '../../kernel/command.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import { formatId, type Id, noApplication } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { type ActionOf, defineMachine, refuseMove } from '../../kernel/machine.ts';
import type { Instant } from '../../kernel/table.ts';
import type { ApiKeyRow, NewApiKey } from './table.ts';

export const apiKeyMachine = defineMachine<ApiKeyRow>()({
  resource: 'api_key',
  states: ['active', 'revoked'],
  moves: [
    { action: 'create', from: [], to: ['active'], event: 'created' },
    { action: 'update', from: ['active'], to: ['active'], event: 'updated' },
    {
      action: 'rotate',
      from: ['active'],
      to: ['active'],
      event: 'rotated',
      // A rotated key expires with its overlap, and a second rotation would pass this expiry on to the next key.
      when: { description: 'it was not rotated before', holds: ({ replacedBy }) => replacedBy === null },
    },
    { action: 'revoke', from: ['active'], to: ['revoked'], event: 'revoked' },
  ],
});

type ApiKeyAction = ActionOf<typeof apiKeyMachine>;

export type ApiKeySettings = Pick<ApiKeyRow, 'name' | 'scopes' | 'allowedCidrs' | 'expiresAt' | 'mayReset'>;

export interface DeclareApiKey {
  readonly id: Id<'api_key'>;
  readonly appId: Id<'application'>;
  readonly hash: Uint8Array;
  readonly lastFour: string;
  readonly settings: ApiKeySettings;
  readonly isRevoked: boolean;
}

/** Creates or updates the key as declared. A revoked key stays revoked: nothing restores a key. */
export const declareApiKey: CommandKind<DeclareApiKey> = {
  name: 'api_keys.declare',
  success: 'ok',
  reads: ({ id }) => [{ resource: 'api_key', id, lock: 'update' }],
  decide: (input, { orgId, now }, rows) => {
    const before = rows.get<ApiKeyRow>('api_key', input.id);
    if (before?.status === 'revoked') return accepted([], 'api_key', before);
    const changes: Change[] = [];
    let row: ApiKeyRow;
    if (!before) {
      const { id, appId, hash, lastFour, settings } = input;
      row = {
        orgId,
        id,
        appId,
        hash,
        lastFour,
        ...settings,
        replaces: null,
        replacedBy: null,
        status: 'active',
        version: 1,
        createdAt: now,
        updatedAt: now,
      };
      changes.push(change(apiKeyMachine, 'create', null, row));
    } else {
      row = before;
      if (!isSame(before, input.settings)) {
        row = { ...before, ...input.settings, version: before.version + 1, updatedAt: now };
        changes.push(change(apiKeyMachine, 'update', before, row));
      }
    }
    if (input.isRevoked) {
      const active = row;
      row = { ...active, status: 'revoked', version: active.version + 1, updatedAt: now };
      changes.push(change(apiKeyMachine, 'revoke', active, row));
    }
    return accepted(changes, 'api_key', row);
  },
};

function isSame(row: ApiKeyRow, settings: ApiKeySettings): boolean {
  return (
    row.name === settings.name &&
    row.expiresAt === settings.expiresAt &&
    row.mayReset === settings.mayReset &&
    row.scopes.join() === settings.scopes.join() &&
    row.allowedCidrs.join() === settings.allowedCidrs.join()
  );
}

/** Only a caller who may reset the organization can grant that permission to a key. */
interface KeyManager {
  readonly mayGrantReset: boolean;
}

export interface CreateApiKey extends KeyManager {
  readonly settings: ApiKeySettings;
  readonly created: NewApiKey;
  /** The number of active keys of the application, counted before the command. */
  readonly others: number;
}

// Keys use the wall clock: a frozen application clock must not stop them from expiring.
export const createApiKey: PreparedCommand<CreateApiKey> = {
  name: 'api_keys.create',
  success: 'created',
  needsPrepare: true,
  answersWithSecret: true,
  reads: () => [],
  authorize: ({ settings, mayGrantReset }) => refuseReset(settings.mayReset, mayGrantReset),
  decide: ({ settings, created, others }, { orgId, appId, suffix, wallNow }) => {
    const refusal = refuseTooMany(others) ?? refusePast(settings.expiresAt ?? null, wallNow);
    if (refusal) return refusal;
    const id = formatId('api_key', suffix);
    const row = newKey(
      { orgId, id, appId: appId ?? noApplication, ...settings, replaces: null },
      created,
      wallNow,
    );
    return acceptedWithKey([change(apiKeyMachine, 'create', null, row)], row, created);
  },
};

export interface UpdateApiKey extends KeyManager {
  readonly id: Id<'api_key'>;
  readonly patch: Partial<ApiKeySettings>;
}

export const updateApiKey: PreparedCommand<UpdateApiKey> = {
  name: 'api_keys.update',
  success: 'ok',
  needsPrepare: true,
  reads: ({ id }) => [{ resource: 'api_key', id, lock: 'update' }],
  authorize: ({ id, patch, mayGrantReset }, { appId }, rows) =>
    refuseReset(patch.mayReset === true || hasReset(rows, id, appId), mayGrantReset),
  decide: ({ id, patch }, { appId, wallNow }, rows) => {
    const before = findFor(rows, id, appId, 'update');
    if ('ok' in before) return before;
    const past = patch.expiresAt === undefined ? undefined : refusePast(patch.expiresAt, wallNow);
    if (past) return past;
    const after = { ...before, ...patch };
    if (isSame(before, after)) return accepted([], 'api_key', before);
    const row = { ...after, version: before.version + 1, updatedAt: wallNow };
    return accepted([change(apiKeyMachine, 'update', before, row)], 'api_key', row);
  },
};

export interface RotateApiKey extends KeyManager {
  readonly id: Id<'api_key'>;
  readonly overlapSeconds: number;
  readonly created: NewApiKey;
  readonly others: number;
}

/** Creates a key with the same permissions. The old key stays valid for the overlap, so that no client loses access. */
export const rotateApiKey: PreparedCommand<RotateApiKey> = {
  name: 'api_keys.rotate',
  success: 'created',
  needsPrepare: true,
  answersWithSecret: true,
  reads: ({ id }) => [{ resource: 'api_key', id, lock: 'update' }],
  authorize: ({ id, mayGrantReset }, { appId }, rows) =>
    refuseReset(hasReset(rows, id, appId), mayGrantReset),
  decide: ({ id, overlapSeconds, created, others }, { appId, suffix, wallNow }, rows) => {
    const before = findFor(rows, id, appId, 'rotate');
    if ('ok' in before) return before;
    const refusal = refuseTooMany(others) ?? refusePast(before.expiresAt, wallNow);
    if (refusal) return refusal;
    const until = wallNow + overlapSeconds * 1000;
    const after = {
      ...before,
      expiresAt: before.expiresAt === null ? until : Math.min(until, before.expiresAt),
      replacedBy: formatId('api_key', suffix),
      version: before.version + 1,
      updatedAt: wallNow,
    };
    const row = newKey({ ...before, id: formatId('api_key', suffix), replaces: before.id }, created, wallNow);
    return acceptedWithKey(
      [change(apiKeyMachine, 'rotate', before, after), change(apiKeyMachine, 'create', null, row)],
      row,
      created,
    );
  },
};

export const revokeApiKey: CommandKind<{ readonly id: Id<'api_key'> }> = {
  name: 'api_keys.revoke',
  success: 'ok',
  reads: ({ id }) => [{ resource: 'api_key', id, lock: 'update' }],
  decide: ({ id }, { appId, wallNow }, rows) => {
    const before = findFor(rows, id, appId, 'revoke');
    if ('ok' in before) return before;
    const row: ApiKeyRow = { ...before, status: 'revoked', version: before.version + 1, updatedAt: wallNow };
    return accepted([change(apiKeyMachine, 'revoke', before, row)], 'api_key', row);
  },
};

/** A key of another application is not found, like a key of another organization. */
function findFor(
  rows: LoadedRows,
  id: Id<'api_key'>,
  appId: Id<'application'> | null,
  action: ApiKeyAction,
): ApiKeyRow | Refusal {
  const before = rows.get<ApiKeyRow>('api_key', id);
  if (!before || before.appId !== appId) return refuse('resource_not_found');
  return refuseMove(apiKeyMachine, action, before) ?? before;
}

function hasReset(rows: LoadedRows, id: Id<'api_key'>, appId: Id<'application'> | null): boolean {
  const row = rows.get<ApiKeyRow>('api_key', id);
  return row?.appId === appId && row?.mayReset === true;
}

/** A key never has a permission that the person who manages it does not have. */
function refuseReset(concernsReset: boolean, mayGrantReset: boolean): Refusal | undefined {
  if (!concernsReset || mayGrantReset) return undefined;
  return refuse('role_missing', {
    message: 'Only an owner or admin creates, changes or rotates an API key that may reset the organization.',
    details: { role: 'admin' },
  });
}

function refuseTooMany(others: number): Refusal | undefined {
  if (others < limits.apiKeysPerApplicationMax) return undefined;
  return refuse('limit_reached', {
    message: `An application has at most ${limits.apiKeysPerApplicationMax} active API keys. Revoke some first.`,
  });
}

function refusePast(expiresAt: Instant | null, wallNow: Instant): Refusal | undefined {
  if (expiresAt === null || expiresAt > wallNow) return undefined;
  return refuse('invalid_request', { message: 'The key would have expired already.', param: '/expiresAt' });
}

type NewKeyFields = ApiKeySettings & Pick<ApiKeyRow, 'orgId' | 'id' | 'appId' | 'replaces'>;

export function newKey(
  { orgId, id, appId, name, scopes, allowedCidrs, expiresAt, mayReset, replaces }: NewKeyFields,
  created: NewApiKey,
  now: Instant,
): ApiKeyRow {
  return {
    ...{ orgId, id, appId, name, scopes, allowedCidrs, expiresAt, mayReset, replaces, replacedBy: null },
    ...{ hash: created.hash, lastFour: created.key.slice(-4) },
    ...{ status: 'active', version: 1, createdAt: now, updatedAt: now },
  };
}

function acceptedWithKey(changes: readonly Change[], row: ApiKeyRow, { key }: NewApiKey): Accepted {
  return { ...accepted(changes, 'api_key', row), secrets: { key } };
}
