/** One benchmark in one round. */
export interface Measurement {
  /** Responses, or transitions where one request does several. */
  readonly ratePerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Cores used by the load generator; unknown for pgbench. */
  readonly generatorCores?: number;
}

/** A measurement, and whether the machine was otherwise idle when it started. */
export interface Measured extends Measurement {
  readonly isQuiet: boolean;
}

const QUIET_ROUNDS_MIN = 2;

/** The rounds that count: those that started on an otherwise idle machine, or all if fewer than two did. */
export function roundsThatCount<Round>(
  rounds: readonly Round[],
  isQuiet: (round: Round) => boolean,
): { readonly counted: readonly Round[]; readonly isQuiet: boolean } {
  const quiet = rounds.filter(isQuiet);
  return quiet.length >= QUIET_ROUNDS_MIN
    ? { counted: quiet, isQuiet: true }
    : { counted: rounds, isQuiet: false };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  const lower = sorted[middle - 1];
  if (upper === undefined) throw new Error('median of an empty list');
  return sorted.length % 2 === 1 || lower === undefined ? upper : (lower + upper) / 2;
}

export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))];
  if (value === undefined) throw new Error('percentile of an empty list');
  return value;
}
