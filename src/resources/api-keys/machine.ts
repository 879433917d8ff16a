import {
  type Accepted,
  accepted,
  type Change,
  type CommandKind,
  change,
  type LoadedRows,
} from '../../kernel/command.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import { formatId } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { defineMachine, refuseMove } from '../../kernel/machine.ts';
import type { Instant } from '../../kernel/table.ts';
import type { ApiKeyRow, NewApiKey } from './table.ts';

export const apiKeyMachine = defineMachine<ApiKeyRow>({
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
      // Its end is the overlap's by then, and would become that of the key after it.
      when: { description: 'it was not rotated before', holds: ({ replacedBy }) => replacedBy === null },
    },
    { action: 'revoke', from: ['active'], to: ['revoked'], event: 'revoked' },
  ],
});

export type ApiKeySettings = Pick<ApiKeyRow, 'name' | 'scopes' | 'allowedCidrs' | 'expiresAt' | 'mayReset'>;

export interface DeclareApiKey {
  readonly id: string;
  readonly appId: string;
  readonly hash: Uint8Array;
  readonly lastFour: string;
  readonly settings: ApiKeySettings;
  readonly isRevoked: boolean;
}

/** Makes the key so. A revoked key stays revoked whatever is declared: nothing brings a key back. */
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

/** Who may reset an organization decides which keys may. */
export interface KeyManager {
  readonly mayGrantReset: boolean;
}

export interface CreateApiKey extends KeyManager {
  readonly settings: ApiKeySettings;
  readonly made: NewApiKey;
  /** How many active ones the application has already, counted before. */
  readonly others: number;
}

// What has to do with keys goes by the wall clock: a frozen application shall not make them immortal.
export const createApiKey: CommandKind<CreateApiKey> = {
  name: 'api_keys.create',
  success: 'created',
  answersWithSecret: true,
  reads: () => [],
  authorize: ({ settings, mayGrantReset }) => refuseReset(settings.mayReset, mayGrantReset),
  decide: ({ settings, made, others }, { orgId, appId, suffix, wallNow }) => {
    const crowded = refuseCrowd(others) ?? refusePast(settings.expiresAt ?? null, wallNow);
    if (crowded) return crowded;
    const id = formatId('api_key', suffix);
    const row = newKey({ orgId, id, appId: appId ?? '', ...settings, replaces: null }, made, wallNow);
    return shownOnce([change(apiKeyMachine, 'create', null, row)], row, made);
  },
};

export interface UpdateApiKey extends KeyManager {
  readonly id: string;
  readonly patch: Partial<ApiKeySettings>;
}

export const updateApiKey: CommandKind<UpdateApiKey> = {
  name: 'api_keys.update',
  success: 'ok',
  reads: ({ id }) => [{ resource: 'api_key', id, lock: 'update' }],
  authorize: ({ id, patch, mayGrantReset }, { appId }, rows) =>
    refuseReset(patch.mayReset === true || hasReset(rows, id, appId), mayGrantReset),
  decide: ({ id, patch }, { appId, wallNow }, rows) => {
    const before = ready(rows, id, appId, 'update');
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
  readonly id: string;
  readonly overlapSeconds: number;
  readonly made: NewApiKey;
  readonly others: number;
}

/** A new key with the same rights; the one before goes on for the overlap, so that no caller is cut off in between. */
export const rotateApiKey: CommandKind<RotateApiKey> = {
  name: 'api_keys.rotate',
  success: 'created',
  answersWithSecret: true,
  reads: ({ id }) => [{ resource: 'api_key', id, lock: 'update' }],
  authorize: ({ id, mayGrantReset }, { appId }, rows) =>
    refuseReset(hasReset(rows, id, appId), mayGrantReset),
  decide: ({ id, overlapSeconds, made, others }, { appId, suffix, wallNow }, rows) => {
    const before = ready(rows, id, appId, 'rotate');
    if ('ok' in before) return before;
    const refusal = refuseCrowd(others) ?? refusePast(before.expiresAt, wallNow);
    if (refusal) return refusal;
    const until = wallNow + overlapSeconds * 1000;
    const after = {
      ...before,
      expiresAt: before.expiresAt === null ? until : Math.min(until, before.expiresAt),
      replacedBy: formatId('api_key', suffix),
      version: before.version + 1,
      updatedAt: wallNow,
    };
    const row = newKey({ ...before, id: formatId('api_key', suffix), replaces: before.id }, made, wallNow);
    return shownOnce(
      [change(apiKeyMachine, 'rotate', before, after), change(apiKeyMachine, 'create', null, row)],
      row,
      made,
    );
  },
};

export const revokeApiKey: CommandKind<{ readonly id: string }> = {
  name: 'api_keys.revoke',
  success: 'ok',
  reads: ({ id }) => [{ resource: 'api_key', id, lock: 'update' }],
  decide: ({ id }, { appId, wallNow }, rows) => {
    const before = ready(rows, id, appId, 'revoke');
    if ('ok' in before) return before;
    const row: ApiKeyRow = { ...before, status: 'revoked', version: before.version + 1, updatedAt: wallNow };
    return accepted([change(apiKeyMachine, 'revoke', before, row)], 'api_key', row);
  },
};

/** A key of another application is as little there as one of another organization. */
function ready(rows: LoadedRows, id: string, appId: string | null, action: string): ApiKeyRow | Refusal {
  const before = rows.get<ApiKeyRow>('api_key', id);
  if (!before || before.appId !== appId) return refuse('resource_not_found');
  return refuseMove(apiKeyMachine, action, before) ?? before;
}

function hasReset(rows: LoadedRows, id: string, appId: string | null): boolean {
  const row = rows.get<ApiKeyRow>('api_key', id);
  return row?.appId === appId && row?.mayReset === true;
}

/** Nobody gets a key that may do more than they may themselves. */
function refuseReset(concernsReset: boolean, mayGrantReset: boolean): Refusal | undefined {
  if (!concernsReset || mayGrantReset) return undefined;
  return refuse('role_missing', {
    message: 'Only an owner or admin creates, changes or rotates an API key that may reset the organization.',
    details: { role: 'admin' },
  });
}

function refuseCrowd(others: number): Refusal | undefined {
  if (others < limits.apiKeysPerApplicationMax) return undefined;
  return refuse('limit_reached', {
    message: `An application has at most ${limits.apiKeysPerApplicationMax} active API keys. Revoke some first.`,
  });
}

function refusePast(expiresAt: Instant | null, wallNow: Instant): Refusal | undefined {
  if (expiresAt === null || expiresAt > wallNow) return undefined;
  return refuse('invalid_request', { message: 'The key would have expired already.', param: '/expiresAt' });
}

type KeyOf = ApiKeySettings & Pick<ApiKeyRow, 'orgId' | 'id' | 'appId' | 'replaces'>;

export function newKey(
  { orgId, id, appId, name, scopes, allowedCidrs, expiresAt, mayReset, replaces }: KeyOf,
  made: NewApiKey,
  now: Instant,
): ApiKeyRow {
  return {
    ...{ orgId, id, appId, name, scopes, allowedCidrs, expiresAt, mayReset, replaces, replacedBy: null },
    ...{ hash: made.hash, lastFour: made.key.slice(-4) },
    ...{ status: 'active', version: 1, createdAt: now, updatedAt: now },
  };
}

function shownOnce(changes: readonly Change[], row: ApiKeyRow, { key }: NewApiKey): Accepted {
  return { ...accepted(changes, 'api_key', row), secrets: { key } };
}
