import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { assert } from '../kernel/assert.ts';
import { built } from '../local/paths.ts';
import { type DataDirectoryLock, lockDataDirectory } from './data-directory-lock.ts';
import type { Database } from './database.ts';
import { DatabaseFailure } from './failure.ts';
import type { WorkerAnswer, WorkerRequest } from './pglite-protocol.ts';
import { PgliteStream, WorkerHold } from './pglite-stream.ts';
import { openPool } from './pool.ts';
import type { PoolLimits } from './pool-client.ts';

export interface PgliteOptions {
  /** Undefined for an in-memory database. */
  readonly dataDirectory: string | undefined;
  /** The thread ended unexpectedly, or its session could not be cleaned. Nothing can be served any more: a process exits. */
  readonly onCrash: (error: Error) => void;
  readonly limits?: PoolLimits | undefined;
  /** The entry of the thread; tests replace it with one that answers late. */
  readonly workerFile?: URL;
}

const builtWorker = new URL('src/pglite-worker.js', built);
/** The PostgreSQL of PGlite. It opens only files of this major version. */
const postgresMajor = '18';
const builtTemplate = fileURLToPath(new URL('template.tar.gz', built));

/**
 * Resolves as soon as this process has locked the data directory. The database opens in the background and queries wait for it; if it does
 * not open, the first query fails with the reason.
 */
export async function openPglite(options: PgliteOptions): Promise<Database> {
  const { dataDirectory, limits } = options;
  let lock: DataDirectoryLock | undefined;
  if (dataDirectory !== undefined) {
    await createDataDirectory(dataDirectory);
    lock = await lockDataDirectory(dataDirectory);
  }
  const worker = startWorker(options);
  let isEnding = false;
  const crash = (error: Error): void => {
    if (isEnding) return;
    isEnding = true;
    options.onCrash(error);
  };
  let hold: WorkerHold | undefined;
  const opened = untilReady(worker, dataDirectory).then(() => {
    hold = new WorkerHold(worker);
    worker.on('error', crash);
    worker.on('exit', (code) => crash(new Error(`the embedded database ended with code ${code}`)));
    worker.on('message', (answer: WorkerAnswer) => {
      if (answer.kind !== 'broken') return;
      crash(
        new Error(
          `the embedded database cannot reuse its session safely (${answer.message}); no acknowledged write is lost, start the server again`,
        ),
      );
      // Where the process continues (a server inside a test run), every later query fails.
      void worker.terminate();
    });
  });
  // Attach a handler now so that Node does not report an unhandled rejection; queries still receive the error.
  opened.catch(() => undefined);
  return openPool({
    kind: 'pglite',
    connectionsMax: 1,
    // The second is decided and encoded while the database writes the first.
    batchesInFlightMax: 2,
    opened,
    ...(limits === undefined ? {} : { limits }),
    target: () => ({
      user: 'postgres',
      database: 'postgres',
      ssl: false,
      stream: () => {
        assert(hold, 'the pool waits until the database has opened');
        return new PgliteStream(worker, hold) as never;
      },
    }),
    onClose: async () => {
      const hasEnded = isEnding;
      isEnding = true;
      await opened.then(
        () => (hasEnded ? undefined : closeWorker(worker, hold)),
        () => undefined,
      );
      await lock?.release();
    },
  });
}

/** The directory contains secrets, so git must ignore it. An existing directory may have another purpose and is not changed. */
async function createDataDirectory(dataDirectory: string): Promise<void> {
  const isNew = (await mkdir(dataDirectory, { recursive: true })) !== undefined;
  const gitignore = join(dataDirectory, '.gitignore');
  if (isNew || (basename(dataDirectory) === '.sandbank' && !existsSync(gitignore)))
    await writeFile(gitignore, '*\n');
}

function filesIn(dataDirectory: string | undefined): string | undefined {
  return dataDirectory === undefined ? undefined : join(dataDirectory, 'db');
}

function startWorker({ dataDirectory, workerFile = builtWorker }: PgliteOptions): Worker {
  const template = existsSync(builtTemplate) ? builtTemplate : undefined;
  return new Worker(workerFile, {
    workerData: { dataDirectory: filesIn(dataDirectory), template },
    // Do not inherit the flags of the process: some of them (input type, debugger port) apply only to its own entry.
    execArgv: [],
  });
}

async function untilReady(worker: Worker, dataDirectory: string | undefined): Promise<void> {
  const first = await answerOf(worker, ['ready', 'failed']);
  if (first.kind === 'ready') return;
  await worker.terminate();
  const reason = first.kind === 'failed' ? first.message : `unexpected answer ${first.kind}`;
  throw new DatabaseFailure(
    'unavailable',
    new Error(
      (await otherPostgres(dataDirectory)) ??
        `The embedded database in ${filesIn(dataDirectory) ?? 'memory'} does not open: ${reason}`,
    ),
  );
}

/** What to do about files of another PostgreSQL, which a newer release may contain. PGlite itself does not give a reason. */
async function otherPostgres(dataDirectory: string | undefined): Promise<string | undefined> {
  const files = filesIn(dataDirectory);
  if (files === undefined) return undefined;
  const found = await readFile(join(files, 'PG_VERSION'), 'utf8').catch(() => '');
  const major = found.trim();
  // Another text means that the file is damaged.
  if (!/^\d+$/.test(major) || major === postgresMajor) return undefined;
  return (
    `The embedded database in ${files} was created by PostgreSQL ${major}, and this release of Sandbank contains ` +
    `PostgreSQL ${postgresMajor}: start it with the release that created it, or export a snapshot there and import it here`
  );
}

/** Keeps the process alive until the worker has closed: streams that the pool closes meanwhile release only their own requests. */
async function closeWorker(worker: Worker, hold: WorkerHold | undefined): Promise<void> {
  const request: WorkerRequest = { kind: 'close' };
  const closed = answerOf(worker, ['closed']);
  hold?.take();
  worker.postMessage(request);
  await closed;
  await worker.terminate();
}

/** The next answer of one of these kinds. Late answers to abandoned streams may arrive before it. */
function answerOf(worker: Worker, kinds: readonly WorkerAnswer['kind'][]): Promise<WorkerAnswer> {
  return new Promise((resolve, reject) => {
    worker.on('message', function receive(answer: WorkerAnswer) {
      if (!kinds.includes(answer.kind)) return;
      worker.off('message', receive);
      resolve(answer);
    });
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the embedded database ended with code ${code}`)));
  });
}
