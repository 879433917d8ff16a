import type { ExaminationSummary } from '../../generated/shapes.ts';
import { classes } from '../../parts/text.ts';
import { Time } from '../../parts/time.tsx';

export interface ExaminationListProps {
  readonly examinations: readonly ExaminationSummary[];
  readonly shownId: string | undefined;
  readonly onOpen: (id: string) => void;
}

/** The last examinations of a receiver; one of them is shown above. */
export function ExaminationList({ examinations, shownId, onOpen }: ExaminationListProps) {
  if (examinations.length === 0) return null;
  return (
    <section aria-label="Last examinations" className="border-t pt-4">
      <h3 className="mb-2 text-sm font-medium">Last examinations</h3>
      <ul className="divide-y rounded-md border">
        {examinations.map(({ id, at, grade, score, complete }) => (
          <li key={id}>
            <button
              type="button"
              aria-current={id === shownId ? 'true' : undefined}
              onClick={() => onOpen(id)}
              className={classes(
                'flex w-full items-center gap-3 px-3 py-1.5 text-left text-sm hover:bg-hover focus-visible:outline-offset-[-2px]',
                id === shownId && 'bg-accent-soft/50',
              )}
            >
              <span className="w-16 font-medium">Grade {grade}</span>
              <span className="w-20 text-muted tabular-nums">{score} points</span>
              <span className="min-w-0 flex-1 truncate text-muted">{complete ? '' : 'Ended early'}</span>
              <span className="text-muted">
                <Time at={at} kind="wall" />
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
