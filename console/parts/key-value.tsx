import type { ReactNode } from 'react';
import { classes } from './text.ts';

export interface KeyValueProps {
  /** Name and value; a null or undefined value shows a dash. */
  readonly items: readonly (readonly [name: string, value: ReactNode])[];
  /** Two columns of pairs on wide screens. */
  readonly isWide?: boolean;
  /** In a side column: narrower names. */
  readonly isNarrow?: boolean;
}

/** A record's fields as a description list. */
export function KeyValue({ items, isWide = false, isNarrow = false }: KeyValueProps) {
  return (
    <dl className={classes('grid gap-x-10 text-base', isWide && 'xl:grid-cols-2')}>
      {items.map(([name, value]) => (
        <div
          key={name}
          className={classes(
            'grid items-baseline gap-3 border-b last:border-b-0',
            isNarrow
              ? 'grid-cols-[minmax(0,7fr)_minmax(0,11fr)] py-1.5 text-sm first:pt-0 last:pb-0'
              : 'py-2 grid-cols-[minmax(0,2fr)_minmax(0,3fr)] sm:grid-cols-[minmax(7rem,11rem)_minmax(0,1fr)]',
          )}
        >
          <dt className="text-sm text-muted">{name}</dt>
          <dd className="min-w-0 break-words">{value ?? <span className="text-faint">—</span>}</dd>
        </div>
      ))}
    </dl>
  );
}
