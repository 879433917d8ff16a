import { Check } from 'lucide-react';
import type { TimelineItem } from '../../generated/shapes.ts';
import { ScrollRegion } from '../../parts/scroll-region.tsx';
import { toneOf } from '../../parts/status-badge.tsx';
import { classes, sentenceCase } from '../../parts/text.ts';
import { Time } from '../../parts/time.tsx';
import { useMachine } from './diagram.tsx';
import { type Step, stepsOf } from './steps.ts';

export interface StepperProps {
  readonly resource: string;
  readonly status: string;
  readonly items: readonly TimelineItem[];
}

/** The states that the record has been in, with times, and those that follow if all goes well. */
export function Stepper({ resource, status, items }: StepperProps) {
  const { machine } = useMachine(resource);
  if (machine === undefined) return <div className="h-14" />;
  const steps = stepsOf(machine, status, items);
  return (
    <ScrollRegion label="Progress">
      <ol className="flex min-w-max">
        {steps.map((step, index) => (
          <StepView key={step.key} step={step} isFirst={index === 0} />
        ))}
      </ol>
    </ScrollRegion>
  );
}

function StepView({ step, isFirst }: { readonly step: Step; readonly isFirst: boolean }) {
  const { state, at, place } = step;
  const isBad = place !== 'ahead' && toneOf(state) === 'bad';
  return (
    <li aria-current={place === 'now' ? 'step' : undefined} className="flex min-w-28 flex-1 flex-col gap-1.5">
      <div aria-hidden className="flex items-center">
        <span
          className={classes(
            'h-0.5 w-3',
            isFirst ? 'invisible' : place === 'ahead' ? 'bg-line' : 'bg-accent/50',
          )}
        />
        <span
          className={classes(
            'flex size-5 shrink-0 items-center justify-center rounded-full border-2',
            place === 'ahead' && 'border-line bg-surface',
            place === 'past' && 'border-accent/50 bg-accent-soft text-accent',
            place === 'now' && (isBad ? 'border-bad bg-bad-solid' : 'border-accent bg-accent'),
          )}
        >
          {place === 'past' ? <Check size={11} strokeWidth={3} /> : null}
        </span>
        <span
          className={classes(
            'h-0.5 flex-1',
            place === 'past' ? 'bg-accent/50' : 'bg-line',
            step.isLast && 'invisible',
          )}
        />
      </div>
      <div className="pr-4 pl-3 text-sm leading-tight">
        <span
          className={classes(
            place === 'ahead' ? 'text-muted' : 'text-ink',
            place === 'now' && 'font-semibold',
            isBad && 'text-bad',
          )}
        >
          {sentenceCase(state)}
        </span>
        <span className="block text-xs text-muted">
          {at === undefined ? <span className="sr-only">not yet</span> : <Time at={at} />}
        </span>
      </div>
    </li>
  );
}
