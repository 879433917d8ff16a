/** What another node changes is found by the revision of a key, whichever of its rows has changed. */
import { hash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { findChangedKeys, findKeyOwner } from '../../src/resources/api-keys/store.ts';
import type { Server } from '../../src/server.ts';
import { expectOk } from '../support/api-client.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { newKey, type Tenant, tenant } from '../support/tenant.ts';

const hashOf = (key: string) => hash('sha256', key, 'buffer');
const latePlan = {
  on: 'requests',
  fault: { type: 'error', code: 'internal_error' },
  count: 1,
  operations: ['listRefunds'],
};

describe.each(databaseKinds)('the revision of a key on %s', (kind) => {
  let server: Server;
  beforeAll(async () => {
    server = await sharedServer(kind);
  });
  const run = (text: string, values: readonly unknown[]) => server.database.query({ name: '', text }, values);
  const knownOf = async ({ key }: Tenant) => ({
    hash: hashOf(key),
    revision: (await findKeyOwner(server.reader, hashOf(key)))?.revision ?? null,
  });

  it.each<[what: string, change: (holder: Tenant) => Promise<unknown>]>([
    [
      'the key',
      ({ orgId, keyId }) =>
        run(`update api_keys set name = 'b' where org_id = $1 and id = $2`, [orgId, keyId]),
    ],
    [
      'its application',
      ({ orgId, appId }) =>
        run(`update applications set name = 'b' where org_id = $1 and id = $2`, [orgId, appId]),
    ],
    [
      'its organization',
      ({ orgId }) => run(`update organizations set name = 'b' where org_id = $1`, [orgId]),
    ],
    [
      'a new fault plan',
      async ({ client }) => expectOk(await client.post('developer_api_fault_plans', latePlan)),
    ],
    [
      'the key, which is deleted',
      ({ orgId, keyId }) => run('delete from api_keys where org_id = $1 and id = $2', [orgId, keyId]),
    ],
  ])('changes with %s, and the revisions of other keys do not', async (_what, change) => {
    const [changed, other] = await Promise.all([tenant(server), tenant(server)]);
    const unknown = { hash: hashOf(newKey()), revision: null };
    const known = [await knownOf(other), await knownOf(changed), unknown];
    expect(await findChangedKeys(server.reader, known)).toEqual([]);
    await change(changed);
    expect(await findChangedKeys(server.reader, known)).toEqual([known[1]]);
  });

  it('changes when a fault plan ends, and when a key appears', async () => {
    const holder = await tenant(server);
    const plan = expectOk(await holder.client.post('developer_api_fault_plans', latePlan));
    const known = await knownOf(holder);
    expectOk(await holder.client.post(`developer_api_fault_plans/${plan.id}/cancel`));
    const appeared = { ...known, revision: null };
    expect(await findChangedKeys(server.reader, [known, appeared])).toEqual([known, appeared]);
  });
});
