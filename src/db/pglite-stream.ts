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
  #unsent: Buffer[] = [];
  #isScheduled = false;

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
    if (answer.kind === 'attached') {
      this.#release(1);
      this.emit('connect');
      return;
    }
    if (answer.kind === 'detached') {
      this.destroy(lost('the session of the embedded database belongs to a newer connection'));
      return;
    }
    if (answer.number <= this.#answered || answer.number > this.#requested) {
      const expected = `${this.#answered + 1} to ${this.#requested}`;
      this.destroy(lost(`the embedded database answered ${answer.number} instead of ${expected}`));
      return;
    }
    this.#release(answer.number - this.#answered);
    this.#answered = answer.number;
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

  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this.#execute(...chunks.map(({ chunk }) => chunk));
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#worker.off('message', this.#onAnswer);
    this.#worker.off('exit', this.#onExit);
    this.#unsent = [];
    this.#release(this.#pending);
    done(error);
  }

  override _final(done: () => void): void {
    this.#flush();
    this.push(null);
    done();
  }

  /**
   * Sends everything that is written in one turn of the event loop as one request: the messages of a query, and queries that do not wait
   * for each other, such as `begin` and the first statement. A request costs 60 µs of processor time in addition to its statements.
   */
  #execute(...chunks: Buffer[]): void {
    for (const chunk of chunks) {
      // Terminate would end the only session there is. A separate request closes the database.
      if (chunk[0] === terminateMessage) continue;
      this.#unsent.push(chunk);
    }
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    process.nextTick(() => this.#flush());
  }

  #flush(): void {
    this.#isScheduled = false;
    if (this.#unsent.length === 0) return;
    const length = this.#unsent.reduce((sum, chunk) => sum + chunk.length, 0);
    // Not from the pool of small buffers, because the request takes the memory with it.
    const bytes = new Uint8Array(length);
    let at = 0;
    for (const chunk of this.#unsent) {
      bytes.set(chunk, at);
      at += chunk.length;
    }
    this.#unsent = [];
    this.#requested += 1;
    this.#send({ kind: 'execute', stream: this.#stream, number: this.#requested, bytes }, [bytes.buffer]);
  }

  #release(requests: number): void {
    this.#pending -= requests;
    this.#hold.release(requests);
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
