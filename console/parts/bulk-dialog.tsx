import { Circle, CircleAlert, CircleCheck, LoaderCircle } from 'lucide-react';
import { type BulkAction, type Outcome, useBulkRun } from '../client/bulk.ts';
import { type ApiRequest, writeRequest } from '../client/request.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Progress } from './progress.tsx';
import { Prose } from './prose.tsx';
import { pluralize } from './text.ts';

export interface BulkDialogProps<Row> {
  readonly action: BulkAction<Row>;
  /** All selected rows; the action runs for those that allow it. */
  readonly rows: readonly Row[];
  readonly noun: string;
  readonly plural: string;
  readonly nameOf: (row: Row) => string;
  /** `isDone`: the action has run. */
  readonly onClose: (isDone: boolean) => void;
}

/** Confirms an action on several rows, runs it, and shows the result of each. */
export function BulkDialog<Row extends { readonly id: string }>(props: BulkDialogProps<Row>) {
  const { action, rows, noun, plural, nameOf, onClose } = props;
  const allowed = rows.filter(action.isAllowed);
  const { outcomes, isRunning, run, stop } = useBulkRun(action);
  const hasRun = outcomes.size > 0;
  const rowsIn = (state: Outcome['state']) => allowed.filter(({ id }) => outcomes.get(id)?.state === state);
  const succeeded = rowsIn('succeeded').length;
  const failed = rowsIn('failed');
  // Failed, and not started because the run was stopped.
  const left = [...failed, ...rowsIn('waiting')];
  const things = pluralize(allowed.length, noun, plural);
  return (
    <Dialog
      isOpen
      onOpenChange={() => {
        if (!isRunning) onClose(hasRun);
      }}
      title={hasRun ? `${action.label}: ${things}` : `${action.label} ${things}?`}
      code={requestOf(action, allowed)}
      codeNote={
        allowed.length > 1 ? `The request for the first of ${things}. Send one for each of them.` : undefined
      }
      footer={
        isRunning ? (
          <Button onClick={stop}>Stop</Button>
        ) : hasRun ? (
          <>
            {left.length === 0 ? null : (
              <Button onClick={() => run(left)}>
                {failed.length === left.length
                  ? `Retry ${left.length} failed`
                  : `Continue with ${left.length}`}
              </Button>
            )}
            <Button variant="primary" onClick={() => onClose(true)}>
              Done
            </Button>
          </>
        ) : (
          <>
            {/* Beside "Cancel 2 payments", another "Cancel" would be ambiguous. */}
            <Button onClick={() => onClose(false)}>{action.label === 'Cancel' ? 'Back' : 'Cancel'}</Button>
            <Button variant={action.isDanger ? 'danger' : 'primary'} onClick={() => run(allowed)}>
              {action.label} {things}
            </Button>
          </>
        )
      }
    >
      {hasRun ? (
        <div className="flex flex-col gap-2">
          <Progress label={action.label} value={succeeded + failed.length} max={allowed.length} />
          <p role="status">
            {succeeded} {action.done}
            {failed.length === 0 ? '' : `, ${failed.length} failed`}
          </p>
        </div>
      ) : (
        <p className="text-muted">
          {action.effect}
          {allowed.length < rows.length
            ? ` ${allowed.length} of ${rows.length} can be ${action.done}; the others are skipped.`
            : ''}
        </p>
      )}
      <ul aria-label="Rows" className="flex flex-col">
        {allowed.map((row) => (
          <Result key={row.id} name={nameOf(row)} id={row.id} outcome={outcomes.get(row.id)} />
        ))}
      </ul>
    </Dialog>
  );
}

/** The request for the first row; undefined for actions without an API operation. */
function requestOf<Row>(action: BulkAction<Row>, [first]: readonly Row[]): ApiRequest | undefined {
  if (first === undefined) return undefined;
  const { path, body } = action.request(first);
  return writeRequest(path, body) ?? undefined;
}

const icons = {
  waiting: <Circle aria-hidden size={15} className="text-faint" />,
  running: <LoaderCircle aria-hidden size={15} className="animate-spin text-accent" />,
  succeeded: <CircleCheck aria-hidden size={15} className="text-good" />,
  failed: <CircleAlert aria-hidden size={15} className="text-bad" />,
};

interface ResultProps {
  readonly name: string;
  readonly id: string;
  readonly outcome: Outcome | undefined;
}

function Result({ name, id, outcome = { state: 'waiting' } }: ResultProps) {
  return (
    <li className="flex min-h-8 items-start gap-2 border-b py-1 text-sm last:border-b-0">
      <span className="mt-0.5 shrink-0">{icons[outcome.state]}</span>
      <span className="sr-only">{outcome.state}</span>
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap justify-between gap-x-3">
          <span className="break-all">{name}</span>
          {name === id ? null : <span className="font-mono text-xs text-muted">{id}</span>}
        </p>
        {outcome.state === 'failed' ? (
          <p className="text-bad">
            <Prose text={outcome.problem.message} />
          </p>
        ) : null}
      </div>
    </li>
  );
}
