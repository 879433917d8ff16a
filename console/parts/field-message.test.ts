import { expect, test } from 'vitest';
import { fieldMessage } from './field-message.ts';

test.each([
  ['/email must be an email address.', 'Email', 'Email must be an email address.'],
  ['/fee/basisPoints must be <= 10000.', 'Percentage fee', 'Percentage fee must be <= 10000.'],
  ['Use an http:// URL.', 'URL', 'Use an http:// URL.'],
  ['/method must be one of GET, POST.', 'Method', 'Method must be one of GET, POST.'],
  [
    '/operations/0 must be one of a, b, c, d, e, f, g. Did you mean f?',
    'Operations',
    'Operations is not a known value. Did you mean f?',
  ],
  ['/operations/0 must be one of a, b, c, d, e, f, g.', 'Operations', 'Operations is not a known value.'],
])('%s at the field %s: %s', (message, label, shown) => {
  expect(fieldMessage(message, label)).toBe(shown);
});
