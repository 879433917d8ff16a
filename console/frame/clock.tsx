import { Clock3, Play, Snowflake } from 'lucide-react';
import { Suspense, useContext, useEffect, useRef, useState } from 'react';
import { ClockContext, formatInstant, formatStamp, useNow } from '../client/now.ts';
import { useWrite } from '../client/queries.ts';
import { postRequest, readRequest } from '../client/request.ts';
import { localZoneName, setZone, useZone, zoneName } from '../client/zone.ts';
import { CodeButton } from '../code/code-button.tsx';
import type { NamedRequest } from '../code/requests-dialog.tsx';
import type { Clock, ClockAdvanced } from '../generated/shapes.ts';
import { Button } from '../parts/button.tsx';
import { instantOfInput } from '../parts/day.ts';
import { Field, Input } from '../parts/field.tsx';
import { Form } from '../parts/form.tsx';
import { FormProblem, FormProblemBanner } from '../parts/form-problem.tsx';
import { lazyPart } from '../parts/lazy-part.ts';
import { Popover } from '../parts/popover.tsx';
import { Progress } from '../parts/progress.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { classes, pluralize } from '../parts/text.ts';
import { describeOffset } from './clock-offset.ts';
import { EffectList } from './effects.tsx';
import { ResetClock } from './reset-clock.tsx';
import { FastForwardSkeleton } from './schedule/fast-forward-skeleton.tsx';
import { useAllowed } from './session.tsx';

const FastForward = lazyPart(() => import('./schedule/fast-forward.tsx'));

type Advance = { readonly seconds: number } | { readonly to: string };

const steps = [
  { label: '+1 hour', seconds: 3_600 },
  { label: '+1 day', seconds: 86_400 },
  { label: '+1 week', seconds: 604_800 },
];

/** The application time in the header; opens the clock panel. */
export function ClockControl() {
  const reading = useContext(ClockContext);
  const [isOpen, setOpen] = useState(false);
  if (reading === null) return null;
  const { clock } = reading;
  const isShifted = clock.status === 'frozen' || clock.offsetSeconds !== 0;
  return (
    <Popover
      label="Application clock"
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
          <span className="sr-only">Application clock: </span>
          <span className="whitespace-nowrap max-md:sr-only">
            <span className="max-xl:hidden">
              <CurrentTime />
            </span>
            <span className="xl:hidden">
              <CurrentTime isShort />
            </span>
          </span>
        </button>
      }
    >
      <ClockPanel clock={clock} onNavigate={() => setOpen(false)} />
    </Popover>
  );
}

/** The requests of the panel's buttons. */
function clockRequests({ status }: Clock, to: string): readonly NamedRequest[] {
  const post = (action: string, body: unknown = {}) => postRequest(`developer_api_clock/${action}`, body);
  return [
    ...(to === '' ? [] : [{ label: 'Advance to', request: post('advance', { to: instantOfInput(to) }) }]),
    ...steps.map(({ label, seconds }) => ({
      label: `Advance ${label}`,
      request: post('advance', { seconds }),
    })),
    status === 'frozen'
      ? { label: 'Resume', request: post('resume') }
      : { label: 'Freeze', request: post('freeze') },
    { label: 'Reset', request: post('reset') },
    { label: 'Retrieve clock', request: readRequest('developer_api_clock') },
  ];
}

function CurrentTime({ isShort = false }: { readonly isShort?: boolean }) {
  const now = useNow('application', 1_000);
  return <>{isShort ? formatStamp(now, now) : formatInstant(now)}</>;
}

function ClockPanel({ clock, onNavigate }: { readonly clock: Clock; readonly onNavigate: () => void }) {
  const mayWrite = useAllowed('developer');
  const advance = useWrite<ClockAdvanced, Advance>('app/developer_api_clock/advance');
  const freeze = useWrite<Clock>('app/developer_api_clock/freeze');
  const resume = useWrite<Clock>('app/developer_api_clock/resume');
  const [isResetting, setResetting] = useState(false);
  const [to, setTo] = useState('');
  const isBusy = advance.isBusy || freeze.isBusy || resume.isBusy;
  const problem = advance.problem ?? freeze.problem ?? resume.problem;
  const clear = () => {
    for (const one of [advance, freeze, resume]) one.reset();
  };
  const start = (write: () => Promise<unknown>) => {
    clear();
    void write();
  };
  return (
    <FormProblem problem={problem}>
      <div className="flex flex-col gap-4">
        <div>
          <div className="flex items-center justify-between gap-2">
            <h2 className="mr-auto font-semibold">Application time</h2>
            <CodeButton title="Clock" requests={clockRequests(clock, to)} />
            <StatusBadge status={clock.status} />
          </div>
          <p className="mt-1 text-lg tabular-nums">
            <CurrentTime />
          </p>
          <p className="flex flex-wrap justify-between gap-x-3 text-sm text-muted">
            {describeOffset(clock)}
            <ZoneSwitch />
          </p>
        </div>
        {mayWrite ? (
          <>
            <div className="grid grid-cols-3 gap-2">
              {steps.map(({ label, seconds }) => (
                <Button key={label} isInert={isBusy} onClick={() => start(() => advance.write({ seconds }))}>
                  {label}
                </Button>
              ))}
            </div>
            <Form
              className="flex items-start gap-2"
              isBusy={isBusy}
              onSubmit={() => start(() => advance.write({ to: instantOfInput(to) }))}
            >
              <Field
                label={`Advance to (${zoneName()})`}
                missing={instantOfInput(to) === '' ? 'Enter a time.' : undefined}
                param="to"
                className="min-w-0 flex-1"
              >
                <Input
                  type="datetime-local"
                  value={to}
                  onChange={(event) => setTo(event.currentTarget.value)}
                />
              </Field>
              <Button type="submit" isInert={isBusy} className="mt-6">
                Advance
              </Button>
            </Form>
            <div className="grid grid-cols-2 gap-2">
              {clock.status === 'frozen' ? (
                <Button
                  isInert={isBusy}
                  icon={<Play aria-hidden size={15} />}
                  onClick={() => start(() => resume.write({}))}
                >
                  Resume
                </Button>
              ) : (
                <Button
                  isInert={isBusy}
                  icon={<Snowflake aria-hidden size={15} />}
                  onClick={() => start(() => freeze.write({}))}
                >
                  Freeze
                </Button>
              )}
              <Button isInert={isBusy} onClick={() => setResetting(true)}>
                Reset…
              </Button>
            </div>
          </>
        ) : (
          <p className="text-sm text-muted">Your role can view the clock but not change it.</p>
        )}
        <Suspense fallback={<FastForwardSkeleton />}>
          <FastForward
            isBusy={isBusy}
            onNavigate={onNavigate}
            onAdvance={
              mayWrite
                ? (instant) => start(() => advance.write({ to: new Date(instant).toISOString() }))
                : undefined
            }
          />
        </Suspense>
        {isBusy ? <Progress label="Advancing the clock" value={null} /> : null}
        <FormProblemBanner />
        {advance.response && !isBusy ? (
          <Outcome
            key={advance.response.requestId}
            result={advance.response}
            onContinue={(until) => void advance.write({ to: until })}
            onNavigate={onNavigate}
          />
        ) : null}
        {isResetting ? <ResetClock onClose={() => setResetting(false)} onDone={clear} /> : null}
      </div>
    </FormProblem>
  );
}

/** The zone of all times in the console, where it is not that of the API anyway. */
function ZoneSwitch() {
  const zone = useZone();
  if (localZoneName === 'UTC') return null;
  return (
    <button
      type="button"
      className="text-accent underline-offset-2 hover:underline"
      onClick={() => setZone(zone === 'utc' ? 'local' : 'utc')}
    >
      Show times in {zone === 'utc' ? localZoneName : 'UTC'}
    </button>
  );
}

interface OutcomeProps {
  readonly result: ClockAdvanced;
  readonly onContinue: (to: string) => void;
  readonly onNavigate: () => void;
}

function Outcome({ result, onContinue, onNavigate }: OutcomeProps) {
  const { left } = result;
  const section = useRef<HTMLElement>(null);
  // The panel may be longer than the window.
  useEffect(() => {
    section.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  return (
    <section ref={section} aria-live="polite" className="flex flex-col gap-3 border-t pt-3">
      <h3 className="font-semibold">
        {result.happened.length === 0
          ? 'Nothing was due'
          : `${pluralize(result.happened.length, 'event')} processed`}
      </h3>
      {result.complete || left === undefined ? null : (
        <div className="rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
          <p>
            Stopped early: {pluralize(left.timers, 'timer')} and{' '}
            {pluralize(left.deliveries, 'delivery', 'deliveries')} remain before{' '}
            {formatInstant(Date.parse(left.to))}.
          </p>
          <Button size="small" className="mt-2" onClick={() => onContinue(left.to)}>
            Continue
          </Button>
        </div>
      )}
      <EffectList happened={result.happened} onNavigate={onNavigate} />
    </section>
  );
}
