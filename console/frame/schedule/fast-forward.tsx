import { FastForward as FastForwardIcon } from 'lucide-react';
import { useState } from 'react';
import { formatInstant, formatRelative, formatStamp, useNow } from '../../client/now.ts';
import { useRead } from '../../client/queries.ts';
import type { Schedule } from '../../generated/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { pluralize, sentenceCase } from '../../parts/text.ts';
import { DueList } from './due-list.tsx';
import { FastForwardSkeleton } from './fast-forward-skeleton.tsx';
import { describeItems, dueUntil, type Mark, marksOf } from './marks.ts';
import { TimeSlider } from './time-slider.tsx';

// Retries of deliveries are scheduled without an event.
const refreshMs = 10_000;

export interface FastForwardProps {
  /** Advances the clock to an instant; omitted for viewers. */
  readonly onAdvance?: ((to: number) => void) | undefined;
  readonly isBusy: boolean;
  readonly onNavigate: () => void;
}

/** What falls due on the application clock: a time line to advance along, and a list. */
export default function FastForward({ onAdvance, isBusy, onNavigate }: FastForwardProps) {
  const { data, problem } = useRead<Schedule>('app/schedule', {}, { everyMs: refreshMs });
  const now = useNow('application', 1_000);
  if (problem && data === undefined) return <ProblemBanner problem={problem} />;
  if (data === undefined) return <FastForwardSkeleton />;
  const marks = marksOf(data.items, now);
  return (
    <section aria-labelledby="fast-forward" className="flex flex-col gap-3 border-t pt-3">
      <div className="flex items-baseline justify-between gap-2">
        <h2 id="fast-forward" className="font-semibold">
          Fast-forward
        </h2>
        {marks.length === 0 ? null : (
          <span className="text-sm text-muted tabular-nums">
            {data.count.toLocaleString('en')}
            {data.isMore ? '+' : ''} scheduled
          </span>
        )}
      </div>
      {marks.length === 0 ? (
        <p className="text-sm text-muted">
          Nothing is scheduled. Settlements, expiries, deadlines, automatic steps and webhook retries appear
          here.
        </p>
      ) : (
        <>
          {onAdvance === undefined ? null : (
            <Scrubber
              marks={marks}
              now={now}
              isMore={data.isMore || data.count > data.items.length}
              isBusy={isBusy}
              onAdvance={onAdvance}
            />
          )}
          <DueList marks={marks} onNavigate={onNavigate} onAdvance={isBusy ? undefined : onAdvance} />
          {data.items.length < data.count ? (
            <p className="text-sm text-muted">The next {pluralize(data.items.length, 'item')} are listed.</p>
          ) : null}
        </>
      )}
    </section>
  );
}

interface ScrubberProps {
  readonly marks: readonly Mark[];
  readonly now: number;
  readonly isMore: boolean;
  readonly isBusy: boolean;
  readonly onAdvance: (to: number) => void;
}

function Scrubber({ marks, now, isMore, isBusy, onAdvance }: ScrubberProps) {
  const [chosen, setChosen] = useState<number | null>(null);
  // The clock may have reached it meanwhile.
  const target = chosen !== null && chosen > now ? chosen : null;
  const due = target === null ? [] : dueUntil(marks, target);
  const isLast = target !== null && target >= (marks.at(-1)?.at ?? 0);
  return (
    <div className="flex flex-col gap-2">
      <TimeSlider marks={marks} now={now} target={target} isMore={isMore} onChange={setChosen} />
      {/* Two lines are reserved, so that the button does not move while the thumb is dragged. */}
      <div className="min-h-11 text-sm">
        {target === null ? (
          <p className="text-muted">Drag the handle to a mark, or use the arrow keys.</p>
        ) : (
          <>
            <p className="tabular-nums">
              {formatInstant(target)} <span className="text-muted">· {formatRelative(target, now)}</span>
            </p>
            <p className="line-clamp-2 text-muted">{sentenceCase(describeItems(due, isMore && isLast))}</p>
          </>
        )}
      </div>
      <Button
        variant="primary"
        disabled={target === null}
        isBusy={isBusy}
        icon={<FastForwardIcon aria-hidden size={15} />}
        onClick={() => {
          if (target !== null) onAdvance(target);
        }}
      >
        {target === null ? 'Advance to …' : `Advance to ${formatStamp(target, now)}`}
      </Button>
    </div>
  );
}
