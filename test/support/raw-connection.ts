/** A TCP connection on which a test writes any bytes and reads complete responses one after another. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const ANSWER_MS_MAX = 240_000;

export interface RawAnswer {
  readonly version: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export class RawConnection {
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #isOver = false;
  #wake: () => void = () => undefined;

  static async open(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, 'connect');
    return new RawConnection(socket);
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    const end = (): void => {
      this.#isOver = true;
      this.#wake();
    };
    socket.on('data', (bytes) => {
      this.#received = Buffer.concat([this.#received, bytes]);
      this.#wake();
    });
    // A server that rejects a request may reset the connection; that counts as its end.
    socket.on('error', end).on('end', end).on('close', end);
  }

  send(bytes: string | Uint8Array): void {
    if (!this.#isOver) this.#socket.write(bytes);
  }

  /** Closes the writing side; responses can still be read. */
  finish(): void {
    this.#socket.end();
  }

  /** Resets the connection, as a crashed client does. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  close(): void {
    this.#socket.destroy();
  }

  /** The next complete response; undefined when the server closed the connection without one. */
  async next(): Promise<RawAnswer | undefined> {
    for (;;) {
      const answer = this.#take();
      if (answer !== undefined) return answer;
      if (this.#isOver) {
        if (this.#received.length === 0) return undefined;
        throw new Error(`The connection ended within a response: ${this.#received.toString('latin1')}`);
      }
      await this.#more();
    }
  }

  /** All responses until the server closes the connection. */
  async rest(): Promise<readonly RawAnswer[]> {
    const answers: RawAnswer[] = [];
    for (let answer = await this.next(); answer !== undefined; answer = await this.next())
      answers.push(answer);
    return answers;
  }

  #more(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(
          new Error(`Received nothing for ${ANSWER_MS_MAX} ms after: ${this.#received.toString('latin1')}`),
        );
      }, ANSWER_MS_MAX);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #take(): RawAnswer | undefined {
    const headEnd = this.#received.indexOf('\r\n\r\n');
    if (headEnd === -1) return undefined;
    const [statusLine = '', ...lines] = this.#received.toString('latin1', 0, headEnd).split('\r\n');
    const [, version, status] = /^HTTP\/(\d\.\d) (\d{3}) /.exec(statusLine) ?? [];
    if (version === undefined) throw new Error(`This is not an HTTP response: ${statusLine}`);
    const headers = new Headers(
      lines.map((line): [string, string] => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon), line.slice(colon + 1).trim()];
      }),
    );
    const bodyStart = headEnd + 4;
    const bodyEnd = bodyStart + Number(headers.get('content-length') ?? 0);
    if (this.#received.length < bodyEnd) return undefined;
    const text = this.#received.toString('utf8', bodyStart, bodyEnd);
    this.#received = this.#received.subarray(bodyEnd);
    return { version, status: Number(status), headers, text };
  }
}

/** The head of a request with these header lines and a blank line. */
export function head(requestLine: string, ...lines: readonly string[]): string {
  return [`${requestLine} HTTP/1.1`, 'Host: 127.0.0.1', ...lines, '', ''].join('\r\n');
}
