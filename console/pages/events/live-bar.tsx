import { ArrowUp, Pause, Play } from 'lucide-react';
import { Button } from '../../parts/button.tsx';
import { classes, pluralize } from '../../parts/text.ts';
import type { LiveState } from './event-stream.ts';

const stateLabels: Readonly<Record<LiveState, string>> = {
  open: 'Live: new events appear automatically',
  connecting: 'Connecting to the live stream…',
  lost: 'Live stream disconnected; the list refreshes every 10 seconds',
};

export interface LiveBarProps {
  readonly state: LiveState;
  readonly isPaused: boolean;
  readonly onPause: (isPaused: boolean) => void;
}

export function LiveBar({ state, isPaused, onPause }: LiveBarProps) {
  const tone = isPaused
    ? 'bg-line-strong'
    : { open: 'bg-good', connecting: 'bg-warn', lost: 'bg-bad' }[state];
  return (
    <div className="mb-3 flex items-center justify-between gap-3">
      <p role="status" className="flex items-center gap-2 text-sm text-muted">
        <span aria-hidden className={classes('size-2 shrink-0 rounded-full', tone)} />
        {isPaused ? 'Paused: new events are counted but not shown' : stateLabels[state]}
      </p>
      <Button
        size="small"
        icon={isPaused ? <Play aria-hidden size={14} /> : <Pause aria-hidden size={14} />}
        onClick={() => onPause(!isPaused)}
      >
        {isPaused ? 'Resume' : 'Pause'}
      </Button>
    </div>
  );
}

/** Stays visible while the table below scrolls. */
export function NewEventsButton({
  number,
  onShow,
}: {
  readonly number: number;
  readonly onShow: () => void;
}) {
  return (
    <div role="status" className="pointer-events-none sticky top-16 z-20 flex h-0 justify-center">
      {number === 0 ? null : (
        <Button
          variant="primary"
          size="small"
          icon={<ArrowUp aria-hidden size={14} />}
          className="pointer-events-auto -mt-1 shadow-pop"
          onClick={onShow}
        >
          {pluralize(number, 'new event')}
        </Button>
      )}
    </div>
  );
}
