import { useRef, useSyncExternalStore } from 'react';

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

const scrolledPx = 160;

/**
 * Holds the rows of a query while the person is scrolled down. `query` identifies it: another one is shown at once. Rows of the
 * previous query, which are shown until those of the new one arrive, are not held.
 */
export function useHeldRows<Row>(
  query: string,
  fresh: readonly Row[],
  keyOf: (row: Row) => string,
  isPrevious: boolean,
): Held<Row> {
  const isScrolled = useSyncExternalStore(subscribeToScroll, () => window.scrollY > scrolledPx);
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
