import { type RetryProfile, retryProfiles } from '../kernel/application-settings.ts';

/** Jitter only extends the wait. It spreads the retries to receivers that recover at the same time. */
export const jitterShareMax = 0.05;
/** The maximum that a receiver may request with Retry-After. */
const retryAfterSecondsMax = 86_400;
/** No retry is scheduled further ahead. One that is was scheduled by a clock that has since been set back. */
export const retryAheadMsMax = (Math.max(43_200 * (1 + jitterShareMax), retryAfterSecondsMax) + 60) * 1_000;

/** Milliseconds until the next attempt after `tries` attempts, or null when there is none. `chance` is from 0 to 1. */
export function waitAfter(
  profile: RetryProfile,
  tries: number,
  retryAfterSeconds: number,
  chance: number,
): number | null {
  const seconds = retryProfiles[profile][tries];
  if (seconds === undefined) return null;
  const requested = Math.min(Math.max(retryAfterSeconds, 0), retryAfterSecondsMax);
  return Math.round(Math.max(seconds * (1 + chance * jitterShareMax), requested) * 1_000);
}

/**
 * The seconds of a Retry-After header, which is a number or a date. A date is compared with the Date header of the response where
 * present, so that a wrong clock of the receiver does not matter.
 */
export function retryAfterOf(header: string | undefined, date: string | undefined, wallNow: number): number {
  if (header === undefined) return 0;
  if (/^\d+$/.test(header)) return Math.min(Number(header), retryAfterSecondsMax);
  const at = Date.parse(header);
  const since = date === undefined ? wallNow : Date.parse(date);
  const seconds = (at - (Number.isNaN(since) ? wallNow : since)) / 1_000;
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : 0;
}
