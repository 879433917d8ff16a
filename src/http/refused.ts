import type { FastifyError } from 'fastify';
import { type ErrorCode, type Refusal, refuse } from '../kernel/errors.ts';
import { DatabaseFailure } from '../kernel/failure.ts';

/** How a refusal travels through Fastify's hooks, which know only errors. It is rendered in one place. */
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

/** What any thrown thing means to the caller. `internal_error` is the only answer that is our fault. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refused) return error.refusal;
  if (error instanceof DatabaseFailure) return refuse('service_unavailable', { retryAfterSeconds: 1 });
  const { code, message, statusCode } = error as Partial<FastifyError>;
  const known = code === undefined ? undefined : fastifyCodes[code];
  if (known === 'invalid_request')
    return refuse(known, message === undefined ? {} : { message: `${message}.` });
  if (known) return refuse(known);
  // The request ended before its body did: the caller is gone or made a mistake, and nobody reads the answer.
  if (statusCode === 400) return refuse('invalid_request', { message: 'The request is not complete.' });
  // A path that leads out of the folder of the pages.
  if (statusCode === 403) return refuse('route_not_found');
  return refuse('internal_error');
}
