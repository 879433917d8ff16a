import { existsSync } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { assert } from '../kernel/assert.ts';
import {
  cleaningMessages,
  cleaningProblem,
  syncMessage,
  type WorkerAnswer,
  type WorkerRequest,
} from './pglite-protocol.ts';
import { unpackTemplate } from './template.ts';

/**
 * PGlite in a worker thread, so that the HTTP loop stays free while a batch is written (p99 of a create under load fell
 * from 620 ms to 24 ms). It executes PostgreSQL protocol messages one request after the other, for one stream at a time: `attached`.
 */
interface WorkerData {
  /** Undefined keeps everything in memory. */
  readonly dataDirectory: string | undefined;
  /** A data directory, packed and migrated at build time: unpacking it takes 0.2 s, making one takes four. */
  readonly template: string | undefined;
}

const port = parentPort;
assert(port, 'this file is the entry of a worker thread');
const answer = (message: WorkerAnswer) => {
  port.postMessage(message, message.kind === 'executed' ? [message.bytes.buffer as ArrayBuffer] : []);
};

const { dataDirectory, template } = workerData as WorkerData;
const database = await open().catch((error: unknown) => {
  answer({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
  return undefined;
});

/** The stream that owns the session; 0 while there is none. */
let attached = 0;

if (database) {
  let last: Promise<void> = Promise.resolve();
  port.on('message', (request: WorkerRequest) => {
    last = last.then(() => serve(database, request));
  });
  answer({ kind: 'ready' });
}

async function open(): Promise<PGlite> {
  if (dataDirectory === undefined)
    return PGlite.create(template === undefined ? {} : { loadDataDir: new Blob([await readFile(template)]) });
  if (!existsSync(dataDirectory)) await make(dataDirectory);
  return PGlite.create({ dataDir: dataDirectory });
}

/** Made elsewhere and moved into place, so that a process killed half way leaves no half database behind. */
async function make(directory: string): Promise<void> {
  const unfinished = `${directory}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  if (template === undefined) await (await PGlite.create({ dataDir: unfinished })).close();
  else unpackTemplate(await readFile(template), unfinished);
  await rename(unfinished, directory);
}

async function serve(pglite: PGlite, request: WorkerRequest): Promise<void> {
  if (request.kind === 'close') {
    await pglite.close();
    answer({ kind: 'closed' });
    return;
  }
  const { stream } = request;
  if (request.kind === 'attach') {
    attached = 0;
    await pglite.execProtocolRaw(syncMessage, { syncToFs: false });
    for (const message of cleaningMessages) {
      const problem = cleaningProblem(await pglite.execProtocolRaw(message, { syncToFs: false }));
      if (problem === undefined) continue;
      answer({ kind: 'broken', message: problem });
      return;
    }
    attached = stream;
    answer({ kind: 'attached', stream });
    return;
  }
  if (stream !== attached) {
    answer({ kind: 'detached', stream });
    return;
  }
  // PGlite has handed every write to the operating system by then, so a killed process loses nothing without a sync.
  const bytes = await pglite.execProtocolRaw(request.bytes, { syncToFs: false });
  // The answer may be a view of PGlite's memory, so a copy is transferred.
  answer({ kind: 'executed', stream, number: request.number, bytes: bytes.slice() });
}
