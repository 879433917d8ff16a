/** An organization of its own for each bundle, whose applications have different terms, and a stranger to it. */
import { randomBytes } from 'node:crypto';
import { scopes } from '../../src/kernel/scopes.ts';
import { applySeed } from '../../src/seed.ts';
import type { Server } from '../../src/server.ts';
import type { Fee } from '../model/payments.ts';
import { newKey, tenant } from '../support/tenant.ts';
import { Caller } from './caller.ts';

interface Terms {
  readonly fee?: { readonly basisPoints: number; readonly fixedAmount: number };
  readonly provider?: 'meridian' | 'tidewater';
}

/** The usual terms; nothing at all; thirds and halves to round; more than the amount. */
const agreed: readonly Terms[] = [
  {},
  { fee: { basisPoints: 0, fixedAmount: 0 }, provider: 'meridian' },
  { fee: { basisPoints: 1_250, fixedAmount: 7 }, provider: 'tidewater' },
  { fee: { basisPoints: 10_000, fixedAmount: 999 } },
];

export interface World {
  readonly orgId: string;
  readonly applications: readonly { readonly client: Caller; readonly fee: Fee }[];
  /** A key that only looks. */
  readonly auditor: Caller;
  readonly stranger: Caller;
}

export async function newWorld(server: Server, stranger: Caller): Promise<World> {
  const { orgId, key } = await tenant(server, { scopes: ['payments:read'] });
  const [row] = await server.database.query<{ name: string }>(
    { name: '', text: 'select name from organizations where org_id = $1' },
    [orgId],
  );
  const keys = agreed.map(() => newKey());
  const applications = agreed.map((terms, i) => ({
    name: `terms ${i} ${randomBytes(4).toString('hex')}`,
    apiKeys: [{ name: 'key', key: keys[i] ?? '', scopes: [...scopes] }],
    ...terms,
  }));
  await applySeed({ organizations: [{ name: row?.name ?? '', applications }] }, server, Date.now);
  return {
    orgId,
    auditor: new Caller(server.app, key),
    stranger,
    applications: agreed.map(({ fee }, i) => ({
      client: new Caller(server.app, keys[i] ?? ''),
      fee: { basisPoints: BigInt(fee?.basisPoints ?? 290), fixed: BigInt(fee?.fixedAmount ?? 30) },
    })),
  };
}
