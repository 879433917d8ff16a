import { expect, test } from 'vitest';
import { errorCatalogue } from '../../src/kernel/errors.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';

test('every code of the catalogue is provoked over HTTP by at least one test file', () => {
  const provoked = new Set<string>(Object.values(expectedErrorCodes).flat());
  expect([...provoked].sort()).toEqual(Object.keys(errorCatalogue).sort());
});
