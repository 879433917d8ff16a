import { expect, test } from 'vitest';
import { matchesEventFilter } from '../../sdk/event-filter.ts';
import { eventFilterCases } from '../model/event-filters.ts';

test.each(eventFilterCases)('in the client the filters %j match %s: %s', (filters, type, isMatch) => {
  expect(matchesEventFilter(filters, type)).toBe(isMatch);
});
