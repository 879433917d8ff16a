import { ArrowUp, ChevronLeft, ChevronRight, ChevronsLeft } from 'lucide-react';
import type { PagedList, Paging } from '../client/queries.ts';
import { Button } from './button.tsx';
import { pluralize } from './text.ts';

/** The top of a list, and the rows that arrived while it was scrolled out of view. The button stays visible while the list scrolls. */
export function NewRows({
  newCount,
  showNew,
  top,
}: Pick<PagedList<unknown>, 'newCount' | 'showNew' | 'top'>) {
  return (
    <>
      <div ref={top} className="scroll-mt-56" />
      <div role="status" className="pointer-events-none sticky top-16 z-[25] flex h-0 justify-center">
        {newCount === 0 ? null : (
          <Button
            variant="primary"
            size="small"
            icon={<ArrowUp aria-hidden size={14} />}
            className="pointer-events-auto shadow-pop"
            onClick={showNew}
          >
            {newCount} new
          </Button>
        )}
      </div>
    </>
  );
}

export interface PagerProps extends Paging {
  /** The number of rows of this page. */
  readonly count: number;
  /** The number of rows of all pages, where it is known: '316'. */
  readonly total?: string | undefined;
}

/** Previous and next page by cursor; hidden if there is only one page. */
export function Pager({
  count,
  total,
  hasPrevious,
  hasNext,
  isBusy,
  onFirst,
  onPrevious,
  onNext,
}: PagerProps) {
  if (!hasPrevious && !hasNext) return null;
  return (
    <nav aria-label="Pages" className="flex items-center justify-end gap-2 border-t px-5 py-2.5">
      <span className="mr-auto text-sm text-muted tabular-nums max-sm:hidden">
        {total === undefined ? pluralize(count, 'row') : `${count} of ${total}`}
      </span>
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
