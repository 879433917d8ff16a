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

export async function openPglite(options: PgliteOptions): Promise<Database> {
  const { dataDirectory } = options;
  let lock: DataDirectoryLock | undefined;
  if (dataDirectory !== undefined) {
    await mkdir(dataDirectory, { recursive: true });
    lock = await lockDataDirectory(dataDirectory);
  }
  try {
    const worker = await startWorker(dataDirectory);
    let isClosing = false;
    worker.on('error', (error) => options.onCrash(error));
    worker.on('exit', (code) => {
      if (!isClosing) options.onCrash(new Error(`the embedded database ended with code ${code}`));
    });
    return openPool({
      kind: 'pglite',
      connectionsMax: 1,
      lanesMax: 1,
      target: () => ({
        user: 'postgres',
        database: 'postgres',
        ssl: false,
        stream: () => new PgliteStream(worker) as never,
      }),
      onClose: async () => {
        isClosing = true;
        await closeWorker(worker);
        await lock?.release();
      },
    });
  } catch (error) {
    await lock?.release();
    throw error;
  }
}

async function startWorker(dataDirectory: string | undefined): Promise<Worker> {
  const files = dataDirectory === undefined ? undefined : join(dataDirectory, 'db');
  const worker = new Worker(workerFile, {
    workerData: { dataDirectory: files, template: existsSync(builtTemplate) ? builtTemplate : undefined },
    // Not the flags of the process: some of them (an input type, a debugger's port) are for its own entry alone.
    execArgv: [],
  });
  const first = await answerOf(worker);
  if (first.kind === 'ready') return worker;
  await worker.terminate();
  const reason = first.kind === 'failed' ? first.message : `unexpected answer ${first.kind}`;
  throw new DatabaseFailure(
    'unavailable',
    new Error(`The embedded database in ${files ?? 'memory'} does not open: ${reason}`),
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
