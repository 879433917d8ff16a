import { Check, ShieldAlert, Undo2, X } from 'lucide-react';
import { useEffect, useRef } from 'react';
import type { TimelineItem } from '../../generated/shapes.ts';
import { ScrollRegion } from '../../parts/scroll-region.tsx';
import { type Tone, toneOf } from '../../parts/status-badge.tsx';
import { classes, sentenceCase } from '../../parts/text.ts';
import { Time } from '../../parts/time.tsx';
import { useMachine } from './diagram.tsx';
import { type Step, stepsOf } from './steps.ts';

export interface StepperProps {
  readonly resource: string;
  readonly status: string;
  readonly items: readonly TimelineItem[];
}

/**
 * The states that the record has been in, with times, and those that follow if all goes well. An exit, such as a failure, branches
 * off in its own color, and the steps that it has missed are cut off.
 */
export function Stepper({ resource, status, items }: StepperProps) {
  const { machine } = useMachine(resource);
  const list = useRef<HTMLOListElement>(null);
  const steps = machine === undefined ? [] : stepsOf(machine, status, items);
  const now = steps.findIndex(({ place }) => place === 'now');
  // On a phone, a long way is wider than the page. Only horizontally, so that the page does not jump.
  useEffect(() => {
    const step = list.current?.children.item(now);
    const region = list.current?.parentElement;
    if (!(step instanceof HTMLElement) || !region) return;
    region.scrollLeft = step.offsetLeft - (region.clientWidth - step.offsetWidth) / 2;
  }, [now]);
  if (machine === undefined) return <div className="h-14.5" />;
  return (
    <ScrollRegion label="Progress">
      <ol ref={list} className="grid min-w-max auto-cols-fr grid-flow-col">
        {steps.map((step, index) => (
          <StepView key={step.key} step={step} next={steps[index + 1]} isFirst={index === 0} />
        ))}
      </ol>
    </ScrollRegion>
  );
}

interface StepViewProps {
  readonly step: Step;
  readonly next: Step | undefined;
  readonly isFirst: boolean;
}

function StepView({ step, next, isFirst }: StepViewProps) {
  const { state, at, place, isExit } = step;
  const isNow = place === 'now';
  const label = isExit
    ? exitTones[toneOf(state)].text
    : place === 'missed'
      ? 'text-faint'
      : place === 'ahead'
        ? 'text-muted'
        : 'text-ink';
  return (
    <li aria-current={isNow ? 'step' : undefined} className="flex min-w-28 flex-col gap-1.5">
      <div aria-hidden className="flex items-center">
        <span className={classes('w-3 border-t-2', isFirst ? 'invisible' : lineTo(step))} />
        <Marker step={step} />
        <span className={classes('flex-1 border-t-2', next === undefined ? 'invisible' : lineTo(next))} />
      </div>
      <div className="pr-4 pl-3 text-sm leading-tight whitespace-nowrap">
        <span className={classes(label, isNow && 'font-semibold')}>{sentenceCase(state)}</span>
        <span className="block min-h-4 text-xs text-muted">
          {at === undefined ? (
            <span className="sr-only">{place === 'missed' ? 'not reached' : 'not yet'}</span>
          ) : (
            <Time at={at} />
          )}
        </span>
      </div>
    </li>
  );
}

/** The line that leads to a step. */
function lineTo({ state, place, isExit }: Step): string {
  if (isExit) return `border-dotted ${exitTones[toneOf(state)].line}`;
  if (place === 'missed') return 'invisible';
  return place === 'ahead' ? 'border-line' : 'border-accent/50';
}

function Marker({ step: { state, place, isExit } }: { readonly step: Step }) {
  const Icon = exitIcons[state] ?? X;
  return (
    <span
      className={classes(
        'flex size-5 shrink-0 items-center justify-center rounded-full border-2',
        isExit && exitTones[toneOf(state)].marker,
        !isExit && place === 'missed' && 'border-dashed border-line-strong/50',
        !isExit && place === 'ahead' && 'border-line bg-surface',
        !isExit && place === 'past' && 'border-accent/50 bg-accent-soft text-accent',
        !isExit && place === 'now' && 'border-accent bg-accent',
      )}
    >
      {isExit ? <Icon size={11} strokeWidth={3} /> : null}
      {!isExit && place === 'past' ? <Check size={11} strokeWidth={3} /> : null}
    </span>
  );
}

const exitIcons: Readonly<Record<string, typeof X>> = {
  partially_refunded: Undo2,
  refunded: Undo2,
  returned: Undo2,
  disputed: ShieldAlert,
};

const quiet = {
  text: 'text-ink',
  line: 'border-line-strong',
  marker: 'border-line-strong bg-quiet-soft text-ink',
};
const exitTones: Readonly<Record<Tone, typeof quiet>> = {
  ...{ good: quiet, note: quiet, quiet },
  bad: { text: 'text-bad', line: 'border-bad', marker: 'border-bad-solid bg-bad-solid text-white' },
  warn: { text: 'text-warn', line: 'border-warn', marker: 'border-warn bg-warn-soft text-warn' },
};
