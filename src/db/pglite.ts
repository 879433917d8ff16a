import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { DatabaseFailure } from '../kernel/failure.ts';
import { built } from '../places.ts';
import { type DataDirectoryLock, lockDataDirectory } from './data-directory-lock.ts';
import type { Database } from './database.ts';
import { PgliteStream, type WorkerAnswer, type WorkerRequest } from './pglite-stream.ts';
import { openPool } from './pool.ts';

export interface PgliteOptions {
  /** Undefined keeps everything in memory. */
  readonly dataDirectory: string | undefined;
  /** The thread ended although nobody asked it to: nothing can be served any more. */
  readonly onCrash: (error: Error) => void;
}

const workerFile = new URL('src/db/pglite-worker.js', built);
const builtTemplate = fileURLToPath(new URL('template.tar.gz', built));

/**
 * Answers as soon as the data directory is this process's own. The database opens meanwhile, and what is asked of it waits; one that
 * does not open tells why to whoever asks first.
 */
export async function openPglite(options: PgliteOptions): Promise<Database> {
  const { dataDirectory } = options;
  let lock: DataDirectoryLock | undefined;
  if (dataDirectory !== undefined) {
    await mkdir(dataDirectory, { recursive: true });
    lock = await lockDataDirectory(dataDirectory);
  }
  const worker = startWorker(dataDirectory);
  let isClosing = false;
  const opened = untilReady(worker, dataDirectory).then(() => {
    worker.on('error', (error) => options.onCrash(error));
    worker.on('exit', (code) => {
      if (!isClosing) options.onCrash(new Error(`the embedded database ended with code ${code}`));
    });
  });
  // Whoever asks is told; until then nobody is surprised.
  opened.catch(() => undefined);
  return openPool({
    kind: 'pglite',
    connectionsMax: 1,
    lanesMax: 1,
    opened,
    target: () => ({
      user: 'postgres',
      database: 'postgres',
      ssl: false,
      stream: () => new PgliteStream(worker) as never,
    }),
    onClose: async () => {
      isClosing = true;
      await opened.then(
        () => closeWorker(worker),
        () => undefined,
      );
      await lock?.release();
    },
  });
}

function filesIn(dataDirectory: string | undefined): string | undefined {
  return dataDirectory === undefined ? undefined : join(dataDirectory, 'db');
}

function startWorker(dataDirectory: string | undefined): Worker {
  const template = existsSync(builtTemplate) ? builtTemplate : undefined;
  return new Worker(workerFile, {
    workerData: { dataDirectory: filesIn(dataDirectory), template },
    // Not the flags of the process: some of them (an input type, a debugger's port) are for its own entry alone.
    execArgv: [],
  });
}

async function untilReady(worker: Worker, dataDirectory: string | undefined): Promise<void> {
  const first = await answerOf(worker);
  if (first.kind === 'ready') return;
  await worker.terminate();
  const reason = first.kind === 'failed' ? first.message : `unexpected answer ${first.kind}`;
  throw new DatabaseFailure(
    'unavailable',
    new Error(`The embedded database in ${filesIn(dataDirectory) ?? 'memory'} does not open: ${reason}`),
  );
}

async function closeWorker(worker: Worker): Promise<void> {
  const request: WorkerRequest = { kind: 'close' };
  const closed = answerOf(worker);
  worker.postMessage(request);
  await closed;
  await worker.terminate();
}

function answerOf(worker: Worker): Promise<WorkerAnswer> {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the embedded database ended with code ${code}`)));
  });
}
