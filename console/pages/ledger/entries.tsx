import { ChevronRight } from 'lucide-react';
import { Fragment, type ReactNode, useId, useState } from 'react';
import type { PagedList } from '../../client/queries.ts';
import type { LedgerEntry, Posting } from '../../generated/shapes.ts';
import { IdLink } from '../../parts/anchor.tsx';
import { IdText } from '../../parts/copy-button.tsx';
import { Money } from '../../parts/money.tsx';
import { NewRows, Pager } from '../../parts/pager.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { ScrollRegion } from '../../parts/scroll-region.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { headClass, useNewKeys } from '../../parts/table.tsx';
import { classes, sentenceCase } from '../../parts/text.ts';
import { Time } from '../../parts/time.tsx';
import { debitSum, Sides } from './sides.tsx';

const columns = ['Reason', 'Record', 'Debit total', 'Posted'] as const;
const rowsWhileLoading = [1, 2, 3, 4, 5, 6];

/** Ledger entries, newest first; each expands to its postings. */
export function Entries({
  list,
  empty,
}: {
  readonly list: PagedList<LedgerEntry>;
  readonly empty: ReactNode;
}) {
  const { rows, isLoading, isRefreshing, problem, paging } = list;
  const isNew = useNewKeys(rows.map(({ id }) => id));
  if (problem && rows.length === 0) return <ProblemBanner problem={problem} onRetry={list.refresh} />;
  if (!isLoading && rows.length === 0) return <div className="rounded-lg border bg-surface">{empty}</div>;
  return (
    <div className="overflow-clip rounded-lg border bg-surface">
      <NewRows {...list} />
      <ScrollRegion label="Ledger entries" isBusy={isLoading || isRefreshing} hasStickyContent>
        <table className="w-full border-collapse text-sm">
          <caption className="sr-only">Ledger entries</caption>
          <thead>
            <tr>
              {columns.map((column) => (
                <th
                  key={column}
                  scope="col"
                  className={classes(
                    'px-3 py-2 first:pl-5 last:pr-5',
                    headClass,
                    column === 'Debit total' ? 'text-right' : 'text-left',
                    isMinor(column) && 'max-sm:hidden',
                  )}
                >
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody className={classes(isRefreshing && 'opacity-60')}>
            {isLoading
              ? rowsWhileLoading.map((row) => <LoadingRow key={row} />)
              : rows.map((entry) => <Entry key={entry.id} entry={entry} isNew={isNew(entry.id)} />)}
          </tbody>
        </table>
      </ScrollRegion>
      <Pager {...paging} count={rows.length} />
    </div>
  );
}

function isMinor(column: string): boolean {
  return column === 'Record';
}

function Entry({ entry, isNew }: { readonly entry: LedgerEntry; readonly isNew: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const recordId = entry.paymentId ?? entry.transferId;
  return (
    <>
      <tr className={classes('relative border-b hover:bg-hover', isOpen && 'bg-hover', isNew && 'row-in')}>
        <td className="h-11 py-1.5 pr-3 pl-5">
          <button
            type="button"
            aria-expanded={isOpen}
            aria-controls={isOpen ? id : undefined}
            onClick={() => setOpen(!isOpen)}
            className="flex items-center gap-1.5 font-medium after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
          >
            <ChevronRight
              aria-hidden
              size={15}
              className={classes('shrink-0 text-faint transition-transform', isOpen && 'rotate-90')}
            />
            {sentenceCase(entry.reason)}
          </button>
        </td>
        <td className="px-3 py-1.5 max-sm:hidden">
          {recordId === undefined ? null : <IdLink id={recordId} className="relative z-10" />}
        </td>
        <td className="px-3 py-1.5 text-right">
          {byCurrency(entry.postings).map(([currency, postings]) => (
            <div key={currency}>
              <Money amount={debitSum(postings)} currency={currency} />
            </div>
          ))}
        </td>
        <td className="py-1.5 pr-5 pl-3 whitespace-nowrap">
          <Time at={entry.createdAt} />
        </td>
      </tr>
      {isOpen ? (
        <tr id={id} className="border-b bg-sunken">
          <td colSpan={columns.length} className="px-3 py-4 sm:px-8">
            <Postings entry={entry} recordId={recordId} />
          </td>
        </tr>
      ) : null}
    </>
  );
}

function Postings({
  entry,
  recordId,
}: {
  readonly entry: LedgerEntry;
  readonly recordId: string | undefined;
}) {
  return (
    <div className="flex max-w-2xl flex-col gap-3">
      <p className="flex flex-wrap items-center gap-x-4 gap-y-1 text-sm text-muted">
        <IdText id={entry.id} what="entry id" />
        <Time at={entry.createdAt} show="full" />
        {recordId === undefined ? null : <IdLink id={recordId} className="sm:hidden" />}
      </p>
      {byCurrency(entry.postings).map(([currency, postings]) => (
        <Fragment key={currency}>
          <h3 className="-mb-1 text-sm font-medium">Postings in {currency}</h3>
          <div className="overflow-x-auto rounded-md border bg-surface">
            <Sides caption={`Postings of ${entry.id} in ${currency}`} rows={postings} hasTotal />
          </div>
        </Fragment>
      ))}
    </div>
  );
}

function byCurrency(postings: readonly Posting[]): readonly (readonly [string, readonly Posting[]])[] {
  const currencies = [...new Set(postings.map(({ currency }) => currency))];
  return currencies.map((currency) => [currency, postings.filter((one) => one.currency === currency)]);
}

function LoadingRow() {
  return (
    <tr className="border-b last:border-b-0">
      {columns.map((column) => (
        <td
          key={column}
          className={classes('px-3 py-2.5 first:pl-5 last:pr-5', isMinor(column) && 'max-sm:hidden')}
        >
          <Skeleton className={classes('h-4 w-24', column === 'Debit total' && 'ml-auto')} />
        </td>
      ))}
    </tr>
  );
}
