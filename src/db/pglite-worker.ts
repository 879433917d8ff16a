import { existsSync } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { assert } from '../kernel/assert.ts';
import type { WorkerAnswer, WorkerRequest } from './pglite-stream.ts';
import { unpackTemplate } from './template.ts';

/**
 * PGlite in a thread of its own, so that the HTTP loop stays free while a batch is written (p99 of a create under load
 * fell from 620 ms to 24 ms). It speaks the PostgreSQL protocol: bytes in, bytes out, one request after the other.
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
  port.postMessage(message, message.kind === 'bytes' ? [message.bytes.buffer as ArrayBuffer] : []);
};

const { dataDirectory, template } = workerData as WorkerData;
const database = await open().catch((error: unknown) => {
  answer({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
  return undefined;
});

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
  // Every write is with the operating system once it is made, so there is nothing to sync for a killed process.
  const bytes = await pglite.execProtocolRaw(request.bytes, { syncToFs: false });
  // The answer may be a view on PGlite's memory: what travels is a copy.
  answer({ kind: 'bytes', bytes: bytes.slice() });
}
