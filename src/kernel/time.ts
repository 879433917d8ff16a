import { formatId, type Id, idPrefixes } from './ids.ts';
import type { Instant } from './table.ts';

/** Durations in milliseconds, as instants are. The suffixes `Ms` and `Seconds` of names are the unit. */
export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** For settings and header fields that are in seconds. */
export const daySeconds = dayMs / secondMs;

/** The fields that determine the current time. An application whose clock was never moved has no row: it uses real time. */
export interface Clock {
  /** The offset from real time while the clock runs. */
  readonly offsetMs: bigint;
  /** The time of a frozen or advancing clock; null while it runs. */
  readonly frozenAt: Instant | null;
}

export function clockNow(clock: Clock | undefined, wallNow: Instant): Instant {
  if (!clock) return wallNow;
  return clock.frozenAt ?? wallNow + Number(clock.offsetMs);
}

/** A scheduled step of a record: the action, and when it is due. */
export interface Due<Action extends string = string> {
  readonly at: Instant;
  readonly action: Action;
}

/** The earliest scheduled step; the argument order breaks ties. */
export function earliest<Action extends string>(dues: readonly (Due<Action> | null)[]): Due<Action> | null {
  let first: Due<Action> | null = null;
  for (const due of dues) if (due && (!first || due.at < first.at)) first = due;
  return first;
}

/** The clock id of an application. There is one clock per application, so both ids have the same suffix. */
export function clockIdOf(appId: Id<'application'>): Id<'clock'> {
  return formatId('clock', appId.slice(idPrefixes.application.length + 1));
}
