import { expect, test } from 'vitest';
import { fieldMessage } from './field-message.ts';
import { paramShowing } from './form-problem.tsx';

test.each([
  ['/email', '/email must be an email address.', 'email', 'Email', 'Email must be an email address.'],
  ['/url', 'Use an http:// URL.', 'url', 'URL', 'Use an http:// URL.'],
  [undefined, '/email must be an email address.', 'email', 'Email', '/email must be an email address.'],
  ['name', 'name must not be empty.', 'name', 'Name', 'Name must not be empty.'],
  ['/metadata', 'A key of /metadata is too long.', 'metadata', 'Metadata', 'A key of Metadata is too long.'],
  [
    '/fee/basisPoints',
    '/fee/basisPoints must be <= 10000.',
    'fee.basisPoints',
    'Fee',
    'Fee must be <= 10000.',
  ],
  ['/headers/a b', '/headers/a b is not known.', 'headers', 'Headers', 'Headers “a b” is not known.'],
  ['/rates/EUR~1USD', '/rates/EUR~1USD is wrong.', 'rates', 'Rates', 'Rates “EUR/USD” is wrong.'],
  ['/method', '/method must be one of GET, POST.', 'method', 'Method', 'Method must be one of GET, POST.'],
  [
    '/operations/0',
    '/operations/0 must be one of a, b, c, d, e, f, g. Did you mean f?',
    'operations',
    'Operations',
    'Operations is not a known value. Did you mean f?',
  ],
  [
    '/operations/0',
    '/operations/0 must be one of a, b, c, d, e, f, g.',
    'operations',
    'Operations',
    'Operations is not a known value.',
  ],
])('%s: %s at the field %s with the label %s is %s', (param, message, fieldParam, label, shown) => {
  expect(fieldMessage({ param, message }, fieldParam, label)).toBe(shown);
});

test.each([
  ['/name', 'name'],
  ['body/name', 'name'],
  ['/beneficiary', 'beneficiary'],
  ['/beneficiary/country', 'beneficiary.country'],
  ['/beneficiary/account', 'beneficiary'],
  ['/names', undefined],
  ['', undefined],
  [undefined, undefined],
])('of several fields, the most specific one shows a problem with the param %s: %s', (param, field) => {
  expect(paramShowing({ param }, ['name', 'beneficiary', 'beneficiary.country'])).toBe(field);
});
