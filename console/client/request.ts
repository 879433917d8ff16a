import { consoleMessage } from './console-message.ts';
import { randomId } from './random-id.ts';

/**
 * The only module that sends requests to the server. A path starts with its base: `session...` for the person,
 * `org/...` for the organization, `app/...` for the application. The part after the base is the API path,
 * for example `app/developer_api_payments/pay_1`. Every failure is thrown as an ApiProblem.
 */
export type Path = 'session' | `session/${string}` | `org/${string}` | `app/${string}`;

/** The organization and application that a path refers to. */
export interface Scope {
  readonly orgId: string | null;
  readonly appId: string | null;
}

export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** A request of the public API: the console sends it with a session, a code sample with an API key. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST';
  /** Below `/_api/`, for example `developer_api_payments`. */
  readonly path: string;
  /** Without the question mark. */
  readonly query?: string;
  /** The text of the body of a POST. */
  readonly body?: string;
}

/** A response of any status. */
export interface Exchange {
  readonly status: number;
  readonly durationMs: number;
  readonly body: unknown;
}

export const noScope: Scope = { orgId: null, appId: null };
const timeoutMs = 60_000;

interface ProblemFields {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly param?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly allowedActions?: readonly string[] | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly docUrl?: string | undefined;
}

/** An error response of the server, or `network_failed` with status 0 if there was no response. */
export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly param: string | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly allowedActions: readonly string[] | undefined;
  readonly requestId: string | undefined;
  /** Seconds. */
  readonly retryAfter: number | undefined;
  readonly docUrl: string | undefined;

  constructor(fields: ProblemFields) {
    super(fields.message);
    this.name = 'ApiProblem';
    this.status = fields.status;
    this.code = fields.code;
    this.param = fields.param;
    this.details = fields.details;
    this.allowedActions = fields.allowedActions;
    this.requestId = fields.requestId;
    this.retryAfter = fields.retryAfter;
    this.docUrl = fields.docUrl;
  }

  /**
   * Whether the outcome of the write is unknown: a retry must send the same Idempotency-Key. This includes a success whose
   * body was truncated or unreadable.
   */
  get isOutcomeUnknown(): boolean {
    return (
      this.status < 300 ||
      this.status >= 500 ||
      this.status === 429 ||
      this.code === 'idempotency_in_progress'
    );
  }
}

export function isReachable(path: Path, scope: Scope): boolean {
  if (path.startsWith('app/')) return scope.orgId !== null && scope.appId !== null;
  return path.startsWith('org/') ? scope.orgId !== null : true;
}

export function apiUrl(path: Path, scope: Scope, query: Query = {}): string {
  const rest = path.startsWith('session') ? path : `${baseOf(path, scope)}${path.slice(3)}`;
  const text = queryText(query);
  return `/console/api/${rest}${text === '' ? '' : `?${text}`}`;
}

function queryText(query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value));
  }
  return search.toString();
}

function baseOf(path: Path, { orgId, appId }: Scope): string {
  return encodeURI(path.startsWith('app/') ? `${orgId}/${appId}` : `${orgId}`);
}

export function get<T>(
  path: Path,
  query: Query = {},
  scope: Scope = noScope,
  signal?: AbortSignal,
): Promise<T> {
  return send<T>(apiUrl(path, scope, query), { method: 'GET', ...(signal ? { signal } : {}) });
}

export function post<T>(
  path: Path,
  body: unknown,
  idempotencyKey?: string,
  scope: Scope = noScope,
): Promise<T> {
  const headers: Record<string, string> = { 'Content-Type': 'application/json' };
  if (idempotencyKey !== undefined) headers['Idempotency-Key'] = idempotencyKey;
  return send<T>(apiUrl(path, scope), { method: 'POST', headers, body: bodyText(body) });
}

/** The text of a body as `post` sends it. */
function bodyText(body: unknown): string {
  return JSON.stringify(body ?? {});
}

export function readRequest(path: string, query: Query = {}): ApiRequest {
  const text = queryText(query);
  return { method: 'GET', path, ...(text === '' ? {} : { query: text }) };
}

export function postRequest(path: string, body: unknown): ApiRequest {
  return { method: 'POST', path, body: bodyText(body) };
}

/** The request that `post(path, body)` sends; null for routes that only the console has. */
export function writeRequest(path: Path, body: unknown): ApiRequest | null {
  return path.startsWith('app/developer_api_') ? postRequest(path.slice('app/'.length), body) : null;
}

/** Sends the request with the person's session, and resolves with the response also if it is an error. */
export async function exchange(request: ApiRequest, scope: Scope): Promise<Exchange> {
  const { method, path, query, body = '{}' } = request;
  const url = `${apiUrl(`app/${path}`, scope)}${query ? `?${query}` : ''}`;
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': randomId() };
  const startedAt = performance.now();
  const response = await reach(url, method === 'GET' ? { method } : { method, headers, body });
  const text = await response.text().catch(() => {
    throw unreachable();
  });
  return { status: response.status, durationMs: performance.now() - startedAt, body: jsonOrText(text) };
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function send<T>(url: string, init: RequestInit): Promise<T> {
  const response = await reach(url, init);
  const body: unknown = await response.json().catch((cause: unknown) => {
    if (init.signal?.aborted) throw cause;
    return undefined;
  });
  if (response.ok && body !== undefined) return body as T;
  throw problemOf(response, body);
}

async function reach(url: string, init: RequestInit): Promise<Response> {
  const timeout = AbortSignal.timeout(init.method === 'GET' ? timeoutMs / 2 : timeoutMs);
  const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
  try {
    return await fetch(url, { credentials: 'same-origin', ...init, signal });
  } catch (cause) {
    if (init.signal?.aborted) throw cause;
    throw unreachable();
  }
}

/** The problem in a response that is not JSON on success, such as CSV or XML. */
export async function problemFrom(response: Response): Promise<ApiProblem> {
  return problemOf(response, await response.json().catch(() => undefined));
}

function unreachable(): ApiProblem {
  const message = 'The server did not respond. Check the connection, then try again.';
  return new ApiProblem({ status: 0, code: 'network_failed', message });
}

function problemOf(response: Response, body: unknown): ApiProblem {
  const envelope = body as { requestId?: string; error?: Partial<ProblemFields> } | undefined;
  const error = envelope?.error;
  const retryAfter = Number(response.headers.get('Retry-After') ?? Number.NaN);
  return new ApiProblem({
    ...error,
    status: response.status,
    code: error?.code ?? 'unreadable_answer',
    message: error?.message
      ? consoleMessage(error.code, error.message)
      : `The server responded with ${response.status} and no error message.`,
    requestId: envelope?.requestId,
    retryAfter: Number.isFinite(retryAfter) ? retryAfter : undefined,
  });
}

/** Converts anything thrown to an ApiProblem, so that pages handle a single error type. */
export function asProblem(thrown: unknown): ApiProblem {
  if (thrown instanceof ApiProblem) return thrown;
  const message = thrown instanceof Error ? thrown.message : 'Something went wrong in the console.';
  return new ApiProblem({ status: 0, code: 'console_failed', message });
}
