import { type RefObject, useRef, useSyncExternalStore } from 'react';

export interface Held<Row> {
  readonly rows: readonly Row[];
  /** Rows that are newer than the shown ones and not shown. */
  readonly newCount: number;
}

/** The shown rows with their newest content, in the shown order: what the person is reading does not move. */
export function holdRows<Row>(
  shown: readonly Row[],
  fresh: readonly Row[],
  keyOf: (row: Row) => string,
): Held<Row> {
  const byKey = new Map(fresh.map((row) => [keyOf(row), row]));
  const rows = shown.map((row) => byKey.get(keyOf(row)) ?? row);
  const shownKeys = new Set(shown.map(keyOf));
  return { rows, newCount: fresh.filter((row) => !shownKeys.has(keyOf(row))).length };
}

/** The height of the page header, which covers what is above. */
const coveredPx = 56;

/**
 * Holds the rows of a query while the top of the list is scrolled out of view. `query` identifies it: another one is shown at
 * once. Rows of the previous query, which are shown until those of the new one arrive, are not held.
 */
export function useHeldRows<Row>(
  query: string,
  fresh: readonly Row[],
  keyOf: (row: Row) => string,
  isPrevious: boolean,
  top: RefObject<HTMLElement | null>,
): Held<Row> {
  const isScrolled = useSyncExternalStore(
    subscribeToScroll,
    () => top.current !== null && top.current.getBoundingClientRect().top < coveredPx,
  );
  const shown = useRef<{ readonly query: string; readonly rows: readonly Row[] }>({ query, rows: fresh });
  const isHeld = isScrolled && !isPrevious && shown.current.query === query && shown.current.rows.length > 0;
  const held = isHeld ? holdRows(shown.current.rows, fresh, keyOf) : { rows: fresh, newCount: 0 };
  if (!isPrevious) shown.current = { query, rows: held.rows };
  return held;
}

function subscribeToScroll(onScroll: () => void): () => void {
  window.addEventListener('scroll', onScroll, { passive: true });
  return () => window.removeEventListener('scroll', onScroll);
}
