import { expect, test } from 'vitest';
import { consoleMessage, consoleMessages } from '../../console/client/console-message.ts';
import { consoleErrors } from '../../src/kernel/console-errors.ts';
import { errorCatalogue } from '../../src/kernel/errors.ts';

const defaultMessage = (code: keyof typeof errorCatalogue) =>
  `${errorCatalogue[code].description} ${errorCatalogue[code].resolution}`;

test('every replaced message is that of an error of the server', () => {
  const codes = Object.keys({ ...errorCatalogue, ...consoleErrors });
  for (const code of Object.keys(consoleMessages)) expect(codes).toContain(code);
});

test('a fixed message of the API names no field or header', () => {
  for (const code of [
    ...['beneficiary_missing', 'customer_archived', 'customer_not_found', 'quote_expired'],
    ...['replay_running', 'webhook_not_found', 'clock_advancing', 'rate_limited', 'examination_running'],
  ] as const)
    expect(consoleMessage(code, defaultMessage(code as keyof typeof errorCatalogue))).not.toMatch(
      /`|Retry-After|details\.|same request/,
    );
});

test('a message without API wording is unchanged', () => {
  const message = '20.00 EUR exceeds the refundable amount of 12.50 EUR.';
  expect(consoleMessage('amount_exceeds_refundable', message)).toBe(message);
  expect(consoleMessage(undefined, 'The server did not respond.')).toBe('The server did not respond.');
});
