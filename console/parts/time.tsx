import {
  formatInstant,
  formatPast,
  formatRelative,
  formatStamp,
  type TimeKind,
  useNow,
} from '../client/now.ts';

export interface TimeProps {
  readonly at: string | null | undefined;
  /** `application` (default): relative to the application clock. `wall`: for keys, requests, audit and sessions. */
  readonly kind?: TimeKind;
  /** `stamp` (default) for lists, `full` with year and zone, `relative` in sentences, `both` for full and relative. */
  readonly show?: 'stamp' | 'full' | 'relative' | 'both';
  /** Whether it may lie ahead of the clock, such as an expiry. Other times lie ahead only after the clock was set back. */
  readonly mayBeAhead?: boolean;
  readonly empty?: string;
}

/** A time; its title has the full time and the distance from now. */
export function Time({
  at,
  kind = 'application',
  show = 'stamp',
  mayBeAhead = false,
  empty = '—',
}: TimeProps) {
  const now = useNow(kind, mayBeAhead ? 1_000 : undefined);
  if (at === null || at === undefined) return <span className="text-faint">{empty}</span>;
  const instant = Date.parse(at);
  const full = formatInstant(instant);
  const distance = mayBeAhead ? formatRelative(instant, now) : formatPast(instant, now);
  const text = {
    stamp: formatStamp(instant, now),
    full,
    relative: distance ?? formatStamp(instant, now),
    both: full,
  }[show];
  return (
    <time
      dateTime={at}
      title={distance === undefined ? full : `${full} (${distance})`}
      className="tabular-nums"
    >
      <span className={show === 'stamp' || show === 'relative' ? 'whitespace-nowrap' : ''}>{text}</span>
      {show === 'both' && distance !== undefined ? (
        <span className="whitespace-nowrap text-faint"> · {distance}</span>
      ) : null}
    </time>
  );
}

/** Below the text of a row's first cell, for a column of times that is hidden on phones. */
export function TimeOnPhones(props: Pick<TimeProps, 'at' | 'kind'>) {
  return (
    <span className="block text-xs font-normal text-muted sm:hidden">
      <Time {...props} />
    </span>
  );
}
