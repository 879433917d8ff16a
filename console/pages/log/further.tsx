import type { ReactNode } from 'react';
import type { Paging } from '../../client/queries.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';

export interface NothingFoundProps {
  readonly paging: Paging;
  readonly icon: ReactNode;
  readonly isFiltered: boolean;
  readonly title: string;
  /** What belongs here, when no filter is set. */
  readonly children: ReactNode;
}

/**
 * A log is searched a stretch at a time: a page without rows may have more behind it, and then the way on must not be
 * hidden.
 */
export function NothingFound({ paging, icon, isFiltered, title, children }: NothingFoundProps) {
  if (paging.hasNext) {
    return (
      <EmptyState
        icon={icon}
        title="Nothing found so far"
        action={
          <Button look="primary" onClick={paging.onNext} isBusy={paging.isBusy}>
            Look further back
          </Button>
        }
      >
        The newest part of the log was searched. What you look for may be older.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={icon}
      title={isFiltered ? 'Nothing fits these filters' : title}
      action={paging.hasPrevious ? <Button onClick={paging.onFirst}>Back to the newest</Button> : undefined}
    >
      {isFiltered ? 'Take a filter away to see more.' : children}
    </EmptyState>
  );
}
