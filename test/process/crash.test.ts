import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, inject, it, vi } from 'vitest';
import { effort } from '../support/effort.ts';
import { createDatabase, migratedDatabase } from '../support/postgres.ts';
import { type ServerOptions, type ServerProcess, spawnServer, startServer } from '../support/processes.ts';
import { randomFrom, testSeed } from '../support/seed.ts';
import { createPayment, temporaryFolder } from './support/client.ts';
import { openCrashDeployment, openCrashInbox, type Point, runCrashes } from './support/crash-run.ts';
import { queryEmbedded, queryPostgres } from './support/database-rows.ts';
import { sleep, type TestDatabase } from './support/databases.ts';

/** From the lock of the data directory to the first request; a later kill is an ordinary one. */
const FIRST_START_MS_MAX = 1_500;
const migrations = readdirSync(new URL('../../migrations/', import.meta.url)).filter((name) =>
  /^\d{4}_.*\.sql$/.test(name),
);
/** A share of the kills, for work on this test: 0.2 runs a fifth of them. */
const SHARE = Number(process.env.SANDBANK_CRASH_SHARE ?? effort(1, 3));

const embedded = async (folder: string): Promise<TestDatabase> => {
  const dataDir = path.join(folder, 'data');
  return { options: { dataDir }, inspect: (work) => queryEmbedded(dataDir, work) };
};
const postgres = async (): Promise<TestDatabase> => {
  const databaseUrl = await migratedDatabase(inject('postgresUrl'));
  return { options: { databaseUrl }, inspect: (work) => queryPostgres(databaseUrl, work) };
};

const embeddedPoints: readonly Point[] = [
  ...['wal', 'response', 'outcome', 'commit', 'claim', 'advance', 'random', 'query'],
] as const;
const postgresPoints = embeddedPoints.filter((point) => point !== 'wal');

interface Target {
  readonly name: string;
  readonly nodes: number;
  readonly points: readonly Point[];
  readonly open: (folder: string) => Promise<TestDatabase>;
}

const EMBEDDED_KILLS = 15;
const POSTGRES_KILLS = 18;
/** For hangs only: on a quiet machine it takes about four minutes. */
const KILLS_MS_MAX = 3_600_000;

/** This many points in turn, starting at the given one. */
function pointsFrom(all: readonly Point[], first: number, kills: number): readonly Point[] {
  const count = Math.max(1, Math.round(kills * SHARE));
  return Array.from({ length: count }, (_, kill) => all[(first + kill) % all.length] ?? 'random');
}

const targets: readonly Target[] = [
  ...[0, EMBEDDED_KILLS].map((first) => ({
    name: 'the embedded database',
    nodes: 1,
    points: pointsFrom(embeddedPoints, first, EMBEDDED_KILLS),
    open: embedded,
  })),
  ...[1, 2].map((nodes) => ({
    name: `PostgreSQL with ${nodes} ${nodes === 1 ? 'node' : 'nodes'}`,
    nodes,
    points: pointsFrom(postgresPoints, 0, POSTGRES_KILLS),
    open: postgres,
  })),
];

/** All at the same time: while one waits for the lease of a killed process, the others use the processors. */
describe('kill -9 under load', () => {
  let cutDeliveries = 0;

  it.concurrent.for(targets.map((target, number) => ({ ...target, number })))(
    'loses nothing and executes nothing twice on $name',
    { timeout: KILLS_MS_MAX },
    async ({ name, nodes, points, open, number }) => {
      const inbox = await openCrashInbox();
      const deployment = openCrashDeployment(inbox);
      try {
        const random = randomFrom(testSeed + number);
        const database = await open(deployment.path);
        const { text, cut } = await runCrashes({ database, deployment, inbox, nodes, points, random });
        console.log(`${name}: seed ${testSeed}, ${points.join()}: ${text}`);
        cutDeliveries += cut;
      } finally {
        await deployment.remove();
        await inbox.close();
      }
    },
  );

  // Kills that cut no delivery prove little about deliveries. On a slow machine those of one target may cut none.
  it.skipIf(SHARE < 1)('cut deliveries', () => {
    expect(cutDeliveries).toBeGreaterThan(0);
  });
});

describe('kill -9 during the first start', () => {
  const countdown = (max: number, random: () => number) => 1 + Math.floor(random() * max);

  /** Starts on an empty database and returns when the process is gone. */
  async function startAndDie(
    options: ServerOptions,
    crashAt: { readonly point: Point; readonly countdown: number } | undefined,
    moment: () => Promise<unknown>,
  ): Promise<void> {
    const preload = new URL('./support/crash-points.mjs', import.meta.url).href;
    const child = spawnServer({
      ...options,
      env: { NODE_OPTIONS: `--import=${preload}`, ...(crashAt ? { CRASH_AT: JSON.stringify(crashAt) } : {}) },
    });
    const closed = once(child, 'close');
    if (!crashAt) {
      await moment();
      child.kill('SIGKILL');
    }
    const [, signal] = await closed;
    expect(signal).toBe('SIGKILL');
  }

  const onEmbeddedStart = {
    'while the template is unpacked': undefined,
    'at a random time': undefined,
    'in the middle of a write to the write-ahead log': { point: 'wal', max: 4 },
    'after a random query': { point: 'query', max: 12 },
  } as const;

  it.for(Object.keys(onEmbeddedStart) as (keyof typeof onEmbeddedStart)[])(
    'leaves an embedded database that the next start serves, killed %s',
    async (when) => {
      const random = randomFrom(testSeed);
      const folder = temporaryFolder();
      const dataDir = path.join(folder.path, 'data');
      let server: ServerProcess | undefined;
      try {
        const crashAt = onEmbeddedStart[when];
        const sign = when === 'at a random time' ? 'lock' : 'db.unfinished';
        await startAndDie(
          { dataDir, seed: folder.seed },
          crashAt && { point: crashAt.point, countdown: countdown(crashAt.max, random) },
          async () => {
            // On a busy machine the test may see only the output after the marker.
            const signs = [sign, 'db'].map((file) => path.join(dataDir, file));
            await vi.waitUntil(() => signs.some((file) => existsSync(file)), { interval: 1 });
            if (sign === 'lock') await sleep(random() * FIRST_START_MS_MAX);
          },
        );
        server = await startServer({ dataDir, seed: folder.seed });
        await expectServes(server);
        expect(await server.stop()).toBe(0);
      } finally {
        await server?.kill();
        folder.remove();
      }
    },
  );

  it.for(['commit', 'commit', 'query'] as const)(
    'leaves a PostgreSQL database that the next start migrates and seeds once, killed at a %s',
    async (point) => {
      const random = randomFrom(testSeed);
      const folder = temporaryFolder();
      const databaseUrl = await createDatabase(inject('postgresUrl'));
      let server: ServerProcess | undefined;
      try {
        const crashAt = { point, countdown: countdown(10, random) };
        await startAndDie({ databaseUrl, seed: folder.seed }, crashAt, async () => undefined);
        server = await startServer({ databaseUrl, seed: folder.seed });
        await expectServes(server);
        await queryPostgres(databaseUrl, async (query) => {
          expect(await query('select name, version from organizations')).toEqual([
            { name: 'Acme', version: 1 },
          ]);
          expect(await query('select name from schema_migrations')).toHaveLength(migrations.length);
        });
        expect(await server.stop()).toBe(0);
      } finally {
        await server?.kill();
        folder.remove();
      }
    },
  );

  async function expectServes({ url }: ServerProcess): Promise<void> {
    expect(await createPayment(url, 'first', 'first')).toMatchObject({ status: 201, isReplay: false });
  }
});
