/**
 * Everything that is measured, ready to run. All processes are up before the first round and only one of them works at a
 * time; an idle server costs the others nothing that can be measured.
 */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { Postgres } from '../test/support/postgres.ts';
import { startServer } from '../test/support/processes.ts';
import { API_KEY, createPayment, createPayments, readPayment, SEED } from './api.ts';
import { baselineStatements, type Statement } from './baseline.ts';
import { runDriver } from './driver.ts';
import { runLoad } from './load.ts';
import type { Measurement } from './measurement.ts';
import type { Options } from './options.ts';
import { findPgbench, runPgbench } from './pgbench.ts';
import { createRequests, PAYMENTS_PATH, readRequests } from './requests.ts';
import { readTables, sampleCreate } from './sample.ts';

const PAYMENTS_READ = 1_000;

export const CONTENDERS = {
  baseline: 'baseline: the same rows, one transaction each',
  postgres: 'creates on PostgreSQL',
  pglite: 'creates on PGlite',
  barePost: 'bare Fastify POST',
  read: 'GET of one payment on PostgreSQL',
  bareGet: 'bare Fastify GET, the same bytes',
} as const;

export type ContenderName = keyof typeof CONTENDERS;

export interface Contender {
  readonly name: ContenderName;
  run(seconds: number): Promise<Measurement>;
}

export interface Stage {
  readonly contenders: readonly Contender[];
  readonly baselineDriver: string;
  /** Addresses of the databases that contenders write to. */
  readonly databases: readonly string[];
  readonly remarks: readonly string[];
}

/** Each started thing gives back how to end it, in `cleanups`, so that a failure half way leaves nothing behind. */
export async function setStage(
  options: Options,
  postgres: Postgres,
  folder: string,
  cleanups: (() => Promise<unknown>)[],
  say: (line: string) => void,
): Promise<Stage> {
  const seed = path.join(folder, 'seed.json');
  writeFileSync(seed, JSON.stringify(SEED));
  const start = async (
    where: { databaseUrl: string } | { dataDir: string },
    profile?: string,
  ): Promise<string> => {
    const nodeArgs = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
    const server = await startServer({ ...where, seed, nodeArgs });
    cleanups.push(() => server.stop());
    return server.url;
  };
  const warmupMs = options.warmupSeconds * 1000;
  const load = (url: string, seconds: number) => ({ url, warmupMs, measureMs: seconds * 1000 });
  const contenders: Contender[] = [];
  const remarks: string[] = [];
  const databases: string[] = [];

  say('starting Sandbank on PostgreSQL');
  const database = await postgres.createDatabase('sandbank_bench');
  databases.push(database);
  const url = await start({ databaseUrl: database }, options.profile);
  const ids = await createPayments(url, options.reads ? PAYMENTS_READ : 1);
  const answer = path.join(folder, 'answer.json');
  writeFileSync(answer, await readPayment(url, ids[0] ?? ''));
  const bare = await startBare(answer, cleanups);

  let baselineDriver = 'not used';
  if (options.creates) {
    say('deriving the baseline from two creates');
    const baseline = await prepareBaseline(postgres, start);
    databases.push(baseline.url);
    remarks.push(...baseline.remarks);
    const pgbench = findPgbench();
    baselineDriver =
      pgbench?.version ?? 'own driver: 16 `pg` clients in one Node process (pgbench was not found)';
    let runs = 0;
    const runBaseline = (seconds: number): Promise<Measurement> => {
      runs += 1;
      const { statements } = baseline;
      if (pgbench === undefined) return runDriver(baseline.url, statements, seconds);
      return runPgbench(pgbench, { databaseUrl: baseline.url, statements, seconds, number: runs, folder });
    };
    say('starting Sandbank on PGlite');
    const embedded = await start({ dataDir: path.join(folder, 'data') }, options.profile);
    const creates = (target: string) => (seconds: number) =>
      runLoad({
        ...load(target, seconds),
        expectedStatus: 201,
        requestsFor: (index) => createRequests(API_KEY, index),
      });
    contenders.push(
      {
        name: 'baseline',
        async run(seconds) {
          await runBaseline(options.warmupSeconds);
          return runBaseline(seconds);
        },
      },
      { name: 'postgres', run: creates(url) },
      { name: 'pglite', run: creates(embedded) },
      { name: 'barePost', run: creates(bare) },
    );
  }
  if (options.reads) {
    remarks.push(
      `GET goes over ${PAYMENTS_READ} payments, which the server keeps and only confirms; first reads cost more.`,
    );
    const paths = ids.map((id) => `${PAYMENTS_PATH}/${id}`);
    const reads = (target: string) => (seconds: number) =>
      runLoad({
        ...load(target, seconds),
        expectedStatus: 200,
        requestsFor: (index) => readRequests(API_KEY, paths, index),
      });
    contenders.push({ name: 'read', run: reads(url) }, { name: 'bareGet', run: reads(bare) });
  }
  return { contenders, baselineDriver, databases, remarks };
}

/** A database of its own, migrated and seeded by the server itself, which then leaves it to the baseline alone. */
async function prepareBaseline(
  postgres: Postgres,
  start: (where: { databaseUrl: string }) => Promise<string>,
): Promise<{ url: string; statements: Statement[]; remarks: string[] }> {
  const url = await postgres.createDatabase('sandbank_baseline');
  const server = await start({ databaseUrl: url });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const tables = await readTables(client);
    // One create comes before the two samples: a first create may write rows that later ones find in place.
    await createPayment(server);
    const first = await sampleCreate(client, tables, () => createPayment(server));
    const second = await sampleCreate(client, tables, () => createPayment(server));
    const written = [...first.inserted].map(([name, rows]) => `${name} (${rows.length})`).join(', ');
    const remarks = [`Rows of one create: ${written}.`];
    if (first.updated.length > 0)
      remarks.push(`A create also changes rows of ${first.updated.join(', ')}; the baseline does not.`);
    return { url, statements: baselineStatements(tables, first, second), remarks };
  } finally {
    await client.end();
  }
}

async function startBare(answer: string, cleanups: (() => Promise<unknown>)[]): Promise<string> {
  const file = fileURLToPath(new URL('bare.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', file, answer], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  cleanups.push(async () => child.kill());
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`The bare route ended with code ${code}.`)));
    child.stdout.once('data', (text: Buffer) => resolve(text.toString().trim()));
  });
}
