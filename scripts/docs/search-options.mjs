/** How MiniSearch indexes and finds; the build and search.js must agree on it. */
export const searchOptions = {
  idField: 'address',
  fields: ['title', 'page', 'names', 'text'],
  storeFields: ['kind', 'page', 'title', 'names', 'excerpt'],
  // A backtick is not punctuation for MiniSearch, and would be a part of the term.
  processTerm: (/** @type {string} */ term) => term.replaceAll('`', '').toLowerCase(),
  searchOptions: {
    combineWith: 'AND',
    boost: { title: 6, names: 6, page: 2 },
    prefix: true,
    // Long terms match despite a typing error; short terms would match too much.
    fuzzy: (/** @type {string} */ term) => (term.length > 5 ? 0.2 : false),
    weights: { prefix: 0.5, fuzzy: 0.1 },
  },
};
