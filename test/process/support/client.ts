/** A client of the API that knows only the URL and a key. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'vitest';
import { type ErrorCode, isErrorCode, statusOf } from '../../../src/kernel/errors.ts';

export const API_KEY = 'sbk_sandbox_0123456789abcdefghijABCDEFGHIJ01';
/** A second key of the same application, which a test may revoke. */
export const SPARE_KEY = 'sbk_sandbox_0123456789abcdefghijABCDEFGHIJ02';
/** The key of a third organization, where there is one. */
export const THIRD_KEY = 'sbk_sandbox_0123456789abcdefghijABCDEFGHIJ03';

const SCOPES = ['payments:read', 'payments:write', 'customers:read', 'customers:write'];
const SEED = {
  organizations: [
    {
      name: 'Acme',
      applications: [
        {
          name: 'web',
          apiKeys: [
            { name: 'ci', key: API_KEY, scopes: SCOPES },
            { name: 'spare', key: SPARE_KEY, scopes: SCOPES },
          ],
        },
      ],
    },
  ],
};

const ANSWER_MS_MAX = 240_000;
export const PAYMENTS = '/_api/developer_api_payments';

export interface Folder {
  readonly path: string;
  readonly seed: string;
  remove(): void;
}

/** A new folder with a seed file in it. */
export function temporaryFolder(): Folder {
  const folder = mkdtempSync(path.join(tmpdir(), 'sandbank-system-'));
  const seed = path.join(folder, 'seed.json');
  writeFileSync(seed, JSON.stringify(SEED));
  return {
    path: folder,
    seed,
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

export interface Call {
  readonly method?: 'GET' | 'POST';
  readonly key?: string;
  readonly idempotencyKey?: string;
  readonly body?: unknown;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
  /** The body, byte by byte. */
  readonly text: string;
  readonly isReplay: boolean;
  readonly durationMs: number;
}

/** Rejects when the connection is lost, and when no response arrives. */
export async function call(
  url: string,
  { method = 'GET', key, idempotencyKey, body }: Call = {},
): Promise<Answer> {
  const startedAt = performance.now();
  const response = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${key ?? API_KEY}`,
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
  });
  const text = await response.text();
  const parsed: unknown = JSON.parse(text);
  if (!isObject(parsed)) throw new Error(`The body is not an object: ${text}`);
  return {
    status: response.status,
    headers: response.headers,
    body: parsed,
    text,
    isReplay: response.headers.get('idempotent-replayed') === 'true',
    durationMs: performance.now() - startedAt,
  };
}

const UNAVAILABLE_MS_MAX = 240_000;
const UNAVAILABLE_PAUSE_MS = 100;

/** Retries a request that gets 503, as every client must: a busy machine causes some. */
export async function whileUnavailable(send: () => Promise<Answer>): Promise<Answer> {
  for (const since = performance.now(); ; ) {
    const answer = await send();
    if (answer.status !== 503 || performance.now() - since > UNAVAILABLE_MS_MAX) return answer;
    await new Promise((resolve) => {
      setTimeout(resolve, UNAVAILABLE_PAUSE_MS);
    });
  }
}

export function post(
  url: string,
  body: object,
  idempotencyKey: string = randomUUID(),
  key = API_KEY,
): Promise<Answer> {
  return call(url, { method: 'POST', body, idempotencyKey, key });
}

/** Sends a write that must succeed, and returns the body of its response. */
export async function postOk(
  url: string,
  body: object,
  idempotencyKey: string = randomUUID(),
  key = API_KEY,
): Promise<Answer['body']> {
  const answer = await whileUnavailable(() => post(url, body, idempotencyKey, key));
  expect(answer.status, `${url}: ${answer.text}`).toBeLessThan(300);
  return answer.body;
}

export function createPayment(
  url: string,
  idempotencyKey: string,
  reference: string,
  key = API_KEY,
): Promise<Answer> {
  return post(url + PAYMENTS, { amount: 1250, currency: 'EUR', reference }, idempotencyKey, key);
}

export interface Listed {
  readonly id: string;
  readonly reference: string | null;
}

const PAGES_MAX = 1_000;

/** The whole list, page by page. */
export async function listPayments(url: string, key = API_KEY): Promise<readonly Listed[]> {
  const listed: Listed[] = [];
  let cursor: unknown = null;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const query = cursor === null ? '' : `&cursor=${encodeURIComponent(String(cursor))}`;
    const { status, body } = await call(`${url}${PAYMENTS}?limit=100${query}`, { key });
    expect(status).toBe(200);
    listed.push(...(body.data as Listed[]));
    if (body.hasMore !== true) return listed;
    cursor = body.nextCursor;
  }
  throw new Error(`The list does not end after ${PAGES_MAX} pages.`);
}

/** Every error has the envelope of the contract. */
export function expectRefusal(answer: Pick<Answer, 'status' | 'headers' | 'body'>, code?: ErrorCode): void {
  const { status, headers, body } = answer;
  const error = body.error;
  if (!isObject(error)) throw new Error(`This is not an error envelope: ${status} ${JSON.stringify(body)}`);
  expect(body).toMatchObject({ object: 'error', sandbox: true, status: 'error' });
  expect(error).toMatchObject({ message: expect.any(String), docUrl: expect.any(String) });
  const named = String(error.code);
  if (code !== undefined) expect(named).toBe(code);
  if (!isErrorCode(named)) throw new Error(`The code ${named} is not in the catalogue.`);
  expect(status).toBe(statusOf(named));
  expect(headers.get('request-id')).toMatch(/^req_[0-9a-z]{26}$/);
  expect(body.requestId).toBe(headers.get('request-id'));
  if (named === 'service_unavailable') expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
