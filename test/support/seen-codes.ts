import type { ErrorCode } from '../../src/kernel/errors.ts';

/** Every error code that an answer carried in this test file. */
export const seenCodes = new Set<ErrorCode>();
