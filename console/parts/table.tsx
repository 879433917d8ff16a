import type { ReactNode } from 'react';
import type { ApiProblem } from '../client/request.ts';
import { Anchor } from './anchor.tsx';
import { ProblemBanner } from './problem.tsx';
import { Scrolled } from './scrolled.tsx';
import { Skeleton } from './skeleton.tsx';
import { classes } from './words.ts';

export interface Column<Row> {
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** Amounts and counts stand at the right with digits of one width. */
  readonly align?: 'right';
  /** Left out on phones. */
  readonly isMinor?: boolean;
  /** Takes the room that is left and cuts long text. */
  readonly isWide?: boolean;
}

export interface TableProps<Row> {
  /** Said to screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** Where the row leads: the first column becomes a link, whose area is the whole row. */
  readonly rowLink?: (row: Row) => string;
  readonly isLoading?: boolean;
  readonly isRefreshing?: boolean;
  readonly problem?: ApiProblem | null;
  /** An EmptyState. */
  readonly empty?: ReactNode;
  /** Under the rows, usually `<Pager {...list.paging} />`. */
  readonly footer?: ReactNode;
  /** Inside a Card that is flush too: without a frame of its own. */
  readonly isFlush?: boolean;
}

const rowsWhileLoading = [1, 2, 3, 4, 5, 6];

/** A list as a real table, in a frame of its own. Buttons and links inside a linked row need `relative z-10`. */
export function Table<Row>(props: TableProps<Row>) {
  const { caption, columns, rows, rowKey, rowLink, isLoading = false, problem, empty, footer } = props;
  if (problem && rows.length === 0) return <ProblemBanner problem={problem} />;
  if (!isLoading && rows.length === 0 && empty !== undefined) {
    return <div className="rounded-lg border bg-surface">{empty}</div>;
  }
  return (
    <div
      className={classes(
        'min-w-0 overflow-hidden',
        props.isFlush ? 'rounded-b-lg border-t' : 'rounded-lg border bg-surface',
      )}
    >
      <Scrolled label={caption} isBusy={isLoading || props.isRefreshing === true}>
        <table className="w-full border-collapse text-sm">
          <caption className="sr-only">{caption}</caption>
          <thead>
            <tr className="border-b">
              {columns.map((column) => (
                <th
                  key={column.header}
                  scope="col"
                  className={classes(cellClass(column), 'py-2 font-medium text-faint')}
                >
                  {column.header}
                </th>
              ))}
            </tr>
          </thead>
          <tbody className={classes(props.isRefreshing && 'opacity-60', 'transition-opacity')}>
            {isLoading
              ? rowsWhileLoading.map((row) => (
                  <tr key={row} className="border-b last:border-b-0">
                    {columns.map((column) => (
                      <td key={column.header} className={classes(cellClass(column), 'py-2.5')}>
                        <Skeleton className={classes('h-4 w-20', column.align === 'right' && 'ml-auto')} />
                      </td>
                    ))}
                  </tr>
                ))
              : rows.map((row) => (
                  <tr
                    key={rowKey(row)}
                    className={classes('relative border-b last:border-b-0', rowLink && 'hover:bg-hover')}
                  >
                    {columns.map((column, index) => (
                      <td key={column.header} className={classes(cellClass(column), 'h-11 py-1.5')}>
                        {index === 0 && rowLink ? (
                          <Anchor
                            to={rowLink(row)}
                            className="font-medium text-ink after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
                          >
                            {column.cell(row)}
                          </Anchor>
                        ) : (
                          column.cell(row)
                        )}
                      </td>
                    ))}
                  </tr>
                ))}
          </tbody>
        </table>
      </Scrolled>
      {footer}
    </div>
  );
}

function cellClass<Row>(column: Column<Row>): string {
  return classes(
    'px-3 first:pl-5 last:pr-5 align-middle',
    column.align === 'right' ? 'text-right tabular-nums' : 'text-left',
    column.isMinor && 'max-sm:hidden',
    column.isWide ? 'w-full max-w-0 min-w-40 truncate' : 'whitespace-nowrap',
  );
}
