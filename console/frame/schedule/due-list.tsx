import { FastForward } from 'lucide-react';
import { useState } from 'react';
import type { ScheduledItem } from '../../generated/shapes.ts';
import { Anchor, pageOf } from '../../parts/anchor.tsx';
import { Button, IconButton } from '../../parts/button.tsx';
import { Time } from '../../parts/time.tsx';
import { describeGroup, type Group, groupsOf, type Mark } from './marks.ts';

const rowsShownMin = 5;

export interface DueListProps {
  readonly marks: readonly Mark[];
  readonly onNavigate: () => void;
  /** Omitted for viewers. */
  readonly onAdvance?: ((to: number) => void) | undefined;
}

/** What is due next, one row for each instant and effect. */
export function DueList({ marks, onNavigate, onAdvance }: DueListProps) {
  const [isLong, setLong] = useState(false);
  const groups = marks.flatMap(groupsOf);
  const shown = isLong ? groups : groups.slice(0, rowsShownMin);
  return (
    <section aria-labelledby="due-next">
      <h3 id="due-next" className="text-sm font-medium text-muted">
        Due next
      </h3>
      <ul>
        {shown.map((group) => (
          <li
            key={`${group.at} ${group.items[0].kind} ${group.items[0].action}`}
            className="border-b last:border-b-0"
          >
            <Row group={group} onNavigate={onNavigate} onAdvance={onAdvance} />
          </li>
        ))}
      </ul>
      {groups.length > shown.length ? (
        <Button size="small" variant="ghost" className="-ml-2.5" onClick={() => setLong(true)}>
          Show all {groups.length}
        </Button>
      ) : null}
    </section>
  );
}

interface RowProps extends Omit<DueListProps, 'marks'> {
  readonly group: Group;
}

function Row({ group: { at, items }, onNavigate, onAdvance }: RowProps) {
  const [first, ...others] = items;
  const text = describeGroup(items);
  return (
    <div className="flex items-start gap-2 py-1">
      <div className="min-w-0 flex-1">
        {others.length === 0 ? (
          <p className="flex min-h-7 flex-wrap items-center gap-x-2">
            <span>{withoutCount(text)}</span>
            <ItemLink item={first} onNavigate={onNavigate} />
          </p>
        ) : (
          <details>
            <summary className="min-h-7 content-center rounded-sm hover:text-accent">{text}</summary>
            <ul className="pb-1 pl-3.5">
              {items.map((item) => (
                <li key={item.id} className="min-h-6">
                  <ItemLink item={item} onNavigate={onNavigate} />
                </li>
              ))}
            </ul>
          </details>
        )}
      </div>
      <span className="flex min-h-7 items-center text-sm text-muted">
        <Time at={first.at} show="relative" mayBeAhead />
      </span>
      {onAdvance === undefined ? null : (
        <IconButton
          label={`Advance to this: ${text}`}
          size="small"
          className="mt-0.5"
          icon={<FastForward aria-hidden size={14} />}
          onClick={() => onAdvance(at)}
        />
      )}
    </div>
  );
}

/** '1 payment settles' -> 'Payment settles'. */
function withoutCount(text: string): string {
  const rest = text.replace(/^1 /, '');
  return rest.charAt(0).toUpperCase() + rest.slice(1);
}

function ItemLink({ item, onNavigate }: { readonly item: ScheduledItem; readonly onNavigate: () => void }) {
  const page = pageOf(item.id);
  if (page === undefined) return <span className="text-sm tabular-nums">{item.label}</span>;
  return (
    <Anchor
      to={page}
      onClick={onNavigate}
      className="inline-flex min-h-6 items-center text-sm break-words text-accent tabular-nums underline-offset-2 hover:underline"
    >
      {item.label}
    </Anchor>
  );
}
