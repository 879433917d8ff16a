import { Clock3, Snowflake } from 'lucide-react';
import { useContext, useState } from 'react';
import { absoluteWords, ClockContext, useNow } from '../client/now.ts';
import { useWrite } from '../client/queries.ts';
import type { Clock, ClockAdvanced } from '../client/shapes.ts';
import { Button } from '../parts/button.tsx';
import { ConfirmDialog } from '../parts/dialog.tsx';
import { Field, Input } from '../parts/field.tsx';
import { Popover } from '../parts/popover.tsx';
import { ProblemBanner } from '../parts/problem.tsx';
import { Progress } from '../parts/progress.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { classes, count } from '../parts/words.ts';
import { describeOffset, instantOfInput } from './clock-offset.ts';
import { HappenedList } from './happened.tsx';
import { useAllowed } from './session.tsx';

type Advance = { readonly seconds: number } | { readonly to: string };

const steps = [
  { label: '+1 hour', seconds: 3_600 },
  { label: '+1 day', seconds: 86_400 },
  { label: '+1 week', seconds: 604_800 },
];

/** The application's time in the header; behind it the time machine. */
export function ClockControl() {
  const reading = useContext(ClockContext);
  const [isOpen, setOpen] = useState(false);
  if (reading === null) return null;
  const { clock } = reading;
  const isShifted = clock.status === 'frozen' || clock.offsetSeconds !== 0;
  return (
    <Popover
      label="Clock of the application"
      isOpen={isOpen}
      onOpenChange={setOpen}
      trigger={
        <button
          type="button"
          className={classes(
            'flex h-[2.125rem] items-center gap-1.5 rounded-md border px-2 tabular-nums max-md:w-[2.125rem] max-md:justify-center max-md:border-transparent max-md:px-0',
            isShifted
              ? 'border-transparent bg-note-soft text-note'
              : 'border-line-strong/60 bg-surface text-muted hover:border-line-strong hover:text-ink',
          )}
        >
          {clock.status === 'frozen' ? <Snowflake aria-hidden size={16} /> : <Clock3 aria-hidden size={16} />}
          <span className="sr-only">Clock of the application: </span>
          <span className="max-md:sr-only">
            <Ticking />
          </span>
        </button>
      }
    >
      <TimeMachine clock={clock} onGo={() => setOpen(false)} />
    </Popover>
  );
}

function Ticking() {
  return <>{absoluteWords(useNow('application', 1_000), true)}</>;
}

function TimeMachine({ clock, onGo }: { readonly clock: Clock; readonly onGo: () => void }) {
  const mayWrite = useAllowed('developer');
  const advance = useWrite<ClockAdvanced, Advance>('app/developer_api_clock/advance');
  const freeze = useWrite<Clock>('app/developer_api_clock/freeze');
  const [isResetting, setResetting] = useState(false);
  const reset = useWrite<Clock>('app/developer_api_clock/reset', { onDone: () => setResetting(false) });
  const [to, setTo] = useState('');
  const isBusy = advance.isBusy || freeze.isBusy || reset.isBusy;
  const problem = advance.problem ?? freeze.problem;
  return (
    <div className="flex flex-col gap-4">
      <div>
        <div className="flex items-center justify-between gap-2">
          <h2 className="font-semibold">Application time</h2>
          <StatusBadge status={clock.status} />
        </div>
        <p className="mt-1 text-lg tabular-nums">
          <Ticking />
        </p>
        <p className="text-sm text-muted">{describeOffset(clock)}</p>
      </div>
      {mayWrite ? (
        <>
          <div className="grid grid-cols-3 gap-2">
            {steps.map(({ label, seconds }) => (
              <Button key={label} disabled={isBusy} onClick={() => void advance.write({ seconds })}>
                {label}
              </Button>
            ))}
          </div>
          <form
            className="flex items-end gap-2"
            onSubmit={(event) => {
              event.preventDefault();
              if (to !== '') void advance.write({ to: instantOfInput(to) });
            }}
          >
            <Field label="Advance to (UTC)" problem={advance.problem} param="to" className="min-w-0 flex-1">
              <Input
                type="datetime-local"
                value={to}
                onChange={(event) => setTo(event.currentTarget.value)}
              />
            </Field>
            <Button type="submit" disabled={isBusy || to === ''}>
              Advance
            </Button>
          </form>
          <div className="grid grid-cols-2 gap-2">
            <Button
              disabled={isBusy || clock.status === 'frozen'}
              icon={<Snowflake aria-hidden size={15} />}
              onClick={() => void freeze.write({})}
            >
              Freeze
            </Button>
            <Button disabled={isBusy} onClick={() => setResetting(true)}>
              Reset…
            </Button>
          </div>
        </>
      ) : (
        <p className="text-sm text-muted">Your role may look at the clock but not move it.</p>
      )}
      {isBusy ? <Progress label="The clock is moving" value={null} /> : null}
      {problem ? <ProblemBanner problem={problem} /> : null}
      {advance.answer && !isBusy ? (
        <Outcome
          answer={advance.answer}
          onContinue={(until) => void advance.write({ to: until })}
          onGo={onGo}
        />
      ) : null}
      <ConfirmDialog
        isOpen={isResetting}
        onOpenChange={setResetting}
        title="Return to real time?"
        confirmLabel="Reset clock"
        isBusy={reset.isBusy}
        problem={reset.problem}
        onConfirm={() => void reset.write({})}
      >
        The clock goes back to now and runs. What has happened stays: records keep the times they got.
      </ConfirmDialog>
    </div>
  );
}

interface OutcomeProps {
  readonly answer: ClockAdvanced;
  readonly onContinue: (to: string) => void;
  readonly onGo: () => void;
}

function Outcome({ answer, onContinue, onGo }: OutcomeProps) {
  const { left } = answer;
  return (
    <section aria-live="polite" className="flex flex-col gap-3 border-t pt-3">
      <h3 className="font-semibold">
        {answer.happened.length === 0
          ? 'Nothing fell due'
          : `${count(answer.happened.length, 'thing')} happened`}
      </h3>
      {answer.complete || left === undefined ? null : (
        <div className="rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
          <p>
            It stopped on the way: {count(left.timers, 'timer')} and{' '}
            {count(left.deliveries, 'delivery', 'deliveries')} are left before{' '}
            {absoluteWords(Date.parse(left.to))}.
          </p>
          <Button size="small" className="mt-2" onClick={() => onContinue(left.to)}>
            Go on
          </Button>
        </div>
      )}
      <HappenedList happened={answer.happened} onGo={onGo} />
    </section>
  );
}
