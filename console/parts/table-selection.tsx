import type { KeyboardEvent } from 'react';
import type { Selection } from '../client/selection.ts';

const labelClass = 'relative z-10 flex h-9 w-10 cursor-pointer items-center justify-center';
const boxClass = 'size-4 cursor-pointer accent-accent';

/** The id that the selection bar listens to: `b` in a table moves the focus there. */
export const selectionBarId = 'selection-bar';

interface SelectPageProps<Row> {
  readonly selection: Selection<Row>;
  /** Nothing is shown, or not yet. */
  readonly isEmpty: boolean;
}

/** Selects all rows of the page. */
export function SelectPage<Row>({ selection, isEmpty }: SelectPageProps<Row>) {
  return (
    <label className={labelClass}>
      <span className="sr-only">Select all rows of this page</span>
      <input
        type="checkbox"
        className={boxClass}
        disabled={isEmpty}
        checked={selection.page === 'all'}
        ref={(box) => {
          if (box !== null) box.indeterminate = selection.page === 'some';
        }}
        onChange={selection.togglePage}
      />
    </label>
  );
}

interface SelectRowProps<Row> {
  readonly selection: Selection<Row>;
  readonly id: string;
  readonly row: Row;
}

/** With Shift it selects all rows from the previous one to this. */
export function SelectRow<Row>({ selection, id, row }: SelectRowProps<Row>) {
  return (
    <label
      className={labelClass}
      onMouseDown={(event) => {
        // Otherwise the browser selects the text in between.
        if (event.shiftKey) event.preventDefault();
      }}
    >
      <span className="sr-only">Select {selection.nameOf(row)}</span>
      <input
        type="checkbox"
        className={boxClass}
        checked={selection.has(id)}
        onChange={({ nativeEvent }) =>
          selection.toggle(id, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
        }
      />
    </label>
  );
}

/** Keys on a row: `x` and Space select it, with Shift also those before; `b` goes to the actions, Escape selects nothing. */
export function selectByKey<Row>(event: KeyboardEvent, selection: Selection<Row>): void {
  const { target, key, shiftKey } = event;
  if (!(target instanceof HTMLElement) || event.ctrlKey || event.metaKey || event.altKey) return;
  const isCheckbox = target instanceof HTMLInputElement && target.type === 'checkbox';
  const id = target.closest('tr')?.dataset.id;
  // Space on a button or a checkbox belongs to it.
  if (!isCheckbox && target.tagName !== 'A') return;
  if (id !== undefined && (key.toLowerCase() === 'x' || (key === ' ' && !isCheckbox))) {
    event.preventDefault();
    selection.toggle(id, shiftKey);
  } else if (key === 'Escape' && selection.rows.length > 0) {
    event.preventDefault();
    selection.clear();
  } else if (key === 'b') {
    const button = document.getElementById(selectionBarId)?.querySelector<HTMLElement>('button');
    if (button) event.preventDefault();
    button?.focus();
  }
}
