import { expect, test } from 'vitest';
import { emailProblem } from './email.ts';

test.each([
  ['ada@example.com', undefined],
  [' ada@example.com ', undefined],
  ['ada@localhost', undefined],
  ['', 'Enter an email address.'],
  ['  ', 'Enter an email address.'],
  ['ada', 'This is not a valid email address.'],
  ['@example.com', 'This is not a valid email address.'],
  ['ada@two@example.com', 'This is not a valid email address.'],
  ['ada love@example.com', 'This is not a valid email address.'],
])('%j as an email address', (text, problem) => {
  expect(emailProblem(text)).toBe(problem);
});
