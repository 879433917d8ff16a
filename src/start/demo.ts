import { createHash } from 'node:crypto';
import { applySeed } from '../admin/seed.ts';
import type { Seed } from '../admin/seed-schema.ts';
import { newApiKey } from '../engine/tokens.ts';
import { scopes } from '../kernel/permissions.ts';
import { readDemoKey, writeDemoKey } from '../local/connection-file.ts';
import { findAnyKey, findKeyOwner } from '../resources/api-keys/store.ts';
import type { Server } from '../server.ts';

export const demoName = 'Demo';

/**
 * The API key of the demo organization, which a first start without a seed file creates. The key is stored before it is created, so
 * that a start that fails in between does not lose it. Undefined when there is no demo organization or its key is no longer valid.
 */
export async function openDemo(
  server: Server,
  dataDirectory: string | undefined,
  mayCreate: boolean,
): Promise<string | undefined> {
  const stored = dataDirectory === undefined ? undefined : await readDemoKey(dataDirectory);
  if (!mayCreate || (await findAnyKey(server.reader)))
    return stored !== undefined && (await isActive(server, stored)) ? stored : undefined;
  const key = stored ?? newApiKey().key;
  if (dataDirectory !== undefined) await writeDemoKey(dataDirectory, key);
  const apiKeys = [{ name: 'demo', key, scopes: [...scopes], mayReset: true }];
  const seed: Seed = { organizations: [{ name: demoName, applications: [{ name: 'demo', apiKeys }] }] };
  await applySeed(seed, server, server.wallClock);
  return key;
}

async function isActive({ reader }: Server, key: string): Promise<boolean> {
  const owner = await findKeyOwner(reader, createHash('sha256').update(key).digest());
  return owner?.status === 'active';
}
