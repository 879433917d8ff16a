import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatMinor, majorText, parseMajor } from './amount.ts';

// The sign of a formatted amount is U+2212, as wide as a digit.
const minus = '\u2212';

describe('formatMinor', () => {
  test.each<[string | number, number, string]>([
    [0, 0, '0'],
    [7, 0, '7'],
    [999, 0, '999'],
    [1000, 0, '1,000'],
    [1234567, 0, '1,234,567'],
    [0, 2, '0.00'],
    [1, 2, '0.01'],
    [10, 2, '0.10'],
    [99, 2, '0.99'],
    [100, 2, '1.00'],
    [1250, 2, '12.50'],
    [99999, 2, '999.99'],
    [100000, 2, '1,000.00'],
    [123456789, 2, '1,234,567.89'],
    [0, 3, '0.000'],
    [5, 3, '0.005'],
    [1000, 3, '1.000'],
    [1234567, 3, '1,234.567'],
    [0, 4, '0.0000'],
    [1, 4, '0.0001'],
    [10000, 4, '1.0000'],
    [12345678, 4, '1,234.5678'],
    [-1, 0, `${minus}1`],
    [-1000, 0, `${minus}1,000`],
    [-1, 2, `${minus}0.01`],
    [-123456, 2, `${minus}1,234.56`],
    [-5, 3, `${minus}0.005`],
    [-12345678, 4, `${minus}1,234.5678`],
    ['0', 2, '0.00'],
    ['-5', 2, `${minus}0.05`],
    [Number.MAX_SAFE_INTEGER, 2, '90,071,992,547,409.91'],
    ['9007199254740993', 2, '90,071,992,547,409.93'],
    ['123456789012345678901234567890', 0, '123,456,789,012,345,678,901,234,567,890'],
    ['123456789012345678901234567890', 2, '1,234,567,890,123,456,789,012,345,678.90'],
    ['-123456789012345678901234567890', 3, `${minus}123,456,789,012,345,678,901,234,567.890`],
  ])('%s with exponent %i is %s', (amount, exponent, text) => {
    expect(formatMinor(amount, exponent)).toBe(text);
  });

  const exponents = fc.integer({ min: 0, max: 4 });

  test('keeps every digit of an amount of any size', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), exponents, (amount, exponent) => {
        const digits = formatMinor(amount.toString(), exponent).replace(minus, '-').replace(/[,.]/g, '');
        expect(BigInt(digits)).toBe(amount);
      }),
    );
  });

  test('groups the whole part in threes and shows exactly the digits of the exponent', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), exponents, (amount, exponent) => {
        const fraction = exponent === 0 ? '' : `\\.\\d{${exponent}}`;
        expect(formatMinor(amount.toString(), exponent)).toMatch(
          new RegExp(`^${minus}?\\d{1,3}(,\\d{3})*${fraction}$`),
        );
      }),
    );
  });
});

describe('parseMajor', () => {
  test.each<[string, number, number]>([
    ['0', 2, 0],
    ['12', 2, 1200],
    ['12.', 2, 1200],
    ['12.5', 2, 1250],
    ['12.50', 2, 1250],
    ['0.01', 2, 1],
    ['007', 2, 700],
    ['  12.50  ', 2, 1250],
    ['12.50\n', 2, 1250],
    ['12', 0, 12],
    ['1250', 0, 1250],
    ['1.5', 3, 1500],
    ['0.005', 3, 5],
    ['1.2345', 4, 12345],
    ['0.0001', 4, 1],
    ['999999999999', 0, 999_999_999_999],
    ['999999999999.99', 2, 99_999_999_999_999],
    ['999999999999.999', 3, 999_999_999_999_999],
  ])('reads %j with exponent %i as %i', (text, exponent, minor) => {
    expect(parseMajor(text, exponent)).toBe(minor);
  });

  test.each<[string, number]>([
    ['', 2],
    ['   ', 2],
    ['.', 2],
    ['-1', 2],
    ['\u22121', 2],
    ['+1', 2],
    ['abc', 2],
    ['12 EUR', 2],
    ['€12', 2],
    ['1e3', 2],
    ['0x10', 2],
    ['Infinity', 2],
    ['NaN', 2],
    ['1.2.3', 2],
    ['12..5', 2],
    ['1 2', 2],
    ['12.505', 2],
    ['12.5', 0],
    ['12.0', 0],
    ['1.2345', 3],
    ['1.23456', 4],
    ['１２', 2],
    ['1234567890123', 2],
    // Above 2^53 in minor units: a number cannot represent it exactly.
    ['999999999999.9999', 4],
    ['900719925474.0992', 4],
  ])('rejects %j with exponent %i', (text, exponent) => {
    expect(parseMajor(text, exponent)).toBeUndefined();
  });

  test('accepts the largest safe integer and rejects the next one', () => {
    expect(parseMajor('900719925474.0991', 4)).toBe(Number.MAX_SAFE_INTEGER);
    expect(parseMajor('900719925474.0992', 4)).toBeUndefined();
  });
});

describe('majorText', () => {
  test.each<[string | number, number, string]>([
    [0, 2, '0.00'],
    [1250, 2, '12.50'],
    [123456789, 2, '1234567.89'],
    [1234567, 0, '1234567'],
    [-1250, 2, '-12.50'],
    [1234567, 3, '1234.567'],
    ['123456789012345678901234567890', 4, '12345678901234567890123456.7890'],
  ])('%s with exponent %i is %s', (amount, exponent, text) => {
    expect(majorText(amount, exponent)).toBe(text);
  });

  test.each([0, 2, 3, 4])('parseMajor reads it back to the same amount with exponent %i', (exponent) => {
    const most = Math.min(Number.MAX_SAFE_INTEGER, 10 ** (12 + exponent) - 1);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: most }), (minor) => {
        expect(parseMajor(majorText(minor, exponent), exponent)).toBe(minor);
      }),
    );
  });
});
