import { randomInt } from 'node:crypto';

/** The bytes of the next request on a connection. May return the same buffer again, changed: one request is in flight. */
export type NextRequest = () => Buffer;

export const PAYMENT_BODY = {
  amount: 1250,
  currency: 'EUR',
  description: 'Order 1234',
  reference: 'order-1234',
  metadata: { cart: 'c-991' },
};

export const PAYMENTS_PATH = '/_api/developer_api_payments';

/**
 * Creates with a key each. The keys are as long as a UUID and, like the random UUIDs that clients send, arrive in no
 * order: ascending keys would spare the index of the idempotency table most of its work.
 */
export function createRequests(apiKey: string, connection: number): NextRequest {
  const key = { prefix: `${digits(connection, 4)}-${digits(randomInt(1e8), 8)}` };
  const body = JSON.stringify(PAYMENT_BODY);
  const placeholder = `${digits(0, 11)}-${key.prefix}-${digits(0, 10)}`;
  const request = Buffer.from(
    `POST ${PAYMENTS_PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${apiKey}\r\n` +
      `Idempotency-Key: ${placeholder}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  const randomAt = request.indexOf(placeholder);
  const counterAt = randomAt + placeholder.length - 10;
  let sent = 0;
  return () => {
    sent += 1;
    request.write(digits(Math.floor(Math.random() * 1e11), 11), randomAt, 'latin1');
    request.write(digits(sent, 10), counterAt, 'latin1');
    return request;
  };
}

/** Reads that go round the given paths, each connection starting elsewhere. */
export function readRequests(apiKey: string, paths: readonly string[], connection: number): NextRequest {
  const requests = paths.map((path) =>
    Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`),
  );
  let at = (connection * 7919) % requests.length;
  return () => {
    at = at + 1 === requests.length ? 0 : at + 1;
    const request = requests[at];
    if (request === undefined) throw new Error('No paths to read.');
    return request;
  };
}

function digits(value: number, length: number): string {
  return String(value).padStart(length, '0');
}
