import fc from 'fast-check';
import { expect, test } from 'vitest';
import { creditSum, debitSum } from './sides.tsx';

const rows = (amounts: readonly (number | string)[]) =>
  amounts.map((amount, index) => ({ account: `a${index}`, currency: 'EUR', amount }));

test.each([
  [[], '0', '0'],
  [[0], '0', '0'],
  [[5, -5], '5', '5'],
  [[5, 7, -12], '12', '12'],
  [['9007199254740993', -1], '9007199254740993', '1'],
])('%j has debits of %s and credits of %s', (amounts, debit, credit) => {
  expect(debitSum(rows(amounts))).toBe(debit);
  expect(creditSum(rows(amounts))).toBe(credit);
});

test('debits minus credits is the exact sum of all amounts', () => {
  fc.assert(
    fc.property(fc.array(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n })), (amounts) => {
      const list = rows(amounts.map(String));
      const sum = amounts.reduce((total, amount) => total + amount, 0n);
      expect(BigInt(debitSum(list)) - BigInt(creditSum(list))).toBe(sum);
    }),
  );
});
