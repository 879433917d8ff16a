/** Durations in milliseconds, as instants are. The suffixes `Ms` and `Seconds` of names are the unit. */
export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** For settings and header fields that are in seconds. */
export const daySeconds = dayMs / secondMs;
