/**
 * A minimal HTTP/1.1 parser for a load generator: the status and the end of the response. Parsing the rest costs more than the
 * routing of the server, and the generator shares its cores with the server. Sandbank sends a Content-Length; other servers may
 * send chunks.
 */
const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = Buffer.from('\r\n');
const CONTENT_LENGTH = Buffer.from('content-length: ');
const BODY_SHOWN_MAX = 4_000;
const HEAD_BYTES_MAX = 64 * 1024;

export interface Answer {
  readonly status: number;
  /** The start of the body, if requested. */
  readonly body: string;
}

/**
 * Between responses `bodyLeft` is 0 and `head` is empty. A partial head, or a partial size of a chunk, is buffered in `head`;
 * `bodyLeft` counts down a body, or a chunk with its line break.
 */
export class ResponseReader {
  readonly #isBodyWanted: (status: number) => boolean;
  readonly #answered: (answer: Answer) => void;
  #head: Buffer = Buffer.alloc(0);
  #bodyLeft = 0;
  #hasMoreChunks = false;
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
        const separator = this.#hasMoreChunks ? LINE_END : HEAD_END;
        const end = data.indexOf(separator, at);
        if (end < 0) {
          if (data.length - at > HEAD_BYTES_MAX) throw new Error('Response head exceeds the maximum size.');
          this.#head = Buffer.from(data.subarray(at));
          return;
        }
        if (this.#hasMoreChunks) this.#beginChunk(data.toString('latin1', at, end));
        else this.#beginResponse(data, at, end);
        at = end + separator.length;
        if (this.#hasMoreChunks && this.#bodyLeft === 0) continue;
      }
      const taken = Math.min(this.#bodyLeft, data.length - at);
      if (this.#isBodyStored && this.#body.length < BODY_SHOWN_MAX) {
        this.#body += data.toString('utf8', at, at + taken);
      }
      at += taken;
      this.#bodyLeft -= taken;
      if (this.#bodyLeft === 0 && !this.#hasMoreChunks)
        this.#answered({ status: this.#status, body: this.#body });
    }
  }

  #beginResponse(data: Buffer, start: number, end: number): void {
    this.#status = digitsAt(data, start + 'HTTP/1.1 '.length);
    this.#body = '';
    this.#isBodyStored = this.#isBodyWanted(this.#status);
    const length = contentLength(data, start, end);
    this.#hasMoreChunks = length === undefined;
    this.#bodyLeft = length ?? 0;
  }

  #beginChunk(size: string): void {
    const length = Number.parseInt(size, 16);
    if (!(length >= 0)) throw new Error(`Invalid chunk size: ${size}`);
    this.#hasMoreChunks = length > 0;
    this.#bodyLeft = length + LINE_END.length;
  }
}

/** Undefined for a chunked body. */
function contentLength(data: Buffer, start: number, end: number): number | undefined {
  // Fast path for the lower-case name of Fastify; slow path for the spelling of Node.
  const found = data.indexOf(CONTENT_LENGTH, start);
  if (found >= 0 && found < end) return digitsAt(data, found + CONTENT_LENGTH.length);
  const head = data.toString('latin1', start, end).toLowerCase();
  const at = head.indexOf('\r\ncontent-length:');
  if (at < 0 && head.includes('\r\ntransfer-encoding: chunked')) return undefined;
  if (at < 0) throw new Error(`This response has neither a Content-Length nor chunks:\n${head}`);
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
