/**
 * Prepares all benchmarks. All processes are started before the first round, and only one of them is busy at a time; an idle
 * server has no measurable effect on the others.
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
import { FirstReads } from './first-reads.ts';
import { runLoad } from './load.ts';
import type { Measurement } from './measurement.ts';
import type { Options } from './options.ts';
import { findPgbench, runPgbench } from './pgbench.ts';
import { createRequests, type NextRequest, PAYMENTS_PATH, readRequests } from './requests.ts';
import { readTables, sampleCreate } from './sample.ts';
import { type WalkKind, Walks } from './walk.ts';

const PAYMENTS_READ = 1_000;

export const BENCHMARKS = {
  baseline: 'baseline: the same rows, one transaction per create',
  postgres: 'creates on PostgreSQL',
  pglite: 'creates on PGlite',
  walk: 'walk on PostgreSQL, transitions',
  pgliteWalk: 'walk on PGlite, transitions',
  walkAtOnce: 'walk in one request on PostgreSQL, transitions',
  pgliteWalkAtOnce: 'walk in one request on PGlite, transitions',
  barePost: 'bare Fastify POST',
  read: 'GET payment on PostgreSQL',
  firstRead: 'first GET of a payment on PostgreSQL',
  bareGet: 'bare Fastify GET, the same bytes',
} as const;

export type BenchmarkName = keyof typeof BENCHMARKS;

interface Benchmark {
  readonly name: BenchmarkName;
  /** Prepares a run of `seconds`; called before the checkpoint and the wait for an idle machine. */
  prepare?(seconds: number): Promise<void>;
  run(seconds: number): Promise<Measurement>;
}

export interface PreparedBench {
  /** In execution order. */
  readonly benchmarks: readonly Benchmark[];
  readonly baselineDriver: string;
  /** URLs of the databases that benchmarks write to. */
  readonly databases: readonly string[];
  readonly remarks: readonly string[];
  /** Checks after the last round. Each returns a summary, or throws. */
  readonly checks: readonly (() => Promise<string>)[];
}

/** Shared context in which the parts of the bench register their benchmarks, databases, remarks and checks. */
interface Setup {
  readonly options: Options;
  readonly postgres: Postgres;
  readonly folder: string;
  readonly log: (line: string) => void;
  readonly benchmarks: Benchmark[];
  readonly databases: string[];
  readonly remarks: string[];
  readonly checks: (() => Promise<string>)[];
  start(where: { databaseUrl: string } | { dataDir: string }, profile?: string): Promise<string>;
  load(url: string, seconds: number, requestsFor: (connection: number) => NextRequest): Promise<Measurement>;
}

/** Every started process adds its clean-up to `cleanups`, so that a failure half-way leaves nothing behind. */
export async function setUpBenchmarks(
  options: Options,
  postgres: Postgres,
  folder: string,
  cleanups: (() => Promise<unknown>)[],
  log: (line: string) => void,
): Promise<PreparedBench> {
  const seed = path.join(folder, 'seed.json');
  writeFileSync(seed, JSON.stringify(SEED));
  const setup: Setup = {
    options,
    postgres,
    folder,
    log,
    benchmarks: [],
    databases: [],
    remarks: [],
    checks: [],
    async start(where, profile) {
      const nodeArgs = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
      const server = await startServer({ ...where, seed, nodeArgs });
      cleanups.push(() => server.stop());
      return server.url;
    },
    load: (url, seconds, requestsFor) =>
      runLoad({ url, warmupMs: options.warmupSeconds * 1000, measureMs: seconds * 1000, requestsFor }),
  };

  log('starting Sandbank on PostgreSQL');
  const database = await postgres.createDatabase('sandbank_bench');
  setup.databases.push(database);
  const url = await setup.start({ databaseUrl: database }, options.profile);
  const ids = await createPayments(url, options.parts.has('reads') ? PAYMENTS_READ : 1);
  const answer = path.join(folder, 'answer.json');
  writeFileSync(answer, await readPayment(url, ids[0] ?? ''));
  const bare = await startBare(answer, cleanups);

  const baselineDriver = options.parts.has('creates') ? await addBaseline(setup) : 'not used';
  if (options.parts.has('creates') || options.parts.has('walk')) await addCreates(setup, url);
  if (options.parts.has('walk')) await addWalks(setup);
  if (options.parts.has('creates')) {
    const run = (seconds: number) =>
      setup.load(bare, seconds, (connection) => createRequests(API_KEY, connection));
    setup.benchmarks.push({ name: 'barePost', run });
  }
  if (options.parts.has('reads')) await addReads(setup, url, bare, ids);
  return { ...setup, baselineDriver };
}

async function addBaseline(setup: Setup): Promise<string> {
  const { options, folder } = setup;
  setup.log('deriving the baseline from two create requests');
  const baseline = await prepareBaseline(setup.postgres, setup.start);
  setup.databases.push(baseline.url);
  setup.remarks.push(...baseline.remarks);
  const pgbench = findPgbench();
  let runs = 0;
  const runBaseline = (seconds: number): Promise<Measurement> => {
    runs += 1;
    const { statements } = baseline;
    if (pgbench === undefined) return runDriver(baseline.url, statements, seconds);
    return runPgbench(pgbench, { databaseUrl: baseline.url, statements, seconds, number: runs, folder });
  };
  setup.benchmarks.push({
    name: 'baseline',
    async run(seconds) {
      await runBaseline(options.warmupSeconds);
      return runBaseline(seconds);
    },
  });
  return pgbench?.version ?? 'built-in driver: 16 `pg` clients in one Node process (pgbench was not found)';
}

async function addCreates(setup: Setup, url: string): Promise<void> {
  setup.log('starting Sandbank on PGlite');
  const dataDir = path.join(setup.folder, 'data');
  const embedded = await setup.start({ dataDir }, setup.options.profile);
  const creates = (serverUrl: string) => (seconds: number) =>
    setup.load(serverUrl, seconds, (connection) => createRequests(API_KEY, connection));
  setup.benchmarks.push({ name: 'postgres', run: creates(url) }, { name: 'pglite', run: creates(embedded) });
}

/** Uses separate servers and databases, so that rows of the walks do not slow the creates, which have a target. */
async function addWalks(setup: Setup): Promise<void> {
  setup.log('starting Sandbank for the walks on PostgreSQL and PGlite');
  const { profile } = setup.options;
  const database = await setup.postgres.createDatabase('sandbank_walk');
  setup.databases.push(database);
  const onPostgres = new Walks(await setup.start({ databaseUrl: database }, profile));
  const dataDir = path.join(setup.folder, 'walk-data');
  const onPglite = new Walks(await setup.start({ dataDir }, profile));
  const walk = (walks: Walks, kind: WalkKind) => (seconds: number) =>
    setup.load(walks.url, seconds, (connection) => walks.requests(API_KEY, connection, kind));
  setup.benchmarks.push(
    { name: 'walk', run: walk(onPostgres, 'step by step') },
    { name: 'pgliteWalk', run: walk(onPglite, 'step by step') },
    { name: 'walkAtOnce', run: walk(onPostgres, 'at once') },
    { name: 'pgliteWalkAtOnce', run: walk(onPglite, 'at once') },
  );
  setup.checks.push(
    async () => `Ledger on PostgreSQL after the last round: ${await onPostgres.check()}.`,
    async () => `Ledger on PGlite after the last round: ${await onPglite.check()}.`,
  );
}

async function addReads(setup: Setup, url: string, bare: string, ids: readonly string[]): Promise<void> {
  setup.log('starting Sandbank for the first reads');
  const database = await setup.postgres.createDatabase('sandbank_first_reads');
  const unread = await setup.start({ databaseUrl: database }, setup.options.profile);
  const { paymentId } = await createPayment(unread);
  const firstReads = new FirstReads(database, paymentId);
  setup.remarks.push(
    `GET reads ${PAYMENTS_READ} payments, which the server has cached and only revalidates; a first GET reads a payment that is not cached.`,
  );
  const paths = ids.map((id) => `${PAYMENTS_PATH}/${id}`);
  const reads = (serverUrl: string) => (seconds: number) =>
    setup.load(serverUrl, seconds, (connection) => readRequests(API_KEY, paths, connection));
  setup.benchmarks.push(
    { name: 'read', run: reads(url) },
    {
      name: 'firstRead',
      prepare: (seconds) => firstReads.prepare(seconds + setup.options.warmupSeconds),
      run: (seconds) => setup.load(unread, seconds, () => firstReads.requests(API_KEY)),
    },
    { name: 'bareGet', run: reads(bare) },
  );
}

/** A separate database, migrated and seeded by a server, then used by the baseline only. */
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
    // One create precedes the two samples, because the first may insert rows that later ones reuse.
    await createPayment(server);
    const first = await sampleCreate(client, tables, () => createPayment(server));
    const second = await sampleCreate(client, tables, () => createPayment(server));
    const written = [...first.inserted].map(([name, rows]) => `${name} (${rows.length})`).join(', ');
    const remarks = [`Rows of one create request: ${written}.`];
    if (first.updated.length > 0)
      remarks.push(
        `A create request also updates rows of ${first.updated.join(', ')}; the baseline does not.`,
      );
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
    child.once('exit', (code) => reject(new Error(`The bare Fastify process exited with code ${code}.`)));
    child.stdout.once('data', (text: Buffer) => resolve(text.toString().trim()));
  });
}
