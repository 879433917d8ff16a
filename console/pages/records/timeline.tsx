import { useMemo } from 'react';
import { useFilters } from '../../client/filters.ts';
import { type Read, useRead } from '../../client/queries.ts';
import type { Timeline as TimelineAnswer } from '../../generated/shapes.ts';
import { Card } from '../../parts/card.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { classes, sentenceCase } from '../../parts/text.ts';
import { Time } from '../../parts/time.tsx';
import { type Group, groupsOf, type Kind, kinds } from './timeline-groups.ts';
import { TimelineRow } from './timeline-row.tsx';

export function useTimeline(id: string): Read<TimelineAnswer> {
  return useRead<TimelineAnswer>(`app/timeline/${id}`);
}

const kindLabels: Readonly<Record<Kind, string>> = {
  request: 'Requests',
  move: 'Transitions',
  provider_event: 'Provider events',
  ledger_entry: 'Ledger entries',
  event: 'Events',
  delivery: 'Deliveries',
};

/** Everything that happened to a record, grouped by transition, newest first. */
export function Timeline({ timeline }: { readonly timeline: Read<TimelineAnswer> }) {
  const { data, problem, isLoading, refresh } = timeline;
  const [{ show }, setFilters] = useFilters('show');
  const chosen = useMemo(() => new Set((show ?? '').split(' ').filter(Boolean)), [show]);
  const items = data?.items ?? [];
  const groups = useMemo(() => groupsOf(items), [items]);
  const toggle = (kind: Kind) => {
    const next = new Set(chosen);
    if (!next.delete(kind)) next.add(kind);
    setFilters({ show: [...next].join(' ') });
  };
  const isShown = (kind: Kind) => chosen.size === 0 || chosen.has(kind);
  const shown = groups.filter(
    ({ move, items: inside }) => (move && isShown('move')) || inside.some(({ kind }) => isShown(kind)),
  );
  return (
    <Card title="Timeline" description="Transitions and everything they caused, newest first.">
      {problem && data === undefined ? <ProblemBanner problem={problem} onRetry={refresh} /> : null}
      {isLoading ? <Loading /> : null}
      {data === undefined ? null : (
        <>
          <fieldset className="mb-4 flex flex-wrap gap-1.5">
            <legend className="sr-only">Show only</legend>
            {kinds.map((kind) => (
              <Chip
                key={kind}
                label={kindLabels[kind]}
                number={items.filter((item) => item.kind === kind).length}
                isOn={chosen.has(kind)}
                onClick={() => toggle(kind)}
              />
            ))}
          </fieldset>
          {shown.length === 0 ? (
            <EmptyState title="Nothing of this kind yet">
              {chosen.size === 0
                ? 'Changes of the record are listed here.'
                : 'Remove a filter to see the rest.'}
            </EmptyState>
          ) : (
            <ol className="flex flex-col">
              {shown.map((group) => (
                <GroupView key={group.key} group={group} isShown={isShown} />
              ))}
            </ol>
          )}
          {data.hasMore ? (
            <p className="mt-4 text-sm text-muted">
              The newest {items.length} are shown; older ones are omitted.
            </p>
          ) : null}
        </>
      )}
    </Card>
  );
}

interface ChipProps {
  readonly label: string;
  readonly number: number;
  readonly isOn: boolean;
  readonly onClick: () => void;
}

function Chip({ label, number, isOn, onClick }: ChipProps) {
  return (
    <button
      type="button"
      aria-pressed={isOn}
      onClick={onClick}
      className={classes(
        'inline-flex h-7 items-center gap-1.5 rounded-full border px-2.5 text-sm',
        isOn
          ? 'border-accent bg-accent-soft font-medium text-accent'
          : 'border-line-strong/60 text-muted hover:border-line-strong hover:text-ink',
      )}
    >
      {label}
      <span className="tabular-nums">{number}</span>
    </button>
  );
}

interface GroupProps {
  readonly group: Group;
  readonly isShown: (kind: Kind) => boolean;
}

function GroupView({ group, isShown }: GroupProps) {
  const { move, items, at } = group;
  const from = move?.data.from;
  const to = move?.data.to;
  const action = move?.data.action;
  return (
    <li className="relative pb-5 pl-6 last:pb-0">
      <span aria-hidden className="absolute top-4 bottom-0 left-[5px] border-l" />
      <span
        aria-hidden
        className={classes(
          'absolute top-[5px] left-0 size-[11px] rounded-full border-2',
          move ? 'border-accent bg-accent-soft' : 'border-line-strong bg-surface',
        )}
      />
      <div className="flex flex-wrap items-baseline gap-x-2 gap-y-0.5">
        <h3 className="flex flex-wrap items-center gap-x-2 font-medium">
          {typeof action === 'string' ? sentenceCase(action) : 'No transition'}
          {typeof from === 'string' && from !== to ? (
            <span className="text-sm font-normal text-muted">{from.replaceAll('_', ' ')} →</span>
          ) : null}
          {typeof to === 'string' ? <StatusBadge status={to} /> : null}
        </h3>
        <span className="ml-auto text-sm text-muted">
          <Time at={at} />
        </span>
      </div>
      {move ? <p className="text-sm text-muted">{describeActor(move.data.actor)}</p> : null}
      <ul className="mt-1.5 flex flex-col">
        {items
          .filter(({ kind }) => isShown(kind))
          .map((item) => (
            <li key={item.id}>
              <TimelineRow item={item} />
            </li>
          ))}
      </ul>
    </li>
  );
}

function describeActor(actor: unknown): string {
  const { kind, name } = (actor ?? {}) as { kind?: string; name?: string | null };
  if (kind === 'api_key') return name ? `by the API key ${name}` : 'by an API key';
  if (kind === 'person') return `by ${name ?? 'a person in the console'}`;
  return 'by the clock';
}

function Loading() {
  return (
    <div role="status" className="flex flex-col gap-3">
      <span className="sr-only">Loading</span>
      <Skeleton className="h-7 w-full max-w-md" />
      <Skeleton className="h-16 w-full" />
      <Skeleton className="h-16 w-full" />
    </div>
  );
}
