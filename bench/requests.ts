import { randomInt } from 'node:crypto';

export interface Request {
  readonly bytes: Buffer;
  readonly expectedStatus: number;
  /** Number of transitions that the response counts for. */
  readonly transitions: number;
  /** Called with the start of each body with the expected status. An exception stops the bench. */
  readonly answered?: (body: string) => void;
}

/**
 * Returns the next request of a connection. It is called after the previous response, so the same request object may be
 * returned again with other bytes. Undefined: no requests are left.
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

/** Create requests, each with a new idempotency key. */
export function createRequests(apiKey: string, connection: number): NextRequest {
  const post = new KeyedPost(apiKey, connection, PAYMENTS_PATH, PAYMENT_BODY);
  const request: Request = { bytes: post.bytes, expectedStatus: 201, transitions: 1 };
  return () => {
    post.renewKey();
    return request;
  };
}

/** Create requests with each API key in turn. */
export function createRequestsInTurn(apiKeys: readonly string[], connection: number): NextRequest {
  const next = inTurn(
    apiKeys.map((apiKey) => createRequests(apiKey, connection)),
    connection,
  );
  return () => next()?.();
}

/** Cycles through the given paths. */
export function readRequests(apiKey: string, paths: readonly string[], connection: number): NextRequest {
  return inTurn(
    paths.map((path) => readRequest(apiKey, path)),
    connection,
  );
}

/** Cycles through the items; each connection starts at another one. */
export function inTurn<Item>(items: readonly Item[], connection: number): () => Item | undefined {
  let at = (connection * 7919) % items.length;
  return () => {
    at = at + 1 === items.length ? 0 : at + 1;
    return items[at];
  };
}

export function readRequest(apiKey: string, path: string): Request {
  const head = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`;
  return { bytes: Buffer.from(head, 'latin1'), expectedStatus: 200, transitions: 1 };
}

/**
 * The bytes of a POST that is sent repeatedly with a new Idempotency-Key. The keys have the length of a UUID and, like random
 * UUIDs of clients, arrive unordered: ascending keys would save most of the index work of the idempotency table.
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
