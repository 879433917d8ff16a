import { formatId, idPrefixes } from './ids.ts';
import type { Instant } from './table.ts';

/** What is needed of a clock to read it. An application whose clock was never moved has none: it shows real time. */
export interface Clock {
  /** How far it is ahead of real time, while it runs. */
  readonly offsetMs: bigint;
  /** Where it stands, frozen or on its way; null while it runs. */
  readonly frozenAt: Instant | null;
}

export function clockNow(clock: Clock | undefined, wallNow: Instant): Instant {
  if (!clock) return wallNow;
  return clock.frozenAt ?? wallNow + Number(clock.offsetMs);
}

/** What a record waits for: the step that its clock will bring, and when. */
export interface Due {
  readonly at: Instant;
  readonly action: string;
}

/** The first of what a record waits for; among equals the order given. */
export function earliest(dues: readonly (Due | null)[]): Due | null {
  let first: Due | null = null;
  for (const due of dues) if (due && (!first || due.at < first.at)) first = due;
  return first;
}

/** The id of an application's clock: there is one, so it has the application's own suffix. */
export function clockIdOf(appId: string): string {
  return formatId('clock', appId.slice(idPrefixes.application.length + 1));
}
