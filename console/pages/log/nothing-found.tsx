import type { ReactNode } from 'react';
import type { Paging } from '../../client/queries.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';

export interface NothingFoundProps {
  readonly paging: Paging;
  readonly icon: ReactNode;
  readonly isFiltered: boolean;
  readonly title: string;
  /** The empty text if no filter is set. */
  readonly children: ReactNode;
}

/**
 * The empty state of a log. The server searches a log in sections: a page without rows may have more rows after it, and
 * then the button to continue must stay visible.
 */
export function NothingFound({ paging, icon, isFiltered, title, children }: NothingFoundProps) {
  if (paging.hasNext) {
    return (
      <EmptyState
        icon={icon}
        title="No matches so far"
        action={
          <Button variant="primary" onClick={paging.onNext} isBusy={paging.isBusy}>
            Search older entries
          </Button>
        }
      >
        Only the newest part of the log was searched. Older entries may match.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={icon}
      title={isFiltered ? 'No results' : title}
      action={paging.hasPrevious ? <Button onClick={paging.onFirst}>Back to the newest</Button> : undefined}
    >
      {isFiltered ? 'Clear the filters to see more.' : children}
    </EmptyState>
  );
}
