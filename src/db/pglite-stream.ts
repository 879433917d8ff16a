import { Duplex } from 'node:stream';
import type { Worker } from 'node:worker_threads';
import type { WorkerAnswer, WorkerRequest } from './pglite-protocol.ts';

const terminateMessage = 'X'.charCodeAt(0);

let streamsOpened = 0;

/**
 * Keeps the process alive while the worker has requests to answer, and only then: a program that does not close its server can exit,
 * and its last statements are still executed.
 */
export class WorkerHold {
  readonly #worker: Worker;
  #requests = 0;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.unref();
  }

  take(): void {
    this.#requests += 1;
    if (this.#requests === 1) this.#worker.ref();
  }

  release(requests = 1): void {
    this.#requests -= requests;
    if (this.#requests === 0) this.#worker.unref();
  }
}

/**
 * The socket that pg sees: it carries the PostgreSQL protocol to PGlite in its worker thread. Prepared statements, binary parameters,
 * transactions and error codes are those of the driver, so both databases share one code path.
 *
 * PGlite has one session for all streams. A stream is connected once the worker has finished the statements of the streams before it and
 * has cleaned the session. From then on it accepts only answers that carry its own number, in the order of its requests. An
 * answer that arrives after its stream was destroyed reaches nobody.
 */
export class PgliteStream extends Duplex {
  readonly #worker: Worker;
  readonly #hold: WorkerHold;
  readonly #stream: number;
  #requested = 0;
  #answered = 0;
  /** Requests of this stream, attaching included, that the worker has not answered. */
  #pending = 0;

  constructor(worker: Worker, hold: WorkerHold) {
    super();
    this.#worker = worker;
    this.#hold = hold;
    streamsOpened += 1;
    this.#stream = streamsOpened;
    worker.on('message', this.#onAnswer);
    worker.on('exit', this.#onExit);
  }

  readonly #onAnswer = (answer: WorkerAnswer): void => {
    if (!('stream' in answer) || answer.stream !== this.#stream) return;
    this.#pending -= 1;
    this.#hold.release();
    if (answer.kind === 'attached') {
      this.emit('connect');
      return;
    }
    if (answer.kind === 'detached') {
      this.destroy(lost('the session of the embedded database belongs to a newer connection'));
      return;
    }
    this.#answered += 1;
    if (answer.number !== this.#answered) {
      this.destroy(lost(`the embedded database answered ${answer.number} instead of ${this.#answered}`));
      return;
    }
    const { buffer, byteOffset, byteLength } = answer.bytes;
    this.push(Buffer.from(buffer, byteOffset, byteLength));
  };

  readonly #onExit = (): void => {
    this.destroy(lost('the embedded database has ended'));
  };

  /** pg calls these as it would on a socket. */
  connect(): this {
    // A thread that has ended would never answer.
    if (this.#worker.threadId === -1) this.#onExit();
    else this.#send({ kind: 'attach', stream: this.#stream });
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
    this.#execute(chunk);
    done();
  }

  /** pg corks the messages of one query. They reach PGlite as one request, because PGlite answers each request by itself. */
  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this.#execute(Buffer.concat(chunks.map(({ chunk }) => chunk)));
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#worker.off('message', this.#onAnswer);
    this.#worker.off('exit', this.#onExit);
    this.#hold.release(this.#pending);
    this.#pending = 0;
    done(error);
  }

  override _final(done: () => void): void {
    this.push(null);
    done();
  }

  #execute(chunk: Buffer): void {
    // Terminate would end the only session there is. A separate request closes the database.
    if (chunk[0] === terminateMessage) return;
    this.#requested += 1;
    const bytes = new Uint8Array(chunk);
    this.#send({ kind: 'execute', stream: this.#stream, number: this.#requested, bytes }, [bytes.buffer]);
  }

  #send(request: WorkerRequest, transferred: ArrayBuffer[] = []): void {
    this.#pending += 1;
    this.#hold.take();
    this.#worker.postMessage(request, transferred);
  }
}

/** The code makes the pool treat it as a lost connection: the caller gets 503, and the next one a new stream. */
function lost(message: string): Error {
  return Object.assign(new Error(message), { code: 'ECONNRESET' });
}
