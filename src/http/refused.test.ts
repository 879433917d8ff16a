import { expect, test } from 'vitest';
import { DatabaseFailure } from '../db/failure.ts';
import { refuse } from '../kernel/errors.ts';
import { Refused, refusalOf } from './refused.ts';

test('a refusal passes through unchanged', () => {
  const refusal = refuse('scope_missing', { details: { scope: 'payments:read' } });
  expect(refusalOf(new Refused(refusal))).toBe(refusal);
  expect(new Refused(refusal).message).toBe('scope_missing');
});

test.each<[what: string, error: unknown, refusal: object]>([
  [
    'a database failure can be retried after a second',
    new DatabaseFailure('unavailable', new Error('gone')),
    { code: 'service_unavailable', retryAfterSeconds: 1 },
  ],
  [
    'a body over the limit',
    { code: 'FST_ERR_CTP_BODY_TOO_LARGE', statusCode: 413 },
    { code: 'payload_too_large' },
  ],
  [
    'a content type that is not JSON',
    { code: 'FST_ERR_CTP_INVALID_MEDIA_TYPE', statusCode: 415 },
    { code: 'unsupported_media_type' },
  ],
  [
    'a content type that cannot be read',
    { code: 'FST_ERR_CTP_INVALID_TYPE' },
    { code: 'unsupported_media_type' },
  ],
  [
    'a wrong length, with its message',
    {
      code: 'FST_ERR_CTP_INVALID_CONTENT_LENGTH',
      message: 'Request body size did not match',
      statusCode: 400,
    },
    { code: 'invalid_request', message: 'Request body size did not match.' },
  ],
  ['a path that cannot be decoded', { code: 'FST_ERR_BAD_URL' }, { code: 'invalid_request' }],
  [
    'a body that was cut off',
    { statusCode: 400, message: 'aborted' },
    { code: 'invalid_request', message: 'The request is not complete.' },
  ],
  ['a path outside the directory of the pages', { statusCode: 403 }, { code: 'route_not_found' }],
  ['an unknown Fastify error', { code: 'FST_ERR_OTHER', statusCode: 500 }, { code: 'internal_error' }],
  ['a bug in our code', new TypeError('undefined is not a function'), { code: 'internal_error' }],
  ['a status of 404', { statusCode: 404 }, { code: 'internal_error' }],
])('%s', (_what, error, refusal) => {
  expect(refusalOf(error)).toEqual({ ok: false, ...refusal });
});
