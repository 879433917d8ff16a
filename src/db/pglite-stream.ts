import { Duplex } from 'node:stream';
import type { Worker } from 'node:worker_threads';

export type WorkerAnswer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'closed' };

export type WorkerRequest =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'close' };

const terminateMessage = 'X'.charCodeAt(0);

/**
 * What pg believes to be a socket: it carries the PostgreSQL protocol to PGlite in its worker thread. So prepared
 * statements, binary parameters, transactions and error codes are those of the driver, and there is one code path for
 * both databases. PGlite has one session and the pool one connection; only the newest stream listens.
 */
export class PgliteStream extends Duplex {
  readonly #worker: Worker;
  readonly #onMessage: (answer: WorkerAnswer) => void;

  constructor(worker: Worker) {
    super();
    this.#worker = worker;
    this.#onMessage = (answer) => {
      if (answer.kind !== 'bytes') return;
      const { buffer, byteOffset, byteLength } = answer.bytes;
      this.push(Buffer.from(buffer, byteOffset, byteLength));
    };
    worker.on('message', this.#onMessage);
  }

  /** Called by pg as it would on a socket. */
  connect(): this {
    queueMicrotask(() => this.emit('connect'));
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#send(chunk);
    done();
  }

  /** pg corks the messages of one query: they reach PGlite as one, since it answers each call by itself. */
  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this.#send(Buffer.concat(chunks.map(({ chunk }) => chunk)));
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#worker.off('message', this.#onMessage);
    done(error);
  }

  override _final(done: () => void): void {
    this.push(null);
    done();
  }

  #send(chunk: Buffer): void {
    // "Terminate" would end the only session there is. The database is closed by its own request.
    if (chunk[0] === terminateMessage) return;
    const bytes = new Uint8Array(chunk);
    const request: WorkerRequest = { kind: 'bytes', bytes };
    this.#worker.postMessage(request, [bytes.buffer]);
  }
}
