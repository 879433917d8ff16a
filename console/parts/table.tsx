import { type KeyboardEvent, type ReactNode, useRef } from 'react';
import type { PagedList } from '../client/queries.ts';
import type { ApiProblem } from '../client/request.ts';
import type { Selection } from '../client/selection.ts';
import { Anchor } from './anchor.tsx';
import { NewRows, Pager } from './pager.tsx';
import { ProblemBanner } from './problem.tsx';
import { ScrollRegion } from './scroll-region.tsx';
import { Skeleton } from './skeleton.tsx';
import { SelectPage, SelectRow, selectByKey } from './table-selection.tsx';
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
  /** Hidden below 1440 pixels: details that the page of the row shows too. */
  readonly isDetail?: boolean;
  /** Takes the remaining width and truncates long text. */
  readonly isWide?: boolean;
}

/** `list` for a page of a list: the table then shows its pages and its new rows too. */
export type TableProps<Row> = TableLayout<Row> & (ListContent<Row> | RowContent<Row>);

interface ListContent<Row> {
  readonly list: PagedList<Row>;
  /** The number of rows on all pages, where it is known: '316'. */
  readonly total?: string | undefined;
}

interface RowContent<Row> {
  readonly list?: undefined;
  readonly rows: readonly Row[];
  readonly isLoading?: boolean;
  readonly isRefreshing?: boolean;
  readonly problem?: ApiProblem | null;
  /** Below the rows. */
  readonly footer?: ReactNode;
}

interface TableLayout<Row> {
  /** For screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rowKey: (row: Row) => string;
  /** The target of the row: the first column becomes a link that covers the whole row. */
  readonly rowLink?: (row: Row) => string;
  /** An EmptyState. */
  readonly empty?: ReactNode;
  /** Adds a column with checkboxes; the actions are in a `<BulkBar>` below the table. */
  readonly selection?: Selection<Row> | undefined;
  /** Inside a flush Card: without a border. */
  readonly isFlush?: boolean;
}

const rowsWhileLoading = [1, 2, 3, 4, 5, 6];

/** A list as a table with a border. Buttons and links inside a linked row need `relative z-10`. */
export function Table<Row>(props: TableProps<Row>) {
  const { caption, rowKey, empty } = props;
  const { rows, isLoading = false, isRefreshing = false, problem, footer } = contentOf(props);
  const isNew = useNewKeys(rows.map(rowKey));
  if (problem && rows.length === 0) return <ProblemBanner problem={problem} />;
  if (!isLoading && rows.length === 0 && empty !== undefined) {
    return <div className="rounded-lg border bg-surface">{empty}</div>;
  }
  return (
    <div
      className={classes(
        // Not `overflow-hidden`, which would be a scroll container: the header sticks to the window.
        'min-w-0 overflow-clip',
        props.isFlush ? 'rounded-b-lg border-t' : 'rounded-lg border bg-surface',
      )}
    >
      {props.list === undefined ? null : <NewRows {...props.list} />}
      <ScrollRegion label={caption} isBusy={isLoading || isRefreshing} hasStickyContent>
        <table className="w-full border-collapse text-sm">
          <caption className="sr-only">{caption}</caption>
          <Head
            columns={props.columns}
            selection={props.selection}
            isEmpty={isLoading || rows.length === 0}
          />
          <tbody
            className={classes(isRefreshing && 'opacity-60', 'transition-opacity')}
            {...(props.selection ? { onKeyDown: keyHandler(props.selection) } : {})}
          >
            {isLoading
              ? rowsWhileLoading.map((row) => (
                  <SkeletonRow
                    key={row}
                    columns={props.columns}
                    hasSelection={props.selection !== undefined}
                  />
                ))
              : rows.map((row) => (
                  <BodyRow
                    key={rowKey(row)}
                    {...props}
                    row={row}
                    id={rowKey(row)}
                    isNew={isNew(rowKey(row))}
                  />
                ))}
          </tbody>
        </table>
      </ScrollRegion>
      {footer}
    </div>
  );
}

function contentOf<Row>(props: TableProps<Row>): RowContent<Row> {
  const { list } = props;
  if (list === undefined) return props;
  const { rows, isLoading, isRefreshing, problem, paging } = list;
  const footer = <Pager {...paging} count={rows.length} total={props.total} />;
  return { rows, isLoading, isRefreshing, problem, footer };
}

function keyHandler<Row>(selection: Selection<Row>) {
  return (event: KeyboardEvent) => selectByKey(event, selection);
}

/** A header cell that stays visible. A shadow instead of a border: borders of collapsed cells do not move with it. */
export const headClass =
  'sticky top-(--sticky-top) z-[15] bg-surface font-medium text-faint shadow-[inset_0_-1px_0_var(--line)]';

interface HeadProps<Row> extends Pick<TableLayout<Row>, 'columns' | 'selection'> {
  readonly isEmpty: boolean;
}

function Head<Row>({ columns, selection, isEmpty }: HeadProps<Row>) {
  return (
    <thead>
      <tr>
        {selection === undefined ? null : (
          <th scope="col" className={classes(headClass, 'w-10 p-0')}>
            <SelectPage selection={selection} isEmpty={isEmpty} />
          </th>
        )}
        {columns.map((column) => (
          <th key={column.header} scope="col" className={classes(cellClass(column), headClass, 'py-2')}>
            {column.header}
          </th>
        ))}
      </tr>
    </thead>
  );
}

interface SkeletonRowProps<Row> extends Pick<TableLayout<Row>, 'columns'> {
  readonly hasSelection: boolean;
}

function SkeletonRow<Row>({ columns, hasSelection }: SkeletonRowProps<Row>) {
  return (
    <tr className="border-b last:border-b-0">
      {hasSelection ? <td /> : null}
      {columns.map((column) => (
        <td key={column.header} className={classes(cellClass(column), 'py-2.5')}>
          <Skeleton className={classes('h-4 w-20', column.align === 'right' && 'ml-auto')} />
        </td>
      ))}
    </tr>
  );
}

interface BodyRowProps<Row> extends Pick<TableLayout<Row>, 'columns' | 'rowLink' | 'selection'> {
  readonly row: Row;
  readonly id: string;
  readonly isNew: boolean;
}

function BodyRow<Row>({ row, id, columns, rowLink, selection, isNew }: BodyRowProps<Row>) {
  const isSelected = selection?.has(id) ?? false;
  return (
    <tr
      data-id={id}
      className={classes(
        'relative border-b last:border-b-0',
        isSelected ? 'bg-accent-soft' : rowLink && 'hover:bg-hover',
        isNew && 'row-in',
      )}
    >
      {selection === undefined ? null : (
        <td className="p-0">
          <SelectRow selection={selection} id={id} row={row} />
        </td>
      )}
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
  );
}

/** Whether a key joined others that were already shown: then its row slides in. On another page all keys are new, and none does. */
export function useNewKeys(keys: readonly string[]): (key: string) => boolean {
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
    'px-2 first:pl-4 last:pr-4 xl:px-3 xl:first:pl-5 xl:last:pr-5 align-middle',
    column.align === 'right' ? 'text-left tabular-nums sm:text-right' : 'text-left',
    column.isMinor && 'max-sm:hidden',
    column.isExtra && 'max-xl:hidden',
    column.isDetail && 'max-[90rem]:hidden',
    column.isWide ? 'w-full max-w-0 min-w-20 truncate xl:min-w-40' : 'whitespace-nowrap',
  );
}
