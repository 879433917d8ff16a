import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { effort } from '../support/effort.ts';
import { type ServerProcess, spawnServer, startServer } from '../support/processes.ts';
import { createPayment, temporaryFolder } from './client.ts';
import { passed, placesIn, randomFrom, SEED } from './kills.ts';
import { type Claim, expectListed, retry, startLoad } from './load.ts';
import { expectWhole } from './records.ts';

// delivery-kills.ts kills servers in the middle of creates as well, ten times on each database, and misses none.
const ROUNDS = effort(2, 10);
const KILL_AFTER_MS_MAX = 400;
const FIRST_STARTS = 3;
// From the lock to the first answer; what comes later is an ordinary crash.
const FIRST_START_MS_MAX = 1_500;

const folder = temporaryFolder();
let server: ServerProcess | undefined;

afterAll(async () => {
  await server?.kill();
  folder.remove();
});

describe.each(placesIn(folder.path))('kill -9 under load on %s', (name, open) => {
  it('loses no acknowledged payment and makes none twice', async () => {
    const random = randomFrom(SEED);
    const { options, inspect } = await open();
    const start = () => startServer({ ...options, seed: folder.seed });
    const claims: Claim[] = [];
    const totals = { acknowledged: 0, found: 0, made: 0 };

    server = await start();
    for (let round = 0; round < ROUNDS; round += 1) {
      const load = startLoad(server.url, `${round}`);
      await load.acknowledged(1);
      await passed(random() * KILL_AFTER_MS_MAX);
      await server.kill();
      await load.ended;
      expect(load.refused.map(({ status }) => status)).toEqual([]);
      expect(load.lost()).toBeGreaterThan(0);

      server = await start();
      const { repeated, found, made } = await retry(server.url, load.claims);
      claims.push(...load.claims);
      totals.acknowledged += repeated;
      totals.found += found;
      totals.made += made;
    }
    console.log(
      `${name}: seed ${SEED}, ${ROUNDS} kills, ${totals.acknowledged} acknowledged, ` +
        `${totals.found + totals.made} unknown, of which ${totals.found} had been written`,
    );

    await expectListed(server.url, claims);
    expect(await server.stop()).toBe(0);
    await inspect((query) =>
      expectWhole(
        query,
        claims.map(({ id }) => String(id)),
      ),
    );
  });
});

describe('kill -9 during the first start', () => {
  it('leaves nothing behind that keeps the next start from serving', async () => {
    const random = randomFrom(SEED);
    for (let round = 0; round < FIRST_STARTS; round += 1) {
      const dataDir = path.join(folder.path, `first-${round}`);
      const child = spawnServer({ dataDir });
      const closed = once(child, 'close');
      await vi.waitUntil(() => existsSync(path.join(dataDir, 'lock')), { timeout: 60_000, interval: 1 });
      await passed(random() * FIRST_START_MS_MAX);
      child.kill('SIGKILL');
      await closed;

      server = await startServer({ dataDir, seed: folder.seed });
      const answer = await createPayment(server.url, 'first', 'first');
      expect(answer).toMatchObject({ status: 201, isReplay: false });
      await server.kill();
    }
  });
});
