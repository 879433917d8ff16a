import { expect, test } from 'vitest';
import { errorCatalogue } from '../../src/kernel/errors.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';

test('at least one test file triggers every catalogue code over HTTP', () => {
  const provoked = new Set<string>(Object.values(expectedErrorCodes).flat());
  expect([...provoked].sort()).toEqual(Object.keys(errorCatalogue).sort());
});
