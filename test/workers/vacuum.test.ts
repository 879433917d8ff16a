import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import { vacuum } from '../../src/workers/vacuum.ts';
import { openEngine, openServer } from '../support/server.ts';
import { tenant } from '../support/tenant.ts';

const rows = 3_000;
const rounds = 5;

let server: Server;
beforeAll(async () => {
  server = await openServer('pglite');
});
afterAll(() => server?.close());

test('the embedded database uses the space of deleted rows again', async () => {
  const { orgId, appId } = await tenant(server);
  const { database } = server;
  const run = async (text: string) => (await database.execute(text, [])).rows as Record<string, unknown>[];
  const sizes: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await run(`insert into idempotency (org_id, app_id, key, fingerprint, status, body, created_at)
      select '${orgId}', '${appId}', 'round ${round} ' || n, sha256('old'), 201, repeat('x', 400), now() - interval '2 days'
      from generate_series(1, ${rows}) n`);
    const engine = openEngine(database);
    expect(await engine.reap(Date.now() - 86_400_000)).toBeGreaterThanOrEqual(rows);
    await vacuum(database, () => false);
    const [size] = await run(`select pg_total_relation_size('idempotency')::integer as bytes`);
    sizes.push(Number(size?.bytes));
  }
  const [, second = 0] = sizes;
  expect(sizes.at(-1), sizes.join(', ')).toBeLessThan(second * 1.2);
  expect(await vacuum(database, () => false)).toBe(0);
});
