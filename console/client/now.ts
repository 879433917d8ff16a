import { createContext, useCallback, useContext, useSyncExternalStore } from 'react';
import type { Clock } from '../generated/shapes.ts';
import { type Zone, zone } from './zone.ts';

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

/** '5 minutes ago', 'in 3 days', 'in 12 seconds', 'just now'. */
export function formatRelative(instantMs: number, nowMs: number): string {
  const difference = instantMs - nowMs;
  const unit = units.find(([, ms]) => Math.abs(difference) >= ms);
  if (unit !== undefined) return relative.format(Math.trunc(difference / unit[1]), unit[0]);
  return difference >= 1_000 ? relative.format(Math.trunc(difference / 1_000), 'second') : 'just now';
}

// The displayed clock is updated in steps and may be this far behind.
const behindMsMax = 60_000;

/**
 * '5 minutes ago', 'just now'. Undefined for an instant ahead of the clock, which was set back since: "created in 3 days" would be
 * absurd.
 */
export function formatPast(instantMs: number, nowMs: number): string | undefined {
  if (instantMs > nowMs + behindMsMax) return undefined;
  return formatRelative(Math.min(instantMs, nowMs), nowMs);
}

type Part = 'day' | 'dayOfYear' | 'minute' | 'second';

const options: Readonly<Record<Part, Intl.DateTimeFormatOptions>> = {
  day: { day: 'numeric', month: 'short', year: 'numeric' },
  dayOfYear: { day: 'numeric', month: 'short' },
  minute: { hour: '2-digit', minute: '2-digit' },
  second: { hour: '2-digit', minute: '2-digit', second: '2-digit' },
};
const formats = new Map<string, Intl.DateTimeFormat>();

function format(part: Part, instantMs: number, zone: Zone): string {
  const key = `${part} ${zone}`;
  const known = formats.get(key);
  if (known !== undefined) return known.format(instantMs);
  const created = new Intl.DateTimeFormat('en-GB', {
    ...options[part],
    ...(zone === 'utc' ? { timeZone: 'UTC' } : {}),
  });
  formats.set(key, created);
  return created.format(instantMs);
}

/** '30 Sept 2026, 14:05:09 UTC'; in the zone of the browser with its offset, 'GMT+2'. */
export function formatInstant(instantMs: number, precision: 'minute' | 'second' = 'second'): string {
  const shown = zone();
  return `${format('day', instantMs, shown)}, ${format(precision, instantMs, shown)} ${zoneLabel(instantMs, shown)}`;
}

/** A message of the server with its instants as the console shows times. */
export function withShownTimes(message: string): string {
  return message.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (text) =>
    formatInstant(Date.parse(text)),
  );
}

/** '30 Sept 2026'. */
export function formatDay(instantMs: number): string {
  return format('day', instantMs, zone());
}

/** '30 Sept 14:05:09', for lists: with the year only if it is not the current one. */
export function formatStamp(instantMs: number, nowMs: number): string {
  const shown = zone();
  const isThisYear = yearOf(instantMs, shown) === yearOf(nowMs, shown);
  return `${format(isThisYear ? 'dayOfYear' : 'day', instantMs, shown)} ${format('second', instantMs, shown)}`;
}

function yearOf(instantMs: number, shown: Zone): number {
  const date = new Date(instantMs);
  return shown === 'utc' ? date.getUTCFullYear() : date.getFullYear();
}

function zoneLabel(instantMs: number, shown: Zone): string {
  if (shown === 'utc') return 'UTC';
  const minutes = -new Date(instantMs).getTimezoneOffset();
  if (minutes === 0) return 'GMT';
  const hours = Math.trunc(Math.abs(minutes) / 60);
  const rest = Math.abs(minutes) % 60;
  return `GMT${minutes < 0 ? '\u2212' : '+'}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`;
}
