import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decimalText, exponentOf, parseAmount, parseDecimal } from '../../sdk/amount.ts';
import { amountText, currencies } from '../../src/kernel/currency.ts';

test('the decimals of every currency are those of the server', () => {
  expect(currencies.map(({ code }) => [code, exponentOf(code)])).toEqual(
    currencies.map(({ code, exponent }) => [code, exponent]),
  );
});

test('the server writes amounts like the client', () => {
  for (const { code } of currencies)
    for (const amount of [0, 5, 1250, 999_999_999_999])
      expect(amountText(BigInt(amount), code)).toBe(`${decimalText(amount, exponentOf(code))} ${code}`);
});

describe('parseDecimal', () => {
  test.each<[string, number, number]>([
    ['0', 2, 0],
    ['12', 2, 1200],
    ['12.', 2, 1200],
    ['12,', 2, 1200],
    ['12.5', 2, 1250],
    ['12,5', 2, 1250],
    ['12.50', 2, 1250],
    ['12,50', 2, 1250],
    ['.5', 2, 50],
    [',5', 2, 50],
    ['0.01', 2, 1],
    ['0,01', 2, 1],
    ['007', 2, 700],
    ['0000000000012', 2, 1200],
    ['  12.50  ', 2, 1250],
    ['12.50\n', 2, 1250],
    ['12', 0, 12],
    ['1.5', 3, 1500],
    ['1,5', 3, 1500],
    ['0.005', 3, 5],
    ['0,005', 3, 5],
    ['1234,567', 3, 1_234_567],
    ['1.2345', 4, 12345],
    ['0.0001', 4, 1],
    ['999999999999', 0, 999_999_999_999],
    ['999999999999.99', 2, 99_999_999_999_999],
    ['999999999999.999', 3, 999_999_999_999_999],
    ['900719925474.0991', 4, Number.MAX_SAFE_INTEGER],
  ])('%j with %i decimals is %i', (text, exponent, units) => {
    expect(parseDecimal(text, exponent)).toMatchObject({ units });
  });

  test.each<[string, number, number]>([
    ['1,250', 2, 125_000],
    ['1,250', 0, 1250],
    ['1,250.00', 2, 125_000],
    ['1.250,00', 2, 125_000],
    ['1,250,000', 2, 125_000_000],
    ['1.250.000', 2, 125_000_000],
    ['1.250.000', 0, 1_250_000],
    ['1,250,000.5', 2, 125_000_050],
    ['1.250.000,5', 2, 125_000_050],
    ['1,250.500', 3, 1_250_500],
    ['1.250,500', 3, 1_250_500],
    ['1,250,000', 3, 1_250_000_000],
    ['1 250', 2, 125_000],
    ['1 250,50', 2, 125_050],
    ['1\u00a0250,50', 2, 125_050],
    ['1\u202f250\u202f000.50', 2, 125_000_050],
    ["1'250.50", 2, 125_050],
    ['1\u2019250.50', 2, 125_050],
  ])('grouped digits: %j with %i decimals is %i', (text, exponent, units) => {
    expect(parseDecimal(text, exponent)).toMatchObject({ units });
  });

  test.each([
    '',
    '   ',
    '.',
    ',',
    '-1',
    '\u22121',
    '+1',
    'abc',
    '12 EUR',
    '€12',
    '1e3',
    '0x10',
    'NaN',
    '１２',
  ])('%j is not a number', (text) => {
    expect(parseDecimal(text, 2)).toEqual({ problem: 'invalid' });
  });

  test.each([
    '1.2.3',
    '12..5',
    '12,,5',
    '1 2',
    '1 25',
    '12 50',
    '1234 567',
    '1\n250',
    "1'234 567",
    '0 250',
    '1,5 000',
    '1,25,000',
    '1,250.00.00',
    '1.250,00,00',
    '1,2.5',
    '12,50.00',
    '1250,000.00',
    '0,250.00',
    ',250.00',
  ])('separators in the wrong place: %j', (text) => {
    expect(parseDecimal(text, 2)).toEqual({ problem: 'invalid' });
  });

  test.each<[string, number]>([
    ['12.505', 2],
    ['1.250', 2],
    ['1234,567', 2],
    ['0,500', 2],
    ['12.5', 0],
    ['12,50', 0],
    ['1.250', 0],
    ['12.0', 0],
    ['1.2345', 3],
    ['1.23456', 4],
  ])('%j has more than %i decimals', (text, exponent) => {
    expect(parseDecimal(text, exponent)).toEqual({ problem: 'too_many_decimals' });
  });

  test.each([3, 4])('with %i decimals, 1,250 has two meanings and is not guessed', (exponent) => {
    const problem = { problem: 'ambiguous', meanings: ['1.250', '1250'] };
    expect(parseDecimal('1,250', exponent)).toEqual(problem);
  });

  test.each<[string, number]>([
    ['1234567890123', 2],
    // Above 2^53 in minor units: a number cannot represent it exactly.
    ['999999999999.9999', 4],
    ['900719925474.0992', 4],
  ])('%j with %i decimals is too large', (text, exponent) => {
    expect(parseDecimal(text, exponent)).toEqual({ problem: 'too_large' });
  });

  test.each([0, 2, 3, 4])('reads back what decimalText writes with %i decimals', (exponent) => {
    const most = Math.min(Number.MAX_SAFE_INTEGER, 10 ** (12 + exponent) - 1);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: most }), (units) => {
        expect(parseDecimal(decimalText(units, exponent), exponent)).toMatchObject({ units });
      }),
    );
  });

  test('never reads a comma and a dot as different amounts unless the comma groups thousands', () => {
    fc.assert(
      fc.property(fc.nat(999_999), fc.stringMatching(/^\d{1,2}$/), (whole, decimals) => {
        expect(parseDecimal(`${whole},${decimals}`, 2)).toEqual(parseDecimal(`${whole}.${decimals}`, 2));
      }),
    );
  });
});

test.each<[string, string, string]>([
  ['1,250', 'KWD', 'Ambiguous: enter 1.250 or 1250.'],
  ['12.505', 'EUR', 'EUR has at most 2 decimals.'],
  ['12,5', 'jpy', 'JPY has no decimals.'],
  ['1234567890123', 'EUR', 'The amount is too large.'],
  ['abc', 'EUR', 'Enter a number such as 12.50.'],
  ['abc', 'JPY', 'Enter a number such as 1250.'],
])('%j in %s: %s', (text, currency, problem) => {
  expect(parseAmount(text, currency)).toEqual({ problem });
});

test.each<[number | string, number, string]>([
  [0, 2, '0.00'],
  [1250, 2, '12.50'],
  [123456789, 2, '1234567.89'],
  [1234567, 0, '1234567'],
  [-1250, 2, '-12.50'],
  [-5, 3, '-0.005'],
  ['123456789012345678901234567890', 4, '12345678901234567890123456.7890'],
])('%s with %i decimals is written as %s', (amount, exponent, text) => {
  expect(decimalText(amount, exponent)).toBe(text);
});
