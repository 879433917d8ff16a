import { existsSync } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { gunzipSync } from 'node:zlib';
import { PGlite } from '@electric-sql/pglite';
import { assert } from '../kernel/assert.ts';
import { openEngine } from './pglite-engine.ts';
import {
  checkpointMessage,
  cleaningMessages,
  cleaningProblem,
  endsIdle,
  growthMessage,
  isTrue,
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
  /** Undefined for an in-memory database. */
  readonly dataDirectory: string | undefined;
  /** A data directory, packed and migrated at build time: unpacking it takes 0.2 s, creating one takes 4 s. */
  readonly template: string | undefined;
}

/** Every caller of a batch waits for the whole batch, so it is small: eight reads take about 2 ms. */
const requestsInBatchMax = 8;
const bytesInBatchMax = 64 * 1024;
const requestsBetweenCheckpoints = 1_000;
/** A checkpoint then no longer waits for a moment without requests. */
const requestsWithoutCheckpointMax = 20_000;

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
let isSessionIdle = false;
let requestsSinceCheckpoint = 0;

if (database) {
  const waiting: WorkerRequest[] = [];
  let isServing = false;
  port.on('message', async (request: WorkerRequest) => {
    waiting.push(request);
    if (isServing) return;
    isServing = true;
    for (let next = takeNext(waiting); next !== undefined; next = takeNext(waiting)) {
      await serve(database, next);
      if (isCheckpointDue(waiting.length)) await checkpoint(database);
    }
    isServing = false;
  });
  answer({ kind: 'ready' });
}

/**
 * The next request. Waiting `execute` requests of the same stream run as one batch: PGlite answers them in their order,
 * as PostgreSQL does on a socket, and a call costs 15 µs beside its statements and a message 16 µs.
 */
function takeNext(waiting: WorkerRequest[]): WorkerRequest | undefined {
  for (let one = received(); one !== undefined; one = received()) waiting.push(one);
  const first = waiting.shift();
  if (first?.kind !== 'execute') return first;
  const batch = [first];
  let bytes = first.bytes.length;
  for (let next = waiting[0]; batch.length < requestsInBatchMax; next = waiting[0]) {
    if (next?.kind !== 'execute' || next.stream !== first.stream) break;
    bytes += next.bytes.length;
    if (bytes > bytesInBatchMax) break;
    batch.push(next);
    waiting.shift();
  }
  if (batch.length === 1) return first;
  const { number } = batch.at(-1) ?? first;
  return { ...first, number, bytes: joined(batch.map((one) => one.bytes)) };
}

function received(): WorkerRequest | undefined {
  return port === null ? undefined : (receiveMessageOnPort(port)?.message as WorkerRequest | undefined);
}

async function open(): Promise<PGlite> {
  if (dataDirectory === undefined)
    return openEngine(template === undefined ? {} : { loadDataDir: await unzipped(template) });
  if (!existsSync(dataDirectory)) await createDatabase(dataDirectory);
  return openEngine({ dataDir: dataDirectory });
}

/** PGlite unpacks a tar file in memory; unzipping it as well takes PGlite three times as long as it takes Node. */
async function unzipped(file: string): Promise<Blob> {
  return new Blob([gunzipSync(await readFile(file))]);
}

/** Creates the database elsewhere and renames it, so that a killed process does not leave a partial one. */
async function createDatabase(directory: string): Promise<void> {
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
    await execute(pglite, syncMessage);
    for (const message of cleaningMessages) {
      const problem = cleaningProblem(await execute(pglite, message));
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
  const bytes = await execute(pglite, request.bytes);
  isSessionIdle = endsIdle(bytes);
  requestsSinceCheckpoint += 1;
  answer({ kind: 'executed', stream, number: request.number, bytes });
}

/** Only between transactions, so that the checkpoint does not become part of a caller's transaction. */
function isCheckpointDue(waiting: number): boolean {
  const least = waiting === 0 ? requestsBetweenCheckpoints : requestsWithoutCheckpointMax;
  return requestsSinceCheckpoint >= least && isSessionIdle && attached !== 0;
}

/**
 * PGlite has no checkpointer process: without this, the write-ahead log grows until the server stops, and a start after a kill replays
 * all of it. A checkpoint takes 0.1 to 0.2 s.
 */
async function checkpoint(pglite: PGlite): Promise<void> {
  requestsSinceCheckpoint = 0;
  if (isTrue(await execute(pglite, growthMessage))) await execute(pglite, checkpointMessage);
}

/**
 * `execProtocolRaw` is not used: PGlite 0.5 parses its answers and retains every row for good. 14,000 webhook deliveries of 28 KB left
 * 220 MB in this thread.
 */
async function execute(pglite: PGlite, message: Uint8Array): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  // PGlite has handed every write to the operating system by then, so a killed process loses nothing without a sync.
  // A chunk is a view of PGlite's memory, so it is copied.
  await pglite.execProtocolRawStream(message, {
    syncToFs: false,
    onRawData: (chunk) => void chunks.push(chunk.slice()),
  });
  const [first, ...others] = chunks;
  if (first === undefined) return new Uint8Array();
  return others.length === 0 ? first : joined(chunks);
}

/** Allocates a new buffer, because the caller transfers it. */
function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}
