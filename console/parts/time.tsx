import { absoluteWords, relativeWords, type TimeKind, useNow } from '../client/now.ts';

export interface TimeProps {
  readonly at: string | null | undefined;
  /** `application` (default): relative to the application's clock. `wall`: keys, requests, audit, sessions. */
  readonly kind?: TimeKind;
  /** `both` shows the date and how long ago it is. */
  readonly show?: 'relative' | 'absolute' | 'both';
  readonly empty?: string;
}

/** An instant; the full one in UTC is always in the title. */
export function Time({ at, kind = 'application', show = 'relative', empty = '—' }: TimeProps) {
  const now = useNow(kind);
  if (at === null || at === undefined) return <span className="text-faint">{empty}</span>;
  const instant = Date.parse(at);
  const ago = relativeWords(instant, now);
  const full = absoluteWords(instant, true);
  return (
    <time dateTime={at} title={`${full} (${ago})`} className="tabular-nums">
      <span className="whitespace-nowrap">{show === 'relative' ? ago : absoluteWords(instant)}</span>
      {show === 'both' ? <span className="whitespace-nowrap text-faint"> · {ago}</span> : null}
    </time>
  );
}
