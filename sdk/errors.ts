import type { ErrorAnswer, ErrorCode } from './generated/shapes.ts';

/** Codes that the client itself creates, without a valid server response. */
export type LocalErrorCode = 'connection_failed' | 'timed_out' | 'unreadable_answer' | 'signature_invalid';

export interface ErrorFacts {
  readonly code: ErrorCode | LocalErrorCode;
  readonly message: string;
  readonly status?: number | undefined;
  readonly param?: string | undefined;
  readonly details?: Record<string, unknown> | undefined;
  readonly allowedActions?: readonly string[] | undefined;
  readonly retryable?: boolean | undefined;
  readonly docUrl?: string | undefined;
  readonly requestId?: string | undefined;
  readonly isReplay?: boolean | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly attempts?: number | undefined;
  readonly cause?: unknown;
}

/** The base class of all errors that calls throw. Subclasses are the kinds of errors, `code` is the specific one. */
export class SandbankError extends Error {
  override readonly name: string = 'SandbankError';
  readonly code: ErrorCode | LocalErrorCode;
  /** The response status; undefined without a response. */
  readonly status: number | undefined;
  /** A JSON pointer into the body, or the name of a parameter or header. */
  readonly param: string | undefined;
  readonly details: Record<string, unknown> | undefined;
  /** The allowed actions, when the record does not allow the requested one. */
  readonly allowedActions: readonly string[] | undefined;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  readonly docUrl: string | undefined;
  /** Identifies the request in the console and in the server log. */
  readonly requestId: string | undefined;
  /** Whether this is the stored error response for the idempotency key. */
  readonly isReplay: boolean;
  readonly retryAfterMs: number | undefined;
  /** How many times the request was sent. */
  readonly attempts: number;

  constructor(facts: ErrorFacts) {
    super(facts.message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = facts.code;
    this.status = facts.status;
    this.param = facts.param;
    this.details = facts.details;
    this.allowedActions = facts.allowedActions;
    this.retryable = facts.retryable ?? false;
    this.docUrl = facts.docUrl;
    this.requestId = facts.requestId;
    this.isReplay = facts.isReplay ?? false;
    this.retryAfterMs = facts.retryAfterMs;
    this.attempts = facts.attempts ?? 1;
  }
}

/** No response: the server is unreachable, or the connection was lost. A write may have been executed; retry it with the same idempotency key. */
export class ConnectionError extends SandbankError {
  override readonly name = 'ConnectionError';
}

/** No response within the timeout. */
export class TimeoutError extends SandbankError {
  override readonly name = 'TimeoutError';
}

/** 400, 405, 413, 415, 422: the request is invalid, or a rule forbids it. Nothing changed. */
export class InvalidRequestError extends SandbankError {
  override readonly name = 'InvalidRequestError';
}

/** 401: the API key is missing or not valid. */
export class AuthenticationError extends SandbankError {
  override readonly name = 'AuthenticationError';
}

/** 403: the key does not have the permission. */
export class PermissionError extends SandbankError {
  override readonly name = 'PermissionError';
}

/** 404: the record does not exist in this organization, or the route does not exist. */
export class NotFoundError extends SandbankError {
  override readonly name = 'NotFoundError';
}

/** 409: the record is in a state that does not allow this. */
export class ConflictError extends SandbankError {
  override readonly name = 'ConflictError';
}

/** 429: too many requests. */
export class RateLimitError extends SandbankError {
  override readonly name = 'RateLimitError';
}

/** 5xx: the server failed. A write may have been executed; retry it with the same idempotency key. */
export class ServerError extends SandbankError {
  override readonly name = 'ServerError';
}

/** A webhook that failed verification. `check` names the failed check, the message says how to fix it. */
export class SignatureError extends SandbankError {
  override readonly name = 'SignatureError';
  readonly check: 'secret' | 'headers' | 'timestamp' | 'signature' | 'body';

  constructor(check: SignatureError['check'], message: string) {
    super({ code: 'signature_invalid', message });
    this.check = check;
  }
}

const classes: Readonly<Record<number, typeof SandbankError>> = {
  400: InvalidRequestError,
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  405: InvalidRequestError,
  409: ConflictError,
  413: InvalidRequestError,
  415: InvalidRequestError,
  422: InvalidRequestError,
  429: RateLimitError,
};

/** The error for a response. A response that is not from Sandbank, such as a proxy's error page, keeps its status. */
export function errorOf(
  answer: { readonly status: number; readonly text: string },
  {
    baseUrl,
    ...more
  }: Pick<ErrorFacts, 'requestId' | 'isReplay' | 'retryAfterMs' | 'attempts'> & { readonly baseUrl: string },
): SandbankError {
  const { status, text } = answer;
  const Class = classes[status] ?? (status >= 500 ? ServerError : SandbankError);
  const body = parse(text);
  if (body?.error?.code === undefined) {
    const message = `The response has status ${status} and is not a Sandbank error: ${text.slice(0, 200)}`;
    return new Class({ ...more, status, code: 'unreadable_answer', message, retryable: status >= 500 });
  }
  // A deterministic server sends a path, so that its responses do not depend on its port.
  const { docUrl } = body.error;
  const link = docUrl?.startsWith('/') ? `${baseUrl}${docUrl}` : docUrl;
  return new Class({
    ...{ ...more, ...body.error, status },
    docUrl: link,
    requestId: more.requestId ?? body.requestId,
  });
}

function parse(text: string): Partial<ErrorAnswer> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
