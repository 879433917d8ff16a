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
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value));
  }
  const text = search.toString();
  return `/console/api/${rest}${text === '' ? '' : `?${text}`}`;
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
  return send<T>(apiUrl(path, scope), { method: 'POST', headers, body: JSON.stringify(body ?? {}) });
}

async function send<T>(url: string, init: RequestInit): Promise<T> {
  const timeout = AbortSignal.timeout(init.method === 'GET' ? timeoutMs / 2 : timeoutMs);
  const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
  let response: Response;
  try {
    response = await fetch(url, { credentials: 'same-origin', ...init, signal });
  } catch (cause) {
    if (init.signal?.aborted) throw cause;
    throw unreachable();
  }
  const body: unknown = await response.json().catch((cause: unknown) => {
    if (init.signal?.aborted) throw cause;
    return undefined;
  });
  if (response.ok && body !== undefined) return body as T;
  throw problemOf(response, body);
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
    message: error?.message ?? `The server responded with ${response.status} and no error message.`,
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
