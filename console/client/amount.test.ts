import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { amountText, formatAmount } from './amount.ts';

// The sign of a formatted amount is U+2212, as wide as a digit.
const minus = '\u2212';

describe('formatAmount', () => {
  test.each<[string | number, string, string]>([
    [0, 'JPY', '0'],
    [7, 'JPY', '7'],
    [999, 'JPY', '999'],
    [1000, 'JPY', '1,000'],
    [1234567, 'JPY', '1,234,567'],
    [0, 'EUR', '0.00'],
    [1, 'EUR', '0.01'],
    [10, 'EUR', '0.10'],
    [99, 'EUR', '0.99'],
    [100, 'EUR', '1.00'],
    [1250, 'EUR', '12.50'],
    [99999, 'EUR', '999.99'],
    [100000, 'EUR', '1,000.00'],
    [123456789, 'EUR', '1,234,567.89'],
    [0, 'KWD', '0.000'],
    [5, 'KWD', '0.005'],
    [1000, 'KWD', '1.000'],
    [1234567, 'KWD', '1,234.567'],
    [0, 'CLF', '0.0000'],
    [1, 'CLF', '0.0001'],
    [10000, 'CLF', '1.0000'],
    [12345678, 'CLF', '1,234.5678'],
    [-1, 'JPY', `${minus}1`],
    [-1000, 'JPY', `${minus}1,000`],
    [-1, 'EUR', `${minus}0.01`],
    [-123456, 'EUR', `${minus}1,234.56`],
    [-5, 'KWD', `${minus}0.005`],
    [-12345678, 'CLF', `${minus}1,234.5678`],
    ['0', 'EUR', '0.00'],
    ['-5', 'EUR', `${minus}0.05`],
    [Number.MAX_SAFE_INTEGER, 'EUR', '90,071,992,547,409.91'],
    ['9007199254740993', 'EUR', '90,071,992,547,409.93'],
    ['123456789012345678901234567890', 'JPY', '123,456,789,012,345,678,901,234,567,890'],
    ['123456789012345678901234567890', 'EUR', '1,234,567,890,123,456,789,012,345,678.90'],
    ['-123456789012345678901234567890', 'KWD', `${minus}123,456,789,012,345,678,901,234,567.890`],
  ])('%s %s is %s', (amount, currency, text) => {
    expect(formatAmount(amount, currency)).toBe(text);
  });

  const decimals = fc.constantFrom(['JPY', 0], ['EUR', 2], ['KWD', 3], ['CLF', 4]);

  test('keeps every digit of an amount of any size', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), decimals, (amount, [currency]) => {
        const digits = formatAmount(amount.toString(), currency).replace(minus, '-').replace(/[,.]/g, '');
        expect(BigInt(digits)).toBe(amount);
      }),
    );
  });

  test('groups the whole part in threes and shows exactly the digits of the exponent', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }),
        decimals,
        (amount, [currency, exponent]) => {
          const fraction = exponent === 0 ? '' : `\\.\\d{${exponent}}`;
          expect(formatAmount(amount.toString(), currency)).toMatch(
            new RegExp(`^${minus}?\\d{1,3}(,\\d{3})*${fraction}$`),
          );
        },
      ),
    );
  });
});

test('amountText adds the currency', () => {
  expect(amountText(125_000, 'EUR')).toBe('1,250.00 EUR');
});
