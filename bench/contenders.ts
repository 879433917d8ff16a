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
import { FirstReads } from './first-reads.ts';
import { runLoad } from './load.ts';
import type { Measurement } from './measurement.ts';
import type { Options } from './options.ts';
import { findPgbench, runPgbench } from './pgbench.ts';
import { createRequests, type NextRequest, PAYMENTS_PATH, readRequests } from './requests.ts';
import { readTables, sampleCreate } from './sample.ts';
import { Walks, type Way } from './walk.ts';

const PAYMENTS_READ = 1_000;

export const CONTENDERS = {
  baseline: 'baseline: the same rows, one transaction each',
  postgres: 'creates on PostgreSQL',
  pglite: 'creates on PGlite',
  walk: 'walk on PostgreSQL, moves',
  pgliteWalk: 'walk on PGlite, moves',
  walkAtOnce: 'walk in one request on PostgreSQL, moves',
  pgliteWalkAtOnce: 'walk in one request on PGlite, moves',
  barePost: 'bare Fastify POST',
  read: 'GET of one payment on PostgreSQL',
  firstRead: 'first GET of a payment on PostgreSQL',
  bareGet: 'bare Fastify GET, the same bytes',
} as const;

export type ContenderName = keyof typeof CONTENDERS;

export interface Contender {
  readonly name: ContenderName;
  /** Makes what a run of so many seconds needs; before the checkpoint and the wait for a quiet machine. */
  prepare?(seconds: number): Promise<void>;
  run(seconds: number): Promise<Measurement>;
}

export interface Stage {
  /** In the order in which they run. */
  readonly contenders: readonly Contender[];
  readonly baselineDriver: string;
  /** Addresses of the databases that contenders write to. */
  readonly databases: readonly string[];
  readonly remarks: readonly string[];
  /** What must be true after the last round. Each says what it found, or throws. */
  readonly checks: readonly (() => Promise<string>)[];
}

/** Where the parts of the bench find what they need, and leave what they made. */
interface Backstage {
  readonly options: Options;
  readonly postgres: Postgres;
  readonly folder: string;
  readonly say: (line: string) => void;
  readonly contenders: Contender[];
  readonly databases: string[];
  readonly remarks: string[];
  readonly checks: (() => Promise<string>)[];
  start(where: { databaseUrl: string } | { dataDir: string }, profile?: string): Promise<string>;
  load(url: string, seconds: number, requestsFor: (connection: number) => NextRequest): Promise<Measurement>;
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
  const backstage: Backstage = {
    options,
    postgres,
    folder,
    say,
    contenders: [],
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

  say('starting Sandbank on PostgreSQL');
  const database = await postgres.createDatabase('sandbank_bench');
  backstage.databases.push(database);
  const url = await backstage.start({ databaseUrl: database }, options.profile);
  const ids = await createPayments(url, options.parts.has('reads') ? PAYMENTS_READ : 1);
  const answer = path.join(folder, 'answer.json');
  writeFileSync(answer, await readPayment(url, ids[0] ?? ''));
  const bare = await startBare(answer, cleanups);

  const baselineDriver = options.parts.has('creates') ? await stageBaseline(backstage) : 'not used';
  if (options.parts.has('creates') || options.parts.has('walk')) await stageCreates(backstage, url);
  if (options.parts.has('walk')) await stageWalks(backstage);
  if (options.parts.has('creates')) {
    const run = (seconds: number) =>
      backstage.load(bare, seconds, (connection) => createRequests(API_KEY, connection));
    backstage.contenders.push({ name: 'barePost', run });
  }
  if (options.parts.has('reads')) await stageReads(backstage, url, bare, ids);
  return { ...backstage, baselineDriver };
}

async function stageBaseline(backstage: Backstage): Promise<string> {
  const { options, folder } = backstage;
  backstage.say('deriving the baseline from two creates');
  const baseline = await prepareBaseline(backstage.postgres, backstage.start);
  backstage.databases.push(baseline.url);
  backstage.remarks.push(...baseline.remarks);
  const pgbench = findPgbench();
  let runs = 0;
  const runBaseline = (seconds: number): Promise<Measurement> => {
    runs += 1;
    const { statements } = baseline;
    if (pgbench === undefined) return runDriver(baseline.url, statements, seconds);
    return runPgbench(pgbench, { databaseUrl: baseline.url, statements, seconds, number: runs, folder });
  };
  backstage.contenders.push({
    name: 'baseline',
    async run(seconds) {
      await runBaseline(options.warmupSeconds);
      return runBaseline(seconds);
    },
  });
  return pgbench?.version ?? 'own driver: 16 `pg` clients in one Node process (pgbench was not found)';
}

async function stageCreates(backstage: Backstage, url: string): Promise<void> {
  backstage.say('starting Sandbank on PGlite');
  const dataDir = path.join(backstage.folder, 'data');
  const embedded = await backstage.start({ dataDir }, backstage.options.profile);
  const creates = (target: string) => (seconds: number) =>
    backstage.load(target, seconds, (connection) => createRequests(API_KEY, connection));
  backstage.contenders.push(
    { name: 'postgres', run: creates(url) },
    { name: 'pglite', run: creates(embedded) },
  );
}

/** On servers and databases of their own: the creates, which have a bar, shall not pay for the rows that walks leave. */
async function stageWalks(backstage: Backstage): Promise<void> {
  backstage.say('starting Sandbank for the walks, on PostgreSQL and on PGlite');
  const { profile } = backstage.options;
  const database = await backstage.postgres.createDatabase('sandbank_walk');
  backstage.databases.push(database);
  const onPostgres = new Walks(await backstage.start({ databaseUrl: database }, profile));
  const dataDir = path.join(backstage.folder, 'walk-data');
  const onPglite = new Walks(await backstage.start({ dataDir }, profile));
  const walk = (walks: Walks, way: Way) => (seconds: number) =>
    backstage.load(walks.url, seconds, (connection) => walks.requests(API_KEY, connection, way));
  backstage.contenders.push(
    { name: 'walk', run: walk(onPostgres, 'step by step') },
    { name: 'pgliteWalk', run: walk(onPglite, 'step by step') },
    { name: 'walkAtOnce', run: walk(onPostgres, 'at once') },
    { name: 'pgliteWalkAtOnce', run: walk(onPglite, 'at once') },
  );
  backstage.checks.push(
    async () => `Books on PostgreSQL after the last round: ${await onPostgres.check()}.`,
    async () => `Books on PGlite after the last round: ${await onPglite.check()}.`,
  );
}

async function stageReads(
  backstage: Backstage,
  url: string,
  bare: string,
  ids: readonly string[],
): Promise<void> {
  backstage.say('starting Sandbank for the first reads');
  const database = await backstage.postgres.createDatabase('sandbank_first_reads');
  const unread = await backstage.start({ databaseUrl: database }, backstage.options.profile);
  const { paymentId } = await createPayment(unread);
  const firstReads = new FirstReads(database, paymentId);
  backstage.remarks.push(
    `GET goes over ${PAYMENTS_READ} payments, which the server keeps and only confirms; a first GET is of a payment that it never read.`,
  );
  const paths = ids.map((id) => `${PAYMENTS_PATH}/${id}`);
  const reads = (target: string) => (seconds: number) =>
    backstage.load(target, seconds, (connection) => readRequests(API_KEY, paths, connection));
  backstage.contenders.push(
    { name: 'read', run: reads(url) },
    {
      name: 'firstRead',
      prepare: (seconds) => firstReads.prepare(seconds + backstage.options.warmupSeconds),
      run: (seconds) => backstage.load(unread, seconds, () => firstReads.requests(API_KEY)),
    },
    { name: 'bareGet', run: reads(bare) },
  );
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
