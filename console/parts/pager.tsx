import { ArrowUp, ChevronLeft, ChevronRight, ChevronsLeft } from 'lucide-react';
import type { PagedList, Paging } from '../client/queries.ts';
import { Button } from './button.tsx';

/** Rows that arrived while the person was scrolled down. Stays visible while the table below scrolls. */
export function NewRows({ newCount, showNew }: Pick<PagedList<unknown>, 'newCount' | 'showNew'>) {
  return (
    <div role="status" className="pointer-events-none sticky top-16 z-[25] flex h-0 justify-center">
      {newCount === 0 ? null : (
        <Button
          variant="primary"
          size="small"
          icon={<ArrowUp aria-hidden size={14} />}
          className="pointer-events-auto -mt-1 shadow-pop"
          onClick={showNew}
        >
          {newCount} new
        </Button>
      )}
    </div>
  );
}

/** Previous and next page by cursor; hidden if there is only one page. */
export function Pager({ hasPrevious, hasNext, isBusy, onFirst, onPrevious, onNext }: Paging) {
  if (!hasPrevious && !hasNext) return null;
  return (
    <nav aria-label="Pages" className="flex items-center justify-end gap-2 border-t px-5 py-2.5">
      <Button
        size="small"
        variant="ghost"
        onClick={onFirst}
        isInert={!hasPrevious}
        icon={<ChevronsLeft aria-hidden size={15} />}
      >
        First
      </Button>
      <Button
        size="small"
        onClick={onPrevious}
        isInert={!hasPrevious}
        icon={<ChevronLeft aria-hidden size={15} />}
      >
        Previous
      </Button>
      <Button size="small" onClick={onNext} isInert={!hasNext} isBusy={isBusy && hasNext}>
        Next
        <ChevronRight aria-hidden size={15} />
      </Button>
    </nav>
  );
}
