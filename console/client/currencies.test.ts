import { expect, test } from 'vitest';
import { exponentOf } from './currencies.ts';

const currencies = [
  { code: 'EUR', exponent: 2, name: 'Euro' },
  { code: 'JPY', exponent: 0, name: 'Yen' },
  { code: 'CLF', exponent: 4, name: 'Unidad de Fomento' },
  // Differs from the ISO 4217 exponent on purpose.
  { code: 'KWD', exponent: 2, name: 'Kuwaiti Dinar' },
];

test.each([
  ['EUR', 2],
  ['JPY', 0],
  ['CLF', 4],
  ['KWD', 2],
])('the server decides the exponent of %s', (code, exponent) => {
  expect(exponentOf(currencies, code)).toBe(exponent);
});

test.each([
  ['EUR', 2],
  ['USD', 2],
  ['JPY', 0],
  ['KRW', 0],
  ['KWD', 3],
  ['BHD', 3],
])('before the server has responded, %s has its ISO 4217 exponent', (code, exponent) => {
  expect(exponentOf([], code)).toBe(exponent);
});

test.each(['', 'E', 'EURO', '12', '€'])('the malformed code %j has two digits and does not throw', (code) => {
  expect(exponentOf([], code)).toBe(2);
});
