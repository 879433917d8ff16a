import { randomInt } from 'node:crypto';

export interface Request {
  readonly bytes: Buffer;
  readonly expectedStatus: number;
  /** What the answer counts for: one, unless one request does the work of several. */
  readonly moves: number;
  /** Given the beginning of the body of each answer with the expected status. What it throws stops the bench. */
  readonly answered?: (body: string) => void;
}

/**
 * What one connection asks, one request after the other; the next only when the last was answered, so the same request
 * may come again with other bytes. Undefined: there is nothing left to ask.
 */
export type NextRequest = () => Request | undefined;

export const PAYMENT_BODY = {
  amount: 1250,
  currency: 'EUR',
  description: 'Order 1234',
  reference: 'order-1234',
  metadata: { cart: 'c-991' },
};

export const PAYMENTS_PATH = '/_api/developer_api_payments';

/** Creates with a key each. */
export function createRequests(apiKey: string, connection: number): NextRequest {
  const post = new KeyedPost(apiKey, connection, PAYMENTS_PATH, PAYMENT_BODY);
  const request: Request = { bytes: post.bytes, expectedStatus: 201, moves: 1 };
  return () => {
    post.renewKey();
    return request;
  };
}

/** Reads that go round the given paths, each connection starting elsewhere. */
export function readRequests(apiKey: string, paths: readonly string[], connection: number): NextRequest {
  const requests = paths.map((path) => readRequest(apiKey, path));
  let at = (connection * 7919) % requests.length;
  return () => {
    at = at + 1 === requests.length ? 0 : at + 1;
    return requests[at];
  };
}

export function readRequest(apiKey: string, path: string): Request {
  const head = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`;
  return { bytes: Buffer.from(head, 'latin1'), expectedStatus: 200, moves: 1 };
}

/**
 * The bytes of a POST, sent again and again with a new Idempotency-Key. The keys are as long as a UUID and, like the
 * random UUIDs that clients send, arrive in no order: ascending keys would spare the index of the idempotency table most
 * of its work.
 */
export class KeyedPost {
  readonly bytes: Buffer;
  readonly #keyAt: number;
  readonly #counterAt: number;
  #sent = 0;

  constructor(apiKey: string, connection: number, path: string, body: object) {
    const text = JSON.stringify(body);
    const placeholder = `${digits(0, 11)}-${digits(connection, 4)}-${digits(randomInt(1e8), 8)}-${digits(0, 10)}`;
    this.bytes = Buffer.from(
      `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${apiKey}\r\n` +
        `Idempotency-Key: ${placeholder}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
    this.#keyAt = this.bytes.indexOf(placeholder);
    this.#counterAt = this.#keyAt + placeholder.length - 10;
  }

  renewKey(): void {
    this.#sent += 1;
    this.bytes.write(digits(Math.floor(Math.random() * 1e11), 11), this.#keyAt, 'latin1');
    this.bytes.write(digits(this.#sent, 10), this.#counterAt, 'latin1');
  }
}

function digits(value: number, length: number): string {
  return String(value).padStart(length, '0');
}
