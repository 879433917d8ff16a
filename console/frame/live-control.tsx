import { Pause, Play, RotateCw } from 'lucide-react';
import type { StreamState } from '../client/event-stream.ts';
import { useLive } from '../client/live.tsx';
import { IconButton } from '../parts/button.tsx';
import { classes } from '../parts/text.ts';

const states: Readonly<Record<StreamState | 'paused', { readonly label: string; readonly dot: string }>> = {
  open: { label: 'Live', dot: 'bg-good' },
  connecting: { label: 'Connecting', dot: 'bg-warn' },
  lost: { label: 'Offline', dot: 'bg-bad' },
  paused: { label: 'Paused', dot: 'bg-line-strong' },
};

/** Whether the page follows changes; pauses it, and refreshes it by hand. */
export function LiveControl() {
  const { state, isPaused, setPaused, refresh, isRefreshing } = useLive();
  const { label, dot } = states[isPaused ? 'paused' : state];
  const Icon = isPaused ? Play : Pause;
  return (
    <div className="flex items-center">
      <span role="status" className="sr-only">
        {label}
      </span>
      <button
        type="button"
        aria-label={`${label}. ${isPaused ? 'Resume' : 'Pause'} updates`}
        title={isPaused ? 'Follow changes again' : 'Pages follow changes. Click to pause.'}
        onClick={() => setPaused(!isPaused)}
        className="group flex h-[2.125rem] items-center gap-1.5 rounded-md px-2 text-sm text-muted hover:bg-hover hover:text-ink"
      >
        <span aria-hidden className="relative flex size-3.5 items-center justify-center">
          <span className={classes('size-2 rounded-full group-hover:invisible', dot)} />
          <Icon size={14} className="absolute hidden group-hover:block" />
        </span>
        <span className="max-xl:hidden">{label}</span>
      </button>
      <IconButton
        label="Refresh"
        icon={<RotateCw aria-hidden size={16} className={classes(isRefreshing && 'animate-spin')} />}
        onClick={refresh}
        className="max-sm:hidden"
      />
    </div>
  );
}
