import { randomUUID } from 'node:crypto';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { expect } from 'vitest';
import { type ErrorCode, errorCatalogue, isErrorCode } from '../../src/kernel/errors.ts';
import { idPattern } from '../../src/kernel/ids.ts';
import { apiVersion } from '../../src/kernel/version.ts';
import { seenCodes } from './seen-codes.ts';

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

/** What a test reads of a body. Which of it is there depends on `object`; a wrong guess fails the expectation. */
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
  /** The body as it goes over the wire, where JSON.stringify cannot write it. */
  readonly raw?: InjectOptions['payload'];
  /** Null leaves the header out; undefined takes a fresh one for every POST. */
  readonly idempotencyKey?: string | null;
  /** Null leaves out what the client would send. */
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly remoteAddress?: string;
}

const requestIdPattern = new RegExp(idPattern('request'));

/**
 * A thin client over `inject`. What the contract promises of every answer is expected of every answer here, so that no
 * test can forget it: the envelope, the headers, and for an error the shape and the status of its code.
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

export function expectEnvelope(answer: Omit<Answer, 'body' | 'code'>, body: Body): void {
  const { headers, status } = answer;
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  expect(headers['api-version']).toBe(apiVersion);
  expect(headers['request-id']).toMatch(requestIdPattern);
  expect(body.sandbox).toBe(true);
  expect(body.object).toMatch(/^[a-z_]+$/);
  expect(body.requestId).toMatch(requestIdPattern);
  if (headers['idempotent-replayed'] === undefined) expect(body.requestId).toBe(headers['request-id']);
  else expect(body.requestId).not.toBe(headers['request-id']);
  if (status < 400) {
    expect(body.object).not.toBe('error');
    expect(body.status).toMatch(/^(?!error$)[a-z_]+$/);
  } else {
    expectError(status, body);
  }
}

function expectError(status: number, body: Body): void {
  expect(Object.keys(body)).toEqual(['object', 'sandbox', 'requestId', 'status', 'error']);
  expect(body).toMatchObject({ object: 'error', status: 'error' });
  const { code, message, param, details, allowedActions, retryable, docUrl, ...rest } = body.error;
  expect(rest).toEqual({});
  expect(isErrorCode(code), `${code} is in the catalogue`).toBe(true);
  expect(status, `the status of ${code}`).toBe(errorCatalogue[code].status);
  expect(retryable).toBe(errorCatalogue[code].retryable);
  expect(docUrl).toMatch(new RegExp(`/docs/errors#${code}$`));
  expect(message).toMatch(/\S/);
  if (param !== undefined) expect(typeof param).toBe('string');
  if (details !== undefined) expect(typeof details).toBe('object');
  if (allowedActions !== undefined) expect(Array.isArray(allowedActions)).toBe(true);
}
