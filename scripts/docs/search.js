// The search, loaded when its field gets the focus. The build bundles it with MiniSearch.
import MiniSearch from 'minisearch';
import { searchOptions } from './search-options.mjs';

/** Entries whose complete name matches the query rank first. */
const exactNameBoost = 1000;

/** @param {string} indexAddress */
export async function openIndex(indexAddress) {
  const response = await fetch(indexAddress);
  if (!response.ok) throw new Error(`The search index returned status ${response.status}.`);
  const index = MiniSearch.loadJSON(await response.text(), searchOptions);
  return (/** @type {string} */ query) => {
    const name = query.trim().toLowerCase();
    const isNamed = (/** @type {any} */ entry) =>
      entry.title.toLowerCase() === name || entry.names.toLowerCase() === name;
    return index.search(query, {
      boostDocument: (_id, _term, entry) => (isNamed(entry) ? exactNameBoost : 1),
    });
  };
}
