import type { Overview } from '../../generated/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';
import { classes } from '../../parts/text.ts';

type Range = Overview['range'];
type TimeBase = Overview['time'];

export const rangeLabels: Readonly<Record<Range, string>> = {
  '1h': 'hour',
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
};
const ranges = Object.keys(rangeLabels) as readonly Range[];

export const timeLabels: Readonly<Record<TimeBase, string>> = {
  sandbox: 'Sandbox time',
  real: 'Real time',
};
const times = Object.keys(timeLabels) as readonly TimeBase[];

/** The query parameters of the page; those that are missing are chosen by the server. */
export interface OverviewFilters {
  readonly range?: string;
  readonly time?: string;
  readonly currency?: string;
}

export interface SwitchesProps {
  readonly filters: OverviewFilters;
  /** Undefined while loading. */
  readonly range: Range | undefined;
  readonly time: TimeBase | undefined;
}

/** Links and not buttons: each view has an address, and Back returns to the previous one. */
export function Switches({ filters, range, time }: SwitchesProps) {
  return (
    <>
      <Segments label="Time base">
        {times.map((one) => (
          <Segment key={one} search={{ ...filters, time: one }} isCurrent={one === time}>
            {timeLabels[one]}
          </Segment>
        ))}
      </Segments>
      <Segments label="Range">
        {ranges.map((one) => (
          <Segment key={one} search={{ ...filters, range: one }} isCurrent={one === range}>
            <span aria-hidden>{one}</span>
            <span className="sr-only">Last {rangeLabels[one]}</span>
          </Segment>
        ))}
      </Segments>
    </>
  );
}

function Segments({ label, children }: { readonly label: string; readonly children: React.ReactNode }) {
  return (
    <nav aria-label={label}>
      <ul className="flex rounded-md border border-line-strong/60 bg-surface p-0.5">{children}</ul>
    </nav>
  );
}

interface SegmentProps {
  readonly search: OverviewFilters;
  readonly isCurrent: boolean;
  readonly children: React.ReactNode;
}

function Segment({ search, isCurrent, children }: SegmentProps) {
  return (
    <li>
      <Anchor
        to=""
        search={{ ...search }}
        isCurrent={isCurrent}
        className={classes(
          'flex h-7 items-center rounded-sm px-2.5 text-sm font-medium whitespace-nowrap',
          isCurrent ? 'bg-accent-soft text-accent' : 'text-muted hover:text-ink',
        )}
      >
        {children}
      </Anchor>
    </li>
  );
}
