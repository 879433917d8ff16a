import { expect, test } from 'vitest';
import type { Customer } from '../../generated/shapes.ts';
import { bodyOf, type Draft, draftOf } from './draft.ts';

const ada: Customer = {
  object: 'customer',
  sandbox: true,
  id: 'cus_1',
  status: 'active',
  name: 'Ada',
  email: null,
  phone: '+44 1',
  reference: null,
  metadata: { tier: 'gold' },
  allowedActions: ['update', 'archive'],
  version: 1,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
};

test('the form of an existing customer is prefilled, with empty texts for null', () => {
  expect(draftOf(ada)).toEqual({
    name: 'Ada',
    email: '',
    phone: '+44 1',
    reference: '',
    metadata: [{ key: 0, name: 'tier', value: 'gold' }],
  });
});

test('the form of a new customer is empty', () => {
  expect(draftOf(undefined)).toEqual({ name: '', email: '', phone: '', reference: '', metadata: [] });
});

test.each<[string, Partial<Draft>, object]>([
  ['nothing', {}, {}],
  ['only surrounding spaces', { name: ' Ada ' }, {}],
  ['the name', { name: ' Grace ' }, { name: 'Grace' }],
  ['a field that was empty', { email: 'ada@example.com' }, { email: 'ada@example.com' }],
  ['a cleared field', { phone: ' ' }, { phone: null }],
  [
    'a metadata value',
    { metadata: [{ key: 0, name: 'tier', value: 'iron' }] },
    { metadata: { tier: 'iron' } },
  ],
  ['cleared metadata', { metadata: [] }, { metadata: {} }],
])('an edit of %s sends only the difference', (_, part, body) => {
  expect(bodyOf({ ...draftOf(ada), ...part }, ada)).toStrictEqual(body);
});

test('a new customer sends only the filled fields', () => {
  const draft = { ...draftOf(undefined), name: 'Ada', metadata: [{ key: 0, name: '', value: 'x' }] };
  expect(bodyOf(draft, undefined)).toStrictEqual({ name: 'Ada' });
});
