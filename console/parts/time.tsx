import { formatInstant, formatRelative, type TimeKind, useNow } from '../client/now.ts';

export interface TimeProps {
  readonly at: string | null | undefined;
  /** `application` (default): relative to the application clock. `wall`: for keys, requests, audit and sessions. */
  readonly kind?: TimeKind;
  /** `both` shows the date and the relative time. */
  readonly show?: 'relative' | 'absolute' | 'both';
  readonly empty?: string;
}

/** A time; the title contains the full UTC time. */
export function Time({ at, kind = 'application', show = 'relative', empty = '—' }: TimeProps) {
  const now = useNow(kind);
  if (at === null || at === undefined) return <span className="text-faint">{empty}</span>;
  const instant = Date.parse(at);
  const ago = formatRelative(instant, now);
  const full = formatInstant(instant, true);
  return (
    <time dateTime={at} title={`${full} (${ago})`} className="tabular-nums">
      <span className="whitespace-nowrap">{show === 'relative' ? ago : formatInstant(instant)}</span>
      {show === 'both' ? <span className="whitespace-nowrap text-faint"> · {ago}</span> : null}
    </time>
  );
}
