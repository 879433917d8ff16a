import { expect, test } from 'vitest';
import type { Payment } from '../../generated/shapes.ts';
import { rowsOf } from '../records/rows.tsx';
import { bodyOf, type Draft, draftLike, emptyDraft, updateOf } from './draft.ts';

const least = {
  amount: 1250,
  currency: 'EUR',
  captureMethod: 'automatic',
  paymentMethod: { type: 'card' },
  scenario: 'approve',
  autoAdvance: false,
};

test.each<[string, Partial<Draft>, object]>([
  ['the amount alone', {}, {}],
  ['a customer', { customerId: ' cus_1 ' }, { customerId: 'cus_1' }],
  ['a description', { description: ' A book ' }, { description: 'A book' }],
  ['a reference', { reference: ' order-7 ' }, { reference: 'order-7' }],
  ['texts of spaces', { customerId: ' ', description: ' ', reference: '\t' }, {}],
  ['a payment method', { method: 'wallet' }, { paymentMethod: { type: 'wallet' } }],
  ['manual capture', { captureMethod: 'manual' }, { captureMethod: 'manual' }],
  ['automatic advancing', { isAutomatic: true }, { autoAdvance: true }],
  ['several attempts', { steps: ['decline:x', 'approve'] }, { scenario: ['decline:x', 'approve'] }],
  ['metadata', { metadata: [{ key: 3, name: 'a', value: 'b' }] }, { metadata: { a: 'b' } }],
  ['a metadata row without a name', { metadata: [{ key: 0, name: '', value: 'b' }] }, {}],
])('a payment with %s', (_, part, sent) => {
  expect(bodyOf({ ...emptyDraft(''), amount: '12.50', ...part })).toStrictEqual({ ...least, ...sent });
});

test('the form of a customer page already names the customer', () => {
  expect(bodyOf({ ...emptyDraft('cus_9'), amount: '1' })).toMatchObject({ customerId: 'cus_9' });
});

test.each(['', ' ', '0', '0.00', 'abc', '-5', '1.234'])('the amount %j cannot be sent', (amount) => {
  expect(bodyOf({ ...emptyDraft(''), amount })).toBeUndefined();
});

test.each([
  ['JPY', '1250'],
  ['EUR', '12.50'],
  ['EUR', '12,50'],
  ['KWD', '1.250'],
])('in %s the amount %s is 1250 minor units', (currency, amount) => {
  expect(bodyOf({ ...emptyDraft(''), amount, currency })?.amount).toBe(1250);
});

const existing = {
  amount: 1250,
  currency: 'KWD',
  captureMethod: 'manual',
  paymentMethod: { type: 'wallet' },
  scenario: ['decline:expired_card', 'approve'],
  autoAdvance: true,
  customerId: 'cus_1',
  description: 'A book',
  reference: 'order-7',
  metadata: { a: 'b' },
} as unknown as Payment;

test('a similar payment has the same fields, without the reference', () => {
  const { reference: _, ...same } = existing;
  expect(bodyOf(draftLike(existing))).toEqual(same);
});

test.each<[string, string, Record<string, string>, object | undefined]>([
  ['nothing', ' A book ', { a: 'b' }, undefined],
  ['the description', 'Two books', { a: 'b' }, { description: 'Two books' }],
  ['an empty description', ' ', { a: 'b' }, { description: null }],
  ['the metadata', 'A book', { c: 'd' }, { metadata: { c: 'd' } }],
  ['empty metadata', 'A book', {}, { metadata: {} }],
])('an edit of %s sends only that', (_, description, metadata, sent) => {
  expect(updateOf(existing, description, rowsOf(metadata))).toEqual(sent);
});
