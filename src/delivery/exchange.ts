import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';

/** The part of a response that decides the outcome of an attempt. */
export interface ReceivedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The first bytes, as text that a database can store. */
  readonly body: string;
}

type RawHeaders = Readonly<Record<string, string | string[] | undefined>>;

/**
 * One request and its response, as undici reports them. `undici.request` creates a stream, an async resource and an abort signal for
 * each request, the signal alone for 5 µs, and a delivery needs none of them.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #bytesMax: number;
  readonly #requestBody: string | Readable | null;
  readonly #resolve: (response: ReceivedResponse) => void;
  readonly #reject: (error: unknown) => void;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #status: number | undefined;
  #headers: RawHeaders = {};
  #controller: Dispatcher.DispatchController | undefined;
  #abortReason: Error | undefined;
  #isSettled = false;

  constructor(
    requestBody: string | Readable | null,
    bytesMax: number,
    resolve: (response: ReceivedResponse) => void,
    reject: (error: unknown) => void,
  ) {
    this.#requestBody = requestBody;
    this.#bytesMax = bytesMax;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Ends the exchange now. A request that still waits for its connection is never written. */
  abort(reason: Error): void {
    this.#abortReason = reason;
    this.#controller?.abort(reason);
    this.#settle(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#abortReason) controller.abort(this.#abortReason);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: RawHeaders): void {
    // An informational response precedes the one that counts.
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < this.#bytesMax) return;
    // Enough of a response that may be endless. undici closes the connection.
    this.#settle(undefined);
    controller.abort(new Error('The response is longer than the stored part.'));
  }

  onResponseEnd(): void {
    this.#settle(undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#settle(error);
  }

  #settle(error: Error | undefined): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    if (error && this.#requestBody instanceof Readable) this.#requestBody.on('error', () => {}).destroy();
    // The status decides the outcome, so an incomplete body does not matter.
    if (this.#status === undefined) this.#reject(error);
    else
      this.#resolve({ status: this.#status, headers: textHeaders(this.#headers), body: this.#firstBytes() });
  }

  #firstBytes(): string {
    if (this.#bytes === 0) return '';
    return storable(Buffer.concat(this.#chunks).subarray(0, this.#bytesMax).toString('utf8'));
  }
}

/** `fromEntries`, so that a header called `__proto__` is a header like any other. */
function textHeaders(headers: RawHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value = []]) => [
      name,
      storable(typeof value === 'string' ? value : value.join(', ')),
    ]),
  );
}

function storable(text: string): string {
  return text.replaceAll('\u0000', '\ufffd').toWellFormed();
}
