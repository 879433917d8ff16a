/** One contender in one round. */
export interface Measurement {
  /** Requests answered, or moves made where one request makes several. */
  readonly ratePerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor cores that the load generator itself used; of pgbench we do not know it. */
  readonly generatorCores?: number;
}

/** A measurement and whether the machine did nothing else when it began. */
export interface Measured extends Measurement {
  readonly isQuiet: boolean;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  const lower = sorted[middle - 1];
  if (upper === undefined) throw new Error('The median of nothing.');
  return sorted.length % 2 === 1 || lower === undefined ? upper : (lower + upper) / 2;
}

export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))];
  if (value === undefined) throw new Error('The percentile of nothing.');
  return value;
}
