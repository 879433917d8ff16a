import { ChevronDown, Download, X } from 'lucide-react';
import { useState } from 'react';
import type { BulkAction } from '../client/bulk.ts';
import { csvOf } from '../client/csv.ts';
import { saveFile } from '../client/save.ts';
import { type Selection, selectedMax } from '../client/selection.ts';
import { BulkDialog } from './bulk-dialog.tsx';
import { Button, IconButton } from './button.tsx';
import { Menu, MenuItem } from './menu.tsx';
import { selectionBarId } from './table-selection.tsx';
import { pluralize } from './text.ts';
import { useToast } from './toast.tsx';

export interface BulkBarProps<Row> {
  readonly selection: Selection<Row>;
  /** 'payment'. */
  readonly noun: string;
  /** 'payments'; the exported file has this name. */
  readonly plural?: string;
  readonly actions: readonly BulkAction<Row>[];
}

interface Run<Row> {
  readonly action: BulkAction<Row>;
  readonly rows: readonly Row[];
}

/** The actions on the selected rows, in a bar that floats above the page: nothing moves when it appears. */
export function BulkBar<Row extends { readonly id: string }>(props: BulkBarProps<Row>) {
  const { selection, noun, plural = `${noun}s`, actions } = props;
  const [run, setRun] = useState<Run<Row> | null>(null);
  const { toast } = useToast();
  const { rows } = selection;
  const start = (action: BulkAction<Row>) => setRun({ action, rows });
  const download = () => {
    const file = `${plural.replaceAll(' ', '-').toLowerCase()}.csv`;
    saveFile(csvOf(rows), file, 'text/csv');
    toast(`${file} downloaded with ${pluralize(rows.length, 'row')}`);
  };
  return (
    <>
      <span role="status" className="sr-only">
        {rows.length === 0 ? '' : `${rows.length} selected`}
      </span>
      {rows.length === 0 ? null : (
        <section
          id={selectionBarId}
          aria-label="Selection"
          className="pop-in fixed bottom-4 left-1/2 z-40 flex max-w-[calc(100vw-1rem)] -translate-x-1/2 items-center gap-1.5 rounded-lg border bg-raised py-1.5 pr-1.5 pl-3.5 shadow-pop lg:left-[calc(50%+7.25rem)]"
        >
          <span className="mr-1.5 font-medium whitespace-nowrap tabular-nums">
            {rows.length} selected
            {rows.length >= selectedMax ? <span className="font-normal text-muted"> (maximum)</span> : null}
          </span>
          <span className="flex gap-1.5 max-md:hidden">
            {actions.map((action) => (
              <ActionButton key={action.label} action={action} rows={rows} onStart={start} />
            ))}
            <Button size="small" icon={<Download aria-hidden size={14} />} onClick={download}>
              Export
            </Button>
          </span>
          <span className="md:hidden">
            <Menu
              trigger={
                <Button size="small">
                  Actions
                  <ChevronDown aria-hidden size={14} />
                </Button>
              }
            >
              {actions.map((action) => (
                <MenuItem
                  key={action.label}
                  isDanger={action.isDanger ?? false}
                  disabled={!rows.some(action.isAllowed)}
                  onSelect={() => start(action)}
                >
                  {labelOf(action, rows)}
                </MenuItem>
              ))}
              <MenuItem onSelect={download}>Export</MenuItem>
            </Menu>
          </span>
          <IconButton
            label="Clear selection"
            size="small"
            icon={<X aria-hidden size={15} />}
            onClick={selection.clear}
          />
        </section>
      )}
      {run === null ? null : (
        <BulkDialog
          action={run.action}
          rows={run.rows}
          noun={noun}
          plural={plural}
          nameOf={selection.nameOf}
          onClose={(isDone) => {
            setRun(null);
            if (isDone) selection.clear();
          }}
        />
      )}
    </>
  );
}

interface ActionButtonProps<Row> {
  readonly action: BulkAction<Row>;
  readonly rows: readonly Row[];
  readonly onStart: (action: BulkAction<Row>) => void;
}

function ActionButton<Row>({ action, rows, onStart }: ActionButtonProps<Row>) {
  const count = rows.filter(action.isAllowed).length;
  return (
    <Button
      size="small"
      isInert={count === 0}
      title={`${count} of ${rows.length} can be ${action.done}`}
      onClick={() => onStart(action)}
    >
      {labelOf(action, rows)}
    </Button>
  );
}

/** 'Capture', or 'Capture 3' if only some can be. */
function labelOf<Row>({ label, isAllowed }: BulkAction<Row>, rows: readonly Row[]): string {
  const count = rows.filter(isAllowed).length;
  return count === 0 || count === rows.length ? label : `${label} ${count}`;
}
