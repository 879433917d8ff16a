import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import { classes } from '../../parts/text.ts';

export interface StepProps {
  readonly number: number;
  readonly title: string;
  /** Undefined while loading. */
  readonly isDone: boolean | undefined;
  readonly children: ReactNode;
}

/** A step with its check mark; a completed step stays readable. */
export function Step({ number, title, isDone, children }: StepProps) {
  return (
    <li className="relative flex gap-4 pb-8 last:pb-0">
      <div className="flex flex-col items-center">
        <span
          className={classes(
            'flex size-7 shrink-0 items-center justify-center rounded-full border text-sm font-semibold',
            isDone
              ? 'border-transparent bg-good-soft text-good'
              : 'border-line-strong/60 bg-surface text-muted',
          )}
        >
          {isDone ? <Check aria-hidden size={16} strokeWidth={2.5} /> : <span aria-hidden>{number}</span>}
        </span>
        <span aria-hidden className="mt-2 w-px flex-1 bg-line" />
      </div>
      <div className="min-w-0 flex-1 pt-0.5">
        <h2 className="text-lg font-semibold">
          {title}
          {isDone === undefined ? null : (
            <span className={isDone ? 'ml-2 text-sm font-normal text-good' : 'sr-only'}>
              {isDone ? 'Done' : '(not done yet)'}
            </span>
          )}
        </h2>
        <div className="mt-1 flex flex-col gap-3">{children}</div>
      </div>
    </li>
  );
}
