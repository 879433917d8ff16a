import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  activeFilters,
  clearedFilters,
  mergeFilters,
  nextPage,
  type Page,
  pickFilters,
  previousPage,
  type Search,
} from './search-params.ts';

/** The URL that the router writes for these parameters. */
function urlOf(search: Search): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) if (value !== undefined) params.set(name, value);
  return params.toString();
}

describe('pickFilters', () => {
  test.each<[string, Search, string[], Search]>([
    [
      'picks the named parameters',
      { status: 'failed', q: 'ada' },
      ['status', 'q'],
      { status: 'failed', q: 'ada' },
    ],
    [
      'ignores parameters of others',
      { status: 'failed', app: 'app_1', cursor: 'c' },
      ['status'],
      { status: 'failed' },
    ],
    ['omits an empty value', { status: '', q: 'ada' }, ['status', 'q'], { q: 'ada' }],
    ['omits an undefined value', { status: undefined }, ['status'], {}],
    ['omits a missing parameter', {}, ['status'], {}],
    ['keeps the text 0', { share: '0' }, ['share'], { share: '0' }],
  ])('%s', (_, search, names, filters) => {
    expect(pickFilters(search, names)).toStrictEqual(filters);
  });
});

describe('mergeFilters', () => {
  test.each<[string, Search, Search, string]>([
    ['adds a filter', {}, { status: 'failed' }, 'status=failed'],
    ['replaces a filter', { status: 'failed' }, { status: 'settled' }, 'status=settled'],
    [
      'keeps the other parameters',
      { app: 'app_1', q: 'ada' },
      { status: 'failed' },
      'app=app_1&q=ada&status=failed',
    ],
    ['removes a filter set to an empty text', { status: 'failed', q: 'ada' }, { status: '' }, 'q=ada'],
    ['removes a filter set to undefined', { status: 'failed', q: 'ada' }, { status: undefined }, 'q=ada'],
    ['drops an empty parameter that the URL already had', { q: '' }, { status: 'failed' }, 'status=failed'],
    ['returns to the first page', { cursor: 'c2', q: 'ada' }, { status: 'failed' }, 'q=ada&status=failed'],
    ['returns to the first page when a filter is removed', { cursor: 'c2', q: 'ada' }, { q: '' }, ''],
  ])('%s', (_, search, change, url) => {
    expect(urlOf(mergeFilters(search, change))).toBe(url);
  });

  test('does not modify the current search', () => {
    const search = Object.freeze({ status: 'failed', cursor: 'c2' });
    mergeFilters(search, { status: '' });
    expect(search).toEqual({ status: 'failed', cursor: 'c2' });
  });

  const searches = fc.dictionary(
    fc.constantFrom('status', 'q', 'app', 'cursor', 'createdAfter'),
    fc.option(fc.string(), { nil: undefined }),
    { noNullPrototype: true },
  );

  test('never leaves an empty value or a cursor, and applies every change', () => {
    fc.assert(
      fc.property(searches, searches, (search, change) => {
        const merged = mergeFilters(search, change);
        expect(Object.values(merged)).not.toContain('');
        expect(merged.cursor).toBeUndefined();
        for (const name of ['status', 'q', 'app', 'createdAfter']) {
          const wanted = name in change ? change[name] : search[name];
          expect(merged[name]).toBe(wanted === '' ? undefined : wanted);
        }
      }),
    );
  });

  test('applying the same change twice equals applying it once', () => {
    fc.assert(
      fc.property(searches, searches, (search, change) => {
        const once = mergeFilters(search, change);
        expect(urlOf(mergeFilters(once, change))).toBe(urlOf(once));
      }),
    );
  });
});

describe('clearedFilters', () => {
  test('removes every filter that is set and leaves other parameters alone', () => {
    const filters = { q: 'ada', status: 'failed', createdAfter: undefined };
    expect(activeFilters(filters)).toEqual(['q', 'status']);
    const search = { ...filters, app: 'app_1', cursor: 'c2' };
    expect(urlOf(mergeFilters(search, clearedFilters(filters)))).toBe('app=app_1');
  });
});

describe('paging', () => {
  const first: Page = { cursor: undefined, previous: [] };

  test('going forward and back visits the same pages in reverse order', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 20 }), (cursors) => {
        let page = first;
        const visited = [page.cursor];
        for (const cursor of cursors) {
          page = nextPage(page, cursor);
          visited.push(page.cursor);
        }
        for (const cursor of visited.reverse()) {
          expect(page.cursor).toBe(cursor);
          page = previousPage(page);
        }
        expect(page).toEqual(first);
      }),
    );
  });

  test('a linked page without stored cursors goes back to the first page', () => {
    expect(previousPage({ cursor: 'c7', previous: [] })).toEqual(first);
  });
});
