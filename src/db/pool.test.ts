import { describe, expect, test } from 'vitest';
import { statementLimit } from './pool.ts';

describe('SANDBANK_STATEMENT_TIMEOUT', () => {
  test.each([
    ['of 10 seconds, the default', 10, { connectMsMax: 5_000, queryMsMax: 10_000, lockMsMax: 1_000 }],
    ['of 10 minutes', 600, { connectMsMax: 300_000, queryMsMax: 600_000, lockMsMax: 60_000 }],
    ['of 1 second', 1, { connectMsMax: 5_000, queryMsMax: 1_000, lockMsMax: 1_000 }],
  ])('%s limits the waits for a connection and for a lock too', (_name, seconds, limits) => {
    expect(statementLimit(seconds)).toEqual(limits);
  });
});
