import { expect, test } from 'vitest';
import { bodyOf, type Draft, emptyDraft } from './draft.ts';

const least = {
  sourceCurrency: 'EUR',
  targetCurrency: 'USD',
  fundFrom: 'external',
  scenario: 'approve',
  autoAdvance: false,
};

test.each<[string, Partial<Draft>, object]>([
  ['an amount to send', {}, { sourceAmount: 1250 }],
  ['an amount to arrive', { side: 'target' }, { targetAmount: 1250 }],
  [
    'other currencies',
    { source: 'GBP', target: 'JPY' },
    { sourceAmount: 1250, sourceCurrency: 'GBP', targetCurrency: 'JPY' },
  ],
  ['the balance as its source', { fundFrom: 'balance' }, { sourceAmount: 1250, fundFrom: 'balance' }],
  [
    'a beneficiary',
    { beneficiary: { name: ' Ada ', country: 'de', account: '' } },
    { sourceAmount: 1250, beneficiary: { name: 'Ada', country: 'DE' } },
  ],
  ['a customer', { customerId: ' cus_1 ' }, { sourceAmount: 1250, customerId: 'cus_1' }],
  ['a reference', { reference: ' r ' }, { sourceAmount: 1250, reference: 'r' }],
  ['texts of spaces', { customerId: ' ', reference: ' ' }, { sourceAmount: 1250 }],
  [
    'metadata',
    { metadata: [{ key: 0, name: 'a', value: 'b' }] },
    { sourceAmount: 1250, metadata: { a: 'b' } },
  ],
  [
    'several sendings',
    { steps: ['return:x', 'approve'] },
    { sourceAmount: 1250, scenario: ['return:x', 'approve'] },
  ],
])('a transfer with %s', (_, part, sent) => {
  expect(bodyOf({ ...emptyDraft, amount: '12.50', ...part })).toStrictEqual({ ...least, ...sent });
});

test.each(['', '0', '0.00', 'abc', '-5', '1.234'])('the amount %j cannot be sent', (amount) => {
  expect(bodyOf({ ...emptyDraft, amount })).toBeUndefined();
});
