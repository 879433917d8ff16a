import { hash, randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { applySeed } from '../../src/admin/seed.ts';
import { scopes as allScopes, type Scope } from '../../src/kernel/permissions.ts';
import { findKeyOwner, type KeyOwner } from '../../src/resources/api-keys/store.ts';
import type { Server } from '../../src/server.ts';
import { ApiClient } from './api-client.ts';

export interface KeySettings {
  readonly scopes?: readonly Scope[];
  readonly expiresAt?: string;
  readonly allowedCidrs?: readonly string[];
  readonly revoked?: boolean;
  /** True by default. */
  readonly mayReset?: boolean;
  /** Another application of the same organization; `web` unless told. */
  readonly application?: string;
  /** What the application has agreed with its provider; the defaults unless told. */
  readonly fee?: { readonly basisPoints: number; readonly fixedAmount: number };
  readonly provider?: string;
  readonly fx?: { readonly marginBasisPoints?: number; readonly rates?: Readonly<Record<string, string>> };
  /** Declares an existing key anew, for example to revoke it. */
  readonly key?: string;
}

/** A key and what it belongs to. */
export interface KeyHolder extends KeyOwner {
  readonly key: string;
  readonly client: ApiClient;
  clientOn(app: FastifyInstance): ApiClient;
}

export interface Tenant extends KeyHolder {
  /** One more key of this organization. */
  addKey(settings?: KeySettings): Promise<KeyHolder>;
}

/** An organization that nobody else has, with a key that may do everything unless told; made in milliseconds. */
export async function tenant(server: Server, settings: KeySettings = {}): Promise<Tenant> {
  const name = `Tenant ${randomBytes(8).toString('hex')}`;
  const holder = await declareKey(server, name, settings);
  return { ...holder, addKey: (more = {}) => declareKey(server, name, more) };
}

async function declareKey(server: Server, organization: string, settings: KeySettings): Promise<KeyHolder> {
  const { scopes = allScopes, application = 'web', key = newKey(), ...rest } = settings;
  const apiKeys = [
    {
      name: `key ${key.slice(-4)}`,
      key,
      scopes: [...scopes],
      mayReset: rest.mayReset ?? true,
      ...(rest.expiresAt === undefined ? {} : { expiresAt: rest.expiresAt }),
      ...(rest.allowedCidrs === undefined ? {} : { allowedCidrs: [...rest.allowedCidrs] }),
      ...(rest.revoked === undefined ? {} : { revoked: rest.revoked }),
    },
  ];
  await applySeed(
    {
      organizations: [
        {
          name: organization,
          applications: [
            {
              name: application,
              apiKeys,
              ...(rest.fee === undefined ? {} : { fee: { ...rest.fee } }),
              ...(rest.provider === undefined ? {} : { provider: rest.provider }),
              ...(rest.fx === undefined ? {} : { fx: rest.fx }),
            },
          ],
        },
      ],
    },
    server,
    Date.now,
  );
  const owner = await findKeyOwner(server.reader, hash('sha256', key, 'buffer'));
  if (!owner) throw new Error('a key that was declared is not there');
  return {
    ...owner,
    key,
    client: new ApiClient(server.app, key),
    clientOn: (app) => new ApiClient(app, key),
  };
}

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export function newKey(): string {
  return `sbk_sandbox_${[...randomBytes(32)].map((byte) => base62[byte % 62]).join('')}`;
}
