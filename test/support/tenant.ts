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
  /** The application of the key; `web` by default. */
  readonly application?: string;
  /** The application's provider settings; the defaults if omitted. */
  readonly fee?: { readonly basisPoints: number; readonly fixedAmount: number };
  readonly provider?: string;
  readonly fx?: { readonly marginBasisPoints?: number; readonly rates?: Readonly<Record<string, string>> };
  /** Declares an existing key again, for example to revoke it. */
  readonly key?: string;
}

/** A key with its application and organization. */
export interface KeyHolder extends KeyOwner {
  readonly key: string;
  readonly client: ApiClient;
  clientOn(app: FastifyInstance): ApiClient;
}

export interface Tenant extends KeyHolder {
  /** Creates another key in this organization. */
  addKey(settings?: KeySettings): Promise<KeyHolder>;
}

/** Creates a new organization with a key that has all scopes by default. Takes milliseconds. */
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
  if (!owner) throw new Error('the declared key was not found');
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
