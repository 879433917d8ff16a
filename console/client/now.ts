import { createContext, useCallback, useContext, useSyncExternalStore } from 'react';
import type { Clock } from './shapes.ts';

/** The last reading of the application clock, with the real time of the reading. */
export interface ClockReading {
  readonly clock: Clock;
  readonly readAtMs: number;
}

export const ClockContext = createContext<ClockReading | null>(null);

export type TimeKind = 'application' | 'wall';

/** The current time in milliseconds, updated every `stepMs`. Application time does not advance while its clock is frozen. */
export function useNow(kind: TimeKind, stepMs = 15_000): number {
  const reading = useContext(ClockContext);
  const subscribe = useCallback(
    (onChange: () => void) => {
      const timer = setInterval(onChange, stepMs);
      return () => clearInterval(timer);
    },
    [stepMs],
  );
  const wall = useSyncExternalStore(subscribe, () => Math.floor(Date.now() / stepMs) * stepMs);
  return timeAt(kind, reading, wall);
}

/** Application time at a wall-clock instant: the last reading plus elapsed wall time, or the reading while frozen. */
export function timeAt(kind: TimeKind, reading: ClockReading | null, wallMs: number): number {
  if (kind === 'wall' || reading === null) return wallMs;
  const readMs = Date.parse(reading.clock.now);
  return reading.clock.status === 'frozen' ? readMs : readMs + Math.max(0, wallMs - reading.readAtMs);
}

const units: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_557_600_000],
  ['month', 2_629_800_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** '5 minutes ago', 'in 3 days', 'just now'. */
export function formatRelative(instantMs: number, nowMs: number): string {
  const difference = instantMs - nowMs;
  const unit = units.find(([, ms]) => Math.abs(difference) >= ms);
  return unit === undefined ? 'just now' : relative.format(Math.trunc(difference / unit[1]), unit[0]);
}

const day = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
});
const minute = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' });
const second = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZone: 'UTC',
});

/** '30 Sep 2026, 14:05 UTC'. The console shows all times in UTC, like the API. */
export function formatInstant(instantMs: number, isPrecise = false): string {
  return `${day.format(instantMs)}, ${(isPrecise ? second : minute).format(instantMs)} UTC`;
}
