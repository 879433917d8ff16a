/**
 * A minimal HTTP/1.1 parser for a load generator: the status and the end of the response. Parsing the rest costs more than the
 * routing of the server, and the generator shares its cores with the server. Chunked bodies are not supported.
 */
const HEAD_END = Buffer.from('\r\n\r\n');
const CONTENT_LENGTH = Buffer.from('content-length: ');
const BODY_SHOWN_MAX = 4_000;
const HEAD_BYTES_MAX = 64 * 1024;

export interface Answer {
  readonly status: number;
  /** The start of the body, if requested. */
  readonly body: string;
}

/** Between responses `bodyLeft` is 0 and `head` is empty. A partial head is buffered in `head`; `bodyLeft` counts down a body. */
export class ResponseReader {
  readonly #isBodyWanted: (status: number) => boolean;
  readonly #answered: (answer: Answer) => void;
  #head: Buffer = Buffer.alloc(0);
  #bodyLeft = 0;
  #status = 0;
  #body = '';
  #isBodyStored = false;

  constructor(isBodyWanted: (status: number) => boolean, answered: (answer: Answer) => void) {
    this.#isBodyWanted = isBodyWanted;
    this.#answered = answered;
  }

  /** Copies stored bytes, because the caller may overwrite `chunk` afterwards. */
  read(chunk: Buffer): void {
    const data = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
    if (this.#head.length !== 0) this.#head = Buffer.alloc(0);
    let at = 0;
    while (at < data.length) {
      if (this.#bodyLeft === 0) {
        const end = data.indexOf(HEAD_END, at);
        if (end < 0) {
          if (data.length - at > HEAD_BYTES_MAX) throw new Error('Response head exceeds the maximum size.');
          this.#head = Buffer.from(data.subarray(at));
          return;
        }
        this.#status = digitsAt(data, at + 'HTTP/1.1 '.length);
        this.#bodyLeft = contentLength(data, at, end);
        this.#body = '';
        this.#isBodyStored = this.#isBodyWanted(this.#status);
        at = end + HEAD_END.length;
      }
      const taken = Math.min(this.#bodyLeft, data.length - at);
      if (this.#isBodyStored && this.#body.length < BODY_SHOWN_MAX) {
        this.#body += data.toString('utf8', at, at + taken);
      }
      at += taken;
      this.#bodyLeft -= taken;
      if (this.#bodyLeft === 0) this.#answered({ status: this.#status, body: this.#body });
    }
  }
}

function contentLength(data: Buffer, start: number, end: number): number {
  // Fast path for the lower-case name of Fastify; slow path for the spelling of Node.
  const found = data.indexOf(CONTENT_LENGTH, start);
  if (found >= 0 && found < end) return digitsAt(data, found + CONTENT_LENGTH.length);
  const head = data.toString('latin1', start, end).toLowerCase();
  const at = head.indexOf('\r\ncontent-length:');
  if (at < 0)
    throw new Error(`The load generator requires a Content-Length, which this response lacks:\n${head}`);
  return Number.parseInt(head.slice(at + '\r\ncontent-length:'.length), 10);
}

function digitsAt(data: Buffer, start: number): number {
  let value = 0;
  for (let at = start; ; at += 1) {
    const digit = (data[at] ?? 0) - 48;
    if (digit < 0 || digit > 9) return value;
    value = value * 10 + digit;
  }
}
