import { type KeyboardEvent, type PointerEvent, useRef } from 'react';
import { formatRelative } from '../../client/now.ts';
import { classes } from '../../parts/text.ts';
import { describeItems, dueUntil, instantAt, type Mark, positionOf, spanOf, ticksOf } from './marks.ts';

export interface TimeSliderProps {
  readonly marks: readonly Mark[];
  readonly now: number;
  /** The chosen instant; null for now. */
  readonly target: number | null;
  /** Whether more is due after the last mark than the marks show. */
  readonly isMore: boolean;
  readonly onChange: (target: number | null) => void;
}

/** A time line with the instants at which something is due. Arrow keys go from one to the next. */
export function TimeSlider({ marks, now, target, isMore, onChange }: TimeSliderProps) {
  const track = useRef<HTMLDivElement>(null);
  const span = spanOf(marks, now);
  const position = target === null ? 0 : positionOf(target - now, span);
  const choose = (instant: number) => onChange(instant <= now ? null : instant);
  const follow = ({ clientX }: PointerEvent) => {
    const box = track.current?.getBoundingClientRect();
    if (box !== undefined) choose(instantAt((clientX - box.left) / box.width, marks, now, span));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = targetOfKey(event.key, marks, target ?? now);
    if (next === undefined) return;
    event.preventDefault();
    onChange(next);
  };
  return (
    <div>
      {/* The padding makes the line easy to hit with a finger. */}
      <div
        ref={track}
        className="relative mx-2 h-8 cursor-pointer touch-none select-none"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          event.currentTarget.querySelector<HTMLElement>('[role=slider]')?.focus();
          event.preventDefault();
          follow(event);
        }}
        onPointerMove={(event) => {
          if (event.currentTarget.hasPointerCapture(event.pointerId)) follow(event);
        }}
      >
        <div className="absolute inset-x-0 top-[0.875rem] h-1 rounded-full bg-quiet-soft" />
        <div
          className="absolute top-[0.875rem] left-0 h-1 rounded-full bg-accent"
          style={{ width: `${position * 100}%` }}
        />
        {marks.map(({ at, items }) => (
          <span
            key={at}
            aria-hidden
            title={describeItems(items)}
            className={classes(
              'absolute top-4 -translate-x-1/2 -translate-y-1/2 rounded-full border-2 border-raised',
              items.length > 1 ? 'size-3.5' : 'size-3',
              target !== null && at <= target ? 'bg-accent' : 'bg-line-strong',
            )}
            style={{ left: `${positionOf(at - now, span) * 100}%` }}
          />
        ))}
        <div
          role="slider"
          tabIndex={0}
          aria-label="Fast-forward to"
          aria-valuemin={0}
          aria-valuemax={Math.round(span / 1_000)}
          aria-valuenow={target === null ? 0 : Math.min(span, Math.round((target - now) / 1_000))}
          aria-valuetext={valueText(marks, now, target, isMore)}
          onKeyDown={onKeyDown}
          className="absolute top-4 size-4 -translate-x-1/2 -translate-y-1/2 rounded-full border-2 border-accent bg-raised shadow-pop"
          style={{ left: `${position * 100}%` }}
        />
      </div>
      <div aria-hidden className="relative mx-2 h-4 text-xs text-faint tabular-nums">
        <span className="absolute left-0 -translate-x-2">now</span>
        {ticksOf(span).map(({ position: at, label }) => (
          <span
            key={label}
            className={classes(
              'absolute whitespace-nowrap',
              at === 1 ? 'right-0 translate-x-2' : '-translate-x-1/2',
            )}
            style={at === 1 ? {} : { left: `${at * 100}%` }}
          >
            {label}
          </span>
        ))}
      </div>
    </div>
  );
}

/** 'in 6 days: 3 payments settle'. */
function valueText(marks: readonly Mark[], now: number, target: number | null, isMore: boolean): string {
  if (target === null) return 'now';
  const isLast = target >= (marks.at(-1)?.at ?? now);
  return `${formatRelative(target, now)}: ${describeItems(dueUntil(marks, target), isMore && isLast)}`;
}

/** The target that a key selects: the next or the previous mark, now, or the last mark; undefined for other keys. */
function targetOfKey(key: string, marks: readonly Mark[], from: number): number | null | undefined {
  switch (key) {
    case 'ArrowRight':
    case 'ArrowUp':
    case 'PageUp':
      return (marks.find(({ at }) => at > from) ?? marks.at(-1))?.at ?? null;
    case 'ArrowLeft':
    case 'ArrowDown':
    case 'PageDown':
      return marks.findLast(({ at }) => at < from)?.at ?? null;
    case 'Home':
      return null;
    case 'End':
      return marks.at(-1)?.at ?? null;
    default:
      return undefined;
  }
}
