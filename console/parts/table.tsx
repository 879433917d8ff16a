import { type ReactNode, useRef } from 'react';
import type { ApiProblem } from '../client/request.ts';
import { Anchor } from './anchor.tsx';
import { ProblemBanner } from './problem.tsx';
import { ScrollRegion } from './scroll-region.tsx';
import { Skeleton } from './skeleton.tsx';
import { classes } from './text.ts';

export interface Column<Row> {
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** For amounts and counts: right-aligned with tabular digits. */
  readonly align?: 'right';
  /** Hidden on phones. */
  readonly isMinor?: boolean;
  /** Hidden below 1280 pixels, where it would push the last column out of the view. */
  readonly isExtra?: boolean;
  /** Takes the remaining width and truncates long text. */
  readonly isWide?: boolean;
}

export interface TableProps<Row> {
  /** For screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** The target of the row: the first column becomes a link that covers the whole row. */
  readonly rowLink?: (row: Row) => string;
  readonly isLoading?: boolean;
  readonly isRefreshing?: boolean;
  readonly problem?: ApiProblem | null;
  /** An EmptyState. */
  readonly empty?: ReactNode;
  /** Below the rows, usually `<Pager {...list.paging} />`. */
  readonly footer?: ReactNode;
  /** Inside a flush Card: without a border. */
  readonly isFlush?: boolean;
}

const rowsWhileLoading = [1, 2, 3, 4, 5, 6];

/** A list as a table with a border. Buttons and links inside a linked row need `relative z-10`. */
export function Table<Row>(props: TableProps<Row>) {
  const { caption, columns, rows, rowKey, rowLink, isLoading = false, problem, empty, footer } = props;
  const isNew = useNewKeys(rows.map(rowKey));
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
      <ScrollRegion label={caption} isBusy={isLoading || props.isRefreshing === true}>
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
                    className={classes(
                      'relative border-b last:border-b-0',
                      rowLink && 'hover:bg-hover',
                      isNew(rowKey(row)) && 'row-in',
                    )}
                  >
                    {columns.map((column, index) => (
                      <td key={column.header} className={classes(cellClass(column), 'h-9 py-1')}>
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
      </ScrollRegion>
      {footer}
    </div>
  );
}

/** Whether a key joined others that were already shown: then its row slides in. On another page all keys are new, and none does. */
function useNewKeys(keys: readonly string[]): (key: string) => boolean {
  const known = useRef<{ keys: readonly string[]; added: ReadonlySet<string> }>({ keys, added: new Set() });
  if (keys.join(' ') !== known.current.keys.join(' ')) {
    const before = new Set(known.current.keys);
    const hasOverlap = keys.some((key) => before.has(key));
    known.current = { keys, added: new Set(hasOverlap ? keys.filter((key) => !before.has(key)) : []) };
  }
  return (key) => known.current.added.has(key);
}

function cellClass<Row>(column: Column<Row>): string {
  return classes(
    'px-3 first:pl-5 last:pr-5 align-middle',
    column.align === 'right' ? 'text-left tabular-nums sm:text-right' : 'text-left',
    column.isMinor && 'max-sm:hidden',
    column.isExtra && 'max-xl:hidden',
    column.isWide ? 'w-full max-w-0 min-w-40 truncate' : 'whitespace-nowrap',
  );
}
