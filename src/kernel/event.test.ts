import { expect, test } from 'vitest';
import { eventFilterCases } from '../../test/model/event-filters.ts';
import { eventFilters, matchesEventFilter } from './event.ts';

test.each(eventFilterCases)('the filters %j match %s: %s', (filters, type, isMatch) => {
  expect(matchesEventFilter(filters, type)).toBe(isMatch);
});

test('the filters of a catalogue are `*`, one for each resource, and the types', () => {
  expect(eventFilters(['payment.created', 'payment.captured', 'customer.created'])).toEqual([
    '*',
    'payment.*',
    'customer.*',
    'payment.created',
    'payment.captured',
    'customer.created',
  ]);
});
