import { useWrite } from '../client/queries.ts';
import type { Clock } from '../generated/shapes.ts';
import { ConfirmDialog } from '../parts/dialog.tsx';

export interface ResetClockProps {
  readonly onClose: () => void;
  readonly onDone?: () => void;
}

/** Asks before the clock returns to real time. */
export function ResetClock({ onClose, onDone }: ResetClockProps) {
  const reset = useWrite<Clock>('app/developer_api_clock/reset', {
    onDone: () => {
      onClose();
      onDone?.();
    },
  });
  return (
    <ConfirmDialog
      isOpen
      onOpenChange={onClose}
      title="Reset to real time?"
      confirmLabel="Reset clock"
      isBusy={reset.isBusy}
      problem={reset.problem}
      onConfirm={() => void reset.write({})}
      code={reset.request({})}
    >
      Resets the clock to the current time. Nothing is undone: records keep their timestamps.
    </ConfirmDialog>
  );
}
