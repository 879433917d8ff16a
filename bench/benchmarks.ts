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
import {
  API_KEY,
  createPayment,
  createPayments,
  MANY_KEYS,
  readPayment,
  SEED,
  SEED_WITH_MANY_KEYS,
} from './api.ts';
import { baselineStatements, type Statement } from './baseline.ts';
import { runDriver } from './driver.ts';
import { FirstReads } from './first-reads.ts';
import { runLoad } from './load.ts';
import type { Measurement } from './measurement.ts';
import type { Options } from './options.ts';
import { findPgbench, type Pgbench, runPgbench } from './pgbench.ts';
import { createPlainTables, plainTablesStatements } from './plain-tables.ts';
import {
  createRequests,
  createRequestsInTurn,
  type NextRequest,
  PAYMENTS_PATH,
  readRequest,
  readRequests,
} from './requests.ts';
import { readTables, sampleCreate } from './sample.ts';
import { type WalkKind, Walks } from './walk.ts';

const PAYMENTS_READ = 1_000;

export const BENCHMARKS = {
  plainTables: 'plain tables: five rows, one transaction per create',
  baseline: 'baseline: the rows of our schema, one transaction per create',
  postgres: 'creates on PostgreSQL',
  manyKeys: 'creates on PostgreSQL, 400 API keys',
  pglite: 'creates on PGlite',
  pgliteManyKeys: 'creates on PGlite, 400 API keys',
  walk: 'walk on PostgreSQL, transitions',
  pgliteWalk: 'walk on PGlite, transitions',
  walkAtOnce: 'walk in one request on PostgreSQL, transitions',
  pgliteWalkAtOnce: 'walk in one request on PGlite, transitions',
  bareGet: 'bare node:http GET, the bytes of a payment',
  read: 'GET payment on PostgreSQL',
  pgliteRead: 'GET payment on PGlite',
  firstRead: 'first GET of a payment on PostgreSQL',
  page: 'page of 20 payments on PostgreSQL',
  pglitePage: 'page of 20 payments on PGlite',
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

type Where = { readonly databaseUrl: string } | { readonly dataDir: string };

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
  start(where: Where, seed?: string): Promise<string>;
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
  const seeds = { oneKey: path.join(folder, 'seed.json'), manyKeys: path.join(folder, 'many-keys.json') };
  writeFileSync(seeds.oneKey, JSON.stringify(SEED));
  writeFileSync(seeds.manyKeys, JSON.stringify(SEED_WITH_MANY_KEYS));
  const setup: Setup = {
    options,
    postgres,
    folder,
    log,
    benchmarks: [],
    databases: [],
    remarks: [],
    checks: [],
    async start(where, seed = seeds.oneKey) {
      const { profile } = options;
      const nodeArgs = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
      const server = await startServer({ ...where, seed, nodeArgs });
      cleanups.push(() => server.stop());
      return server.url;
    },
    load: (url, seconds, requestsFor) =>
      runLoad({ url, warmupMs: options.warmupSeconds * 1000, measureMs: seconds * 1000, requestsFor }),
  };
  const { parts } = options;
  let baselineDriver = 'not used';
  if (parts.has('creates') || parts.has('walk') || parts.has('reads')) {
    const servers = await startBoth(setup, seeds.manyKeys);
    if (parts.has('creates')) baselineDriver = await addYardsticks(setup, servers);
    if (parts.has('creates') || parts.has('walk')) addCreates(setup, servers);
    if (parts.has('walk')) await addWalks(setup);
    if (parts.has('reads')) await addReads(setup, servers, cleanups);
  }
  return { ...setup, baselineDriver };
}

/** The servers for creates and reads. */
interface Servers {
  readonly onPostgres: string;
  readonly onPglite: string;
}

async function startBoth(setup: Setup, seed: string): Promise<Servers> {
  setup.log('starting Sandbank on PostgreSQL and PGlite');
  const databaseUrl = await setup.postgres.createDatabase('sandbank_bench');
  setup.databases.push(databaseUrl);
  const onPostgres = await setup.start({ databaseUrl }, seed);
  const dataDir = path.join(setup.folder, 'data');
  return { onPostgres, onPglite: await setup.start({ dataDir }, seed) };
}

/** Adds the two kinds of rows that pgbench inserts: those of plain tables, and those of our schema. */
async function addYardsticks(setup: Setup, { onPostgres }: Servers): Promise<string> {
  const plainTables = await setup.postgres.createDatabase('plain_tables');
  await createPlainTables(plainTables);
  const { paymentId } = await createPayment(onPostgres);
  const payment = await readPayment(onPostgres, paymentId);
  setup.log('deriving the baseline from two create requests');
  const baseline = await prepareBaseline(setup.postgres, setup.start);
  setup.remarks.push(...baseline.remarks);
  setup.databases.push(plainTables, baseline.url);
  const pgbench = findPgbench();
  addTransactions(setup, pgbench, 'plainTables', plainTables, plainTablesStatements(payment));
  addTransactions(setup, pgbench, 'baseline', baseline.url, baseline.statements);
  return pgbench?.version ?? 'built-in driver: 16 `pg` clients in one Node process (pgbench was not found)';
}

function addTransactions(
  { options, folder, benchmarks }: Setup,
  pgbench: Pgbench | undefined,
  name: BenchmarkName,
  databaseUrl: string,
  statements: readonly Statement[],
): void {
  let runs = 0;
  const runOnce = (seconds: number): Promise<Measurement> => {
    runs += 1;
    if (pgbench === undefined) return runDriver(databaseUrl, statements, seconds);
    return runPgbench(pgbench, { databaseUrl, statements, seconds, number: runs, folder });
  };
  const run = async (seconds: number): Promise<Measurement> => {
    await runOnce(options.warmupSeconds);
    return runOnce(seconds);
  };
  benchmarks.push({ name, run });
}

function addCreates(setup: Setup, { onPostgres, onPglite }: Servers): void {
  const creates = (url: string) => (seconds: number) =>
    setup.load(url, seconds, (connection) => createRequests(API_KEY, connection));
  const byManyKeys = (url: string) => (seconds: number) =>
    setup.load(url, seconds, (connection) => createRequestsInTurn(MANY_KEYS, connection));
  setup.benchmarks.push(
    { name: 'postgres', run: creates(onPostgres) },
    { name: 'pglite', run: creates(onPglite) },
  );
  if (!setup.options.parts.has('creates')) return;
  setup.benchmarks.push(
    { name: 'manyKeys', run: byManyKeys(onPostgres) },
    { name: 'pgliteManyKeys', run: byManyKeys(onPglite) },
  );
}

/** Uses separate servers and databases, so that rows of the walks do not slow the creates, which have a target. */
async function addWalks(setup: Setup): Promise<void> {
  setup.log('starting Sandbank for the walks on PostgreSQL and PGlite');
  const database = await setup.postgres.createDatabase('sandbank_walk');
  setup.databases.push(database);
  const onPostgres = new Walks(await setup.start({ databaseUrl: database }));
  const dataDir = path.join(setup.folder, 'walk-data');
  const onPglite = new Walks(await setup.start({ dataDir }));
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

async function addReads(
  setup: Setup,
  { onPostgres, onPglite }: Servers,
  cleanups: (() => Promise<unknown>)[],
): Promise<void> {
  setup.log('starting Sandbank for the first reads, and the bare server');
  const database = await setup.postgres.createDatabase('sandbank_first_reads');
  const unread = await setup.start({ databaseUrl: database });
  const { paymentId } = await createPayment(unread);
  const firstReads = new FirstReads(database, paymentId);
  setup.remarks.push(
    `GET reads ${PAYMENTS_READ} payments, which the server has cached and only revalidates; a first GET reads a payment that is not cached.`,
  );
  const answer = path.join(setup.folder, 'answer.json');
  writeFileSync(answer, await readPayment(unread, paymentId));
  const bare = await startBare(answer, cleanups);
  const page = readRequest(API_KEY, PAYMENTS_PATH);
  const pages = (url: string) => (seconds: number) => setup.load(url, seconds, () => () => page);
  const reads = async (url: string) => {
    const paths = (await createPayments(url, PAYMENTS_READ)).map((id) => `${PAYMENTS_PATH}/${id}`);
    return (seconds: number) =>
      setup.load(url, seconds, (connection) => readRequests(API_KEY, paths, connection));
  };
  setup.benchmarks.push(
    // The bare server does not read the path.
    { name: 'bareGet', run: pages(bare) },
    { name: 'read', run: await reads(onPostgres) },
    { name: 'pgliteRead', run: await reads(onPglite) },
    {
      name: 'firstRead',
      prepare: (seconds) => firstReads.prepare(seconds + setup.options.warmupSeconds),
      run: (seconds) => setup.load(unread, seconds, () => firstReads.requests(API_KEY)),
    },
    { name: 'page', run: pages(onPostgres) },
    { name: 'pglitePage', run: pages(onPglite) },
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
    child.once('exit', (code) => reject(new Error(`The bare server exited with code ${code}.`)));
    child.stdout.once('data', (text: Buffer) => resolve(text.toString().trim()));
  });
}
