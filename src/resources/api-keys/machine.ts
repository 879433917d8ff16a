import { accepted, type Change, type CommandKind, change } from '../../kernel/command.ts';
import { defineMachine } from '../../kernel/machine.ts';
import type { Scope } from '../../kernel/scopes.ts';
import type { Instant } from '../../kernel/table.ts';

export const apiKeyMachine = defineMachine<ApiKeyRow>({
  resource: 'api_key',
  states: ['active', 'revoked'],
  moves: [
    { action: 'create', from: [], to: ['active'], event: 'created' },
    { action: 'update', from: ['active'], to: ['active'], event: 'updated' },
    { action: 'revoke', from: ['active'], to: ['revoked'], event: 'revoked' },
  ],
});

/** `sbk_sandbox_` and 32 base62 characters: about 190 bits, so a plain hash is enough to keep it by. */
export const apiKeyPrefix = 'sbk_sandbox_';
export const apiKeyPattern = /^sbk_sandbox_[0-9A-Za-z]{32}$/;

export interface ApiKeyRow {
  readonly orgId: string;
  readonly id: string;
  readonly appId: string;
  readonly status: 'active' | 'revoked';
  readonly version: number;
  readonly name: string;
  readonly hash: Uint8Array;
  readonly lastFour: string;
  readonly scopes: readonly Scope[];
  readonly allowedCidrs: readonly string[];
  readonly expiresAt: Instant | null;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

export type ApiKeySettings = Pick<ApiKeyRow, 'name' | 'scopes' | 'allowedCidrs' | 'expiresAt'>;

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
    row.scopes.join() === settings.scopes.join() &&
    row.allowedCidrs.join() === settings.allowedCidrs.join()
  );
}
