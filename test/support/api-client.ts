import { randomUUID } from 'node:crypto';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { expect } from 'vitest';
import { apiVersion } from '../../src/kernel/envelope.ts';
import { type ErrorCode, errorCatalogue, isErrorCode } from '../../src/kernel/errors.ts';
import { idPattern } from '../../src/kernel/ids.ts';
import { seenCodes } from './error-codes.ts';

export { seenCodes };

export interface ErrorPart {
  readonly code: ErrorCode;
  readonly message: string;
  readonly param?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly allowedActions?: readonly string[];
  readonly retryable: boolean;
  readonly docUrl: string;
}

/** The body fields that tests read. Which of them exist depends on `object`; a wrong assumption fails the expectation. */
export interface Body {
  readonly object: string;
  readonly sandbox: boolean;
  readonly requestId: string;
  readonly status: string;
  readonly id: string;
  readonly data: readonly Body[];
  readonly hasMore: boolean;
  readonly nextCursor: string | null;
  readonly createdAt: string;
  readonly error: ErrorPart;
  readonly [field: string]: unknown;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  readonly body: Body;
  /** The error code, or null. */
  readonly code: ErrorCode | null;
}

export interface Call {
  readonly method?: string;
  readonly query?: string;
  readonly body?: unknown;
  /** The raw body, for bytes that JSON.stringify cannot produce. */
  readonly raw?: InjectOptions['payload'];
  /** Null omits the header; undefined sends a new key with every POST. */
  readonly idempotencyKey?: string | null;
  /** Null omits a header that the client would send. */
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly remoteAddress?: string;
}

const requestIdPattern = new RegExp(idPattern('request'));

/**
 * A thin client over `inject`. It checks the contract of every response, so that no test can forget it: the envelope, the headers, and
 * for an error its fields and the status of its code.
 */
export class ApiClient {
  readonly #app: FastifyInstance;
  readonly #key: string | null;

  constructor(app: FastifyInstance, key: string | null) {
    this.#app = app;
    this.#key = key;
  }

  get(path: string, query = '', call: Call = {}): Promise<Answer> {
    return this.send(path, { ...call, method: 'GET', query });
  }

  post(path: string, body?: unknown, call: Call = {}): Promise<Answer> {
    return this.send(path, { ...call, method: 'POST', ...(body === undefined ? {} : { body }) });
  }

  /** Paths are below `/_api/` unless they begin with a slash. */
  async send(path: string, call: Call): Promise<Answer> {
    const method = call.method ?? 'GET';
    const url = (path.startsWith('/') ? path : `/_api/${path}`) + (call.query ? `?${call.query}` : '');
    const payload = call.raw ?? (call.body === undefined ? undefined : JSON.stringify(call.body));
    const headers: Record<string, string | null> = {
      ...(this.#key === null ? {} : { authorization: `Bearer ${this.#key}` }),
      ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
      ...(method === 'POST' && call.idempotencyKey !== null
        ? { 'idempotency-key': call.idempotencyKey ?? randomUUID() }
        : {}),
      ...call.headers,
    };
    const response = await this.#app.inject({
      method: method as 'GET',
      url,
      headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== null)) as Record<
        string,
        string
      >,
      ...(payload === undefined ? {} : { payload }),
      ...(call.remoteAddress === undefined ? {} : { remoteAddress: call.remoteAddress }),
    });
    const answer = {
      status: response.statusCode,
      headers: response.headers as Answer['headers'],
      text: response.body,
    };
    if (method === 'HEAD') return { ...answer, body: {} as Body, code: null };
    const body = JSON.parse(response.body) as Body;
    expectEnvelope(answer, body);
    if (body.object === 'error') seenCodes.add(body.error.code);
    return { ...answer, body, code: body.object === 'error' ? body.error.code : null };
  }
}

/**
 * The guarantees for every response. Plain comparisons: an `expect` takes as long as a small request, and there would be 20 for each of
 * some 100,000 responses.
 */
export function expectEnvelope(answer: Omit<Answer, 'body' | 'code'>, body: Body): void {
  const { headers, status, text } = answer;
  const requestId = String(headers['request-id']);
  const isReplay = headers['idempotent-replayed'] !== undefined;
  const isError = status >= 400;
  const broken = Object.entries({
    'content-type': headers['content-type'] === 'application/json; charset=utf-8',
    'api-version': headers['api-version'] === apiVersion,
    'request-id': requestIdPattern.test(requestId),
    sandbox: body.sandbox === true,
    object: isWord(body.object) && (body.object === 'error') === isError,
    status: isWord(body.status) && (body.status === 'error') === isError,
    requestId: requestIdPattern.test(String(body.requestId)) && (body.requestId === requestId) === !isReplay,
    ...(isError ? errorPromises(status, body) : {}),
  }).filter(([, isFulfilled]) => !isFulfilled);
  if (broken.length > 0)
    expect.fail(`${broken.map(([name]) => name).join(', ')} of the response is wrong: ${status} ${text}`);
}

const isWord = (value: unknown) => typeof value === 'string' && /^[a-z_]+$/.test(value);
const errorFields = 'object,sandbox,requestId,status,error';

function errorPromises(status: number, body: Body): Readonly<Record<string, boolean>> {
  const { code, message, param, details, allowedActions, retryable, docUrl, ...rest } = body.error;
  const known = isErrorCode(code) ? errorCatalogue[code] : undefined;
  return {
    'list of fields': Object.keys(body).join() === errorFields && Object.keys(rest).length === 0,
    'error.code': known !== undefined && known.status === status,
    'error.retryable': retryable === known?.retryable,
    'error.docUrl': docUrl.endsWith(`/docs/errors#${code}`),
    'error.message': typeof message === 'string' && message.trim() !== '',
    'error.param': param === undefined || typeof param === 'string',
    'error.details': details === undefined || typeof details === 'object',
    'error.allowedActions': allowedActions === undefined || Array.isArray(allowedActions),
  };
}

/** Expects a success, of a server or of the command runner, and returns the body. */
export function expectOk(answer: Pick<Answer, 'status' | 'text' | 'body'>): Body {
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
}

/** The second response is a replay of the first and has the replay header. */
export function expectReplay(replay: Answer, first: Answer): void {
  expect([replay.status, replay.text]).toEqual([first.status, first.text]);
  expect(replay.headers['idempotent-replayed']).toBe('true');
  expect(first.headers).not.toHaveProperty('idempotent-replayed');
}

/** Reads all pages of a list. Every page but the last must be full. */
export async function listAll(page: (query: string) => Promise<Answer>, limit: number): Promise<Body[]> {
  const items: Body[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < 100; pages += 1) {
    const { body } = await page(`limit=${limit}${cursor === null ? '' : `&cursor=${cursor}`}`);
    items.push(...body.data);
    expect(body.hasMore).toBe(body.nextCursor !== null);
    if (body.nextCursor === null) return items;
    expect(body.data).toHaveLength(limit);
    cursor = body.nextCursor;
  }
  throw new Error('the list does not end after 100 pages');
}

/** Expects an error code and the request field that it names. */
export function expectRefused(answer: Answer, code: string, param?: string): void {
  expect(answer.code, answer.text).toBe(code);
  expect(answer.body.error.param).toBe(param);
}

const concurrencyMax = 300;

/** Like `Promise.all` over a map with limited concurrency. Enough run at a time to share batches of the engine. */
export async function runConcurrently<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const i = next;
      next += 1;
      results[i] = await run(items[i] as T);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrencyMax, items.length) }, worker));
  return results;
}

/** The fields of a body that are the same in every read of the record. */
export function withoutRequestId({
  requestId: _requestId,
  ...body
}: Body): Readonly<Record<string, unknown>> {
  return body;
}
