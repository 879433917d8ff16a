import type { FastifyError } from 'fastify';
import { DatabaseFailure } from '../db/failure.ts';
import { type ErrorCode, type Refusal, refuse } from '../kernel/errors.ts';

/** Carries a refusal through Fastify hooks, which accept only errors. The error handler renders it. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.code);
    this.refusal = refusal;
  }
}

const fastifyCodes: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'invalid_request',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'invalid_request',
  FST_ERR_BAD_URL: 'invalid_request',
};

/** Maps any thrown value to a refusal. Only `internal_error` is a fault of the server. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refused) return error.refusal;
  if (error instanceof DatabaseFailure) return refuse('service_unavailable', { retryAfterSeconds: 1 });
  const { code, message, statusCode } = error as Partial<FastifyError>;
  const errorCode = code === undefined ? undefined : fastifyCodes[code];
  if (errorCode === 'invalid_request')
    return refuse(errorCode, message === undefined ? {} : { message: `${message}.` });
  if (errorCode) return refuse(errorCode);
  // The request ended before its body was complete: the client disconnected or sent an invalid request, and reads no response.
  if (statusCode === 400) return refuse('invalid_request', { message: 'The request is not complete.' });
  // A path outside the directory of the pages.
  if (statusCode === 403) return refuse('route_not_found');
  return refuse('internal_error');
}
