import type { ErrorAnswer, ErrorCode } from './generated/shapes.ts';

/** Codes that the client gives itself, because no server has answered. */
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

/** What every call throws. The subclasses say what kind of mistake it was, `code` which one. */
export class SandbankError extends Error {
  override readonly name: string = 'SandbankError';
  readonly code: ErrorCode | LocalErrorCode;
  /** The status of the answer; undefined when there was none. */
  readonly status: number | undefined;
  /** A JSON pointer into the body, or the name of a parameter or header. */
  readonly param: string | undefined;
  readonly details: Record<string, unknown> | undefined;
  /** What the record can do now, when the action was not open to it. */
  readonly allowedActions: readonly string[] | undefined;
  /** Whether the same request may come out differently later. */
  readonly retryable: boolean;
  readonly docUrl: string | undefined;
  /** Find the request by it in the console and in the log of the server. */
  readonly requestId: string | undefined;
  /** Whether the refusal is one that was kept for this idempotency key. */
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

/** No answer came: the server is not there, or the connection broke. A write may have happened; the same key finds out. */
export class ConnectionError extends SandbankError {
  override readonly name = 'ConnectionError';
}

/** No answer came in time. */
export class TimeoutError extends SandbankError {
  override readonly name = 'TimeoutError';
}

/** 400, 405, 413, 415, 422: the request is wrong, or a rule forbids it. Nothing changed. */
export class InvalidRequestError extends SandbankError {
  override readonly name = 'InvalidRequestError';
}

/** 401: no key, or one that is not valid. */
export class AuthenticationError extends SandbankError {
  override readonly name = 'AuthenticationError';
}

/** 403: the key may not do this. */
export class PermissionError extends SandbankError {
  override readonly name = 'PermissionError';
}

/** 404: there is no such record in this organization, or no such route. */
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

/** 5xx: the server failed. A write may have happened; the same key finds out. */
export class ServerError extends SandbankError {
  override readonly name = 'ServerError';
}

/** A webhook that is not to be trusted. `check` says which check failed, the message how to mend it. */
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

/** The error that an answer stands for. An answer that is not ours (a proxy's page, say) keeps its status. */
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
    const message = `The answer has the status ${status} and no error in it that is known here: ${text.slice(0, 200)}`;
    return new Class({ ...more, status, code: 'unreadable_answer', message, retryable: status >= 500 });
  }
  // A server with a seed sends a path, so that its answers do not depend on its port.
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
