import { describe, expect, it } from 'vitest';
import { errorBody, resourceBody, withRequestId } from './envelope.ts';
import { refuse } from './errors.ts';

describe('bodies', () => {
  it('have the request id after the marker, even when user data contains the marker', () => {
    const resource = {
      object: 'payment',
      sandbox: true,
      status: 'pending',
      description: '"sandbox":true',
    } as const;
    expect(JSON.parse(resourceBody(resource, 'req_1'))).toEqual({ ...resource, requestId: 'req_1' });
    expect(
      withRequestId(JSON.stringify(resource), 'req_1').startsWith(
        '{"object":"payment","sandbox":true,"requestId":"req_1","status"',
      ),
    ).toBe(true);
  });

  it('of errors describe the problem, the fix and where to read more', () => {
    expect(JSON.parse(errorBody(refuse('rate_limited'), 'req_1', 'http://x/docs'))).toEqual({
      object: 'error',
      sandbox: true,
      requestId: 'req_1',
      status: 'error',
      error: {
        code: 'rate_limited',
        message: expect.stringContaining('Retry-After'),
        retryable: true,
        docUrl: 'http://x/docs/errors#rate_limited',
      },
    });
  });
});
