/**
 * When a failed delivery is tried again, by the clock of the application. Each number is the wait before an attempt, in
 * seconds; a profile has as many attempts as it has waits.
 */
export const retryProfiles = {
  standard: [0, 5, 30, 120, 600, 1_800, 3_600, 10_800, 21_600, 43_200],
  fast: [0, 1, 4, 15, 30],
  none: [0],
} as const;

export type RetryProfile = keyof typeof retryProfiles;

export const retryProfileNames = Object.keys(retryProfiles) as readonly RetryProfile[];

/** Never less than the wait of the profile: receivers that recover together are not met by all of us at once. */
export const jitterShareMax = 0.05;
/** What a receiver may ask for with Retry-After. */
export const retryAfterSecondsMax = 86_400;
/** No retry lies further ahead than this. One that does was planned by a clock that has been put back since. */
export const retryAheadMsMax = (Math.max(43_200 * (1 + jitterShareMax), retryAfterSecondsMax) + 60) * 1_000;

/** How long nothing but failure is borne before an endpoint is disabled. */
export const failingMsMax = 5 * 86_400_000;

/** Milliseconds until the next attempt after so many, or null when there is none. `chance` is from 0 to 1. */
export function waitAfter(
  profile: RetryProfile,
  tries: number,
  retryAfterSeconds: number,
  chance: number,
): number | null {
  const seconds = retryProfiles[profile][tries];
  if (seconds === undefined) return null;
  const asked = Math.min(Math.max(retryAfterSeconds, 0), retryAfterSecondsMax);
  return Math.round(Math.max(seconds * (1 + chance * jitterShareMax), asked) * 1_000);
}

/**
 * The seconds of a Retry-After header, which is a number or a date. A date is compared with the date of the answer where
 * it has one, so that a receiver whose clock is wrong still means what it says.
 */
export function retryAfterOf(header: string | undefined, date: string | undefined, wallNow: number): number {
  if (header === undefined) return 0;
  if (/^\d+$/.test(header)) return Math.min(Number(header), retryAfterSecondsMax);
  const at = Date.parse(header);
  const since = date === undefined ? wallNow : Date.parse(date);
  const seconds = (at - (Number.isNaN(since) ? wallNow : since)) / 1_000;
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : 0;
}
