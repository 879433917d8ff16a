import { useRead } from '../../client/queries.ts';
import type { StatusCounts } from '../../generated/shapes.ts';
import { classes, sentenceCase } from '../../parts/text.ts';

export interface StatusTabsProps {
  readonly kind: string;
  readonly status: string | undefined;
  /** Without numbers where other filters apply too: they count all records. */
  readonly hasCounts: boolean;
  readonly onChange: (status: string) => void;
}

/** How many records there are in a status, or in all: '316', or '1,000+' where counting stopped. Unknown with other filters. */
export function useTotal(kind: string, { status, ...others }: Readonly<Partial<Record<string, string>>>) {
  const { data } = useRead<StatusCounts>('app/counts', { resource: kind });
  if (data === undefined || Object.keys(others).length > 0) return undefined;
  return totalOf(data.counts.filter((one) => status === undefined || one.status === status));
}

function totalOf(counts: StatusCounts['counts']): string {
  const total = counts.reduce((sum, one) => sum + one.count, 0);
  return `${total.toLocaleString('en')}${counts.some(({ isMore }) => isMore) ? '+' : ''}`;
}

/** The states that records of this kind are in, with their numbers; a click filters the list. */
export function StatusTabs({ kind, status, hasCounts, onChange }: StatusTabsProps) {
  const { data } = useRead<StatusCounts>('app/counts', { resource: kind });
  const counts = (data?.counts ?? []).filter((one) => one.count > 0 || one.status === status);
  return (
    <div className="scroll-edges scroll-tabs mb-3 flex h-9 gap-4 overflow-x-auto overflow-y-hidden border-b">
      <Tab
        label="All"
        count={hasCounts && data ? totalOf(counts) : undefined}
        isOn={status === undefined}
        onClick={() => onChange('')}
      />
      {counts.map((one) => (
        <Tab
          key={one.status}
          label={sentenceCase(one.status)}
          count={hasCounts ? totalOf([one]) : undefined}
          isOn={one.status === status}
          onClick={() => onChange(one.status)}
        />
      ))}
    </div>
  );
}

interface TabProps {
  readonly label: string;
  readonly count: string | undefined;
  readonly isOn: boolean;
  readonly onClick: () => void;
}

function Tab({ label, count, isOn, onClick }: TabProps) {
  return (
    <button
      type="button"
      aria-pressed={isOn}
      onClick={onClick}
      className={classes(
        '-mb-px flex shrink-0 items-center gap-1.5 border-b-2 px-1 text-sm focus-visible:outline-offset-[-2px]',
        isOn ? 'border-accent font-medium text-ink' : 'border-transparent text-muted hover:text-ink',
      )}
    >
      {label}
      {count === undefined ? null : <span className="tabular-nums text-faint">{count}</span>}
    </button>
  );
}
