import { SearchX } from 'lucide-react';
import { useLimits } from '../../client/capabilities.ts';
import type { Paging } from '../../client/queries.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';

export interface NoMatchProps {
  /** 'payments'. */
  readonly plural: string;
  readonly paging: Paging;
  readonly onClear: () => void;
}

/** The empty state of a list with filters. A search reads a part of a long list at a time: the next page continues with older records. */
export function NoMatch({ plural, paging, onClear }: NoMatchProps) {
  const { rowsSearchedMax } = useLimits();
  const { hasNext, isBusy, onNext } = paging;
  return (
    <EmptyState
      icon={<SearchX aria-hidden size={20} />}
      title={`No matching ${plural}`}
      action={
        <>
          {hasNext ? (
            <Button variant="primary" isBusy={isBusy} onClick={onNext}>
              Search older {plural}
            </Button>
          ) : null}
          <Button onClick={onClear}>Clear filters</Button>
        </>
      }
    >
      {hasNext
        ? `None of ${rowsSearchedMax?.toLocaleString('en') ?? 'these'} ${plural} matches; older ones may.`
        : `Change or clear the filters. Ctrl K searches all kinds of records.`}
    </EmptyState>
  );
}
