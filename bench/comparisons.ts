/** Performance targets for the rates and latencies of the rounds, as rows of the table of targets. */
import type { BenchmarkName } from './benchmarks.ts';
import { type Measured, median, roundsThatCount } from './measurement.ts';
import type { Target } from './targets.ts';

/** One entry per round; benchmarks that were not selected are absent. */
export type Rounds = readonly Readonly<Partial<Record<BenchmarkName, Measured>>>[];

interface Comparison {
  readonly what: string;
  readonly of: BenchmarkName;
  readonly against: BenchmarkName;
  /** Undefined where the figure is informational only. */
  readonly target?: number;
}

const BARE = 'relative to bare node:http';

const COMPARISONS: readonly Comparison[] = [
  {
    what: 'creates on PostgreSQL relative to plain tables',
    of: 'postgres',
    against: 'plainTables',
    target: 1.5,
  },
  {
    what: 'creates on PostgreSQL relative to the baseline',
    of: 'postgres',
    against: 'baseline',
    target: 1.5,
  },
  { what: 'creates on PGlite relative to PostgreSQL', of: 'pglite', against: 'postgres', target: 0.8 },
  {
    what: 'creates on PostgreSQL, 400 API keys relative to one',
    of: 'manyKeys',
    against: 'postgres',
    target: 0.9,
  },
  {
    what: 'creates on PGlite, 400 API keys relative to one',
    of: 'pgliteManyKeys',
    against: 'pglite',
    target: 0.9,
  },
  {
    what: 'creates with 400 API keys on PGlite relative to PostgreSQL',
    of: 'pgliteManyKeys',
    against: 'manyKeys',
    target: 0.8,
  },
  { what: `GET payment on PostgreSQL ${BARE}`, of: 'read', against: 'bareGet', target: 0.5 },
  { what: `GET payment on PGlite ${BARE}`, of: 'pgliteRead', against: 'bareGet', target: 0.4 },
  { what: `page of 20 payments on PostgreSQL ${BARE}`, of: 'page', against: 'bareGet', target: 0.12 },
  { what: `page of 20 payments on PGlite ${BARE}`, of: 'pglitePage', against: 'bareGet', target: 0.08 },
  { what: `first GET of a payment ${BARE}`, of: 'firstRead', against: 'bareGet' },
  { what: 'first GET of a payment relative to later ones', of: 'firstRead', against: 'read' },
  { what: 'walk on PostgreSQL, transitions relative to creates', of: 'walk', against: 'postgres' },
  { what: 'walk on PGlite, transitions relative to creates', of: 'pgliteWalk', against: 'pglite' },
  {
    what: 'walk in one request on PostgreSQL, transitions relative to creates',
    of: 'walkAtOnce',
    against: 'postgres',
  },
  {
    what: 'walk in one request on PGlite, transitions relative to creates',
    of: 'pgliteWalkAtOnce',
    against: 'pglite',
  },
];

/**
 * Ratios are computed within a round, where both sides ran under the same conditions, and the result is the median over the
 * rounds. Dividing the medians of both sides would mix a quiet minute with a busy one. For the same reason rounds that started
 * under other load are excluded, as long as at least two quiet rounds remain.
 */
export function comparisonTargets(rounds: Rounds): readonly Target[] {
  return COMPARISONS.flatMap(({ what, of, against, target }) => {
    const pairs = rounds.flatMap((round) => {
      const [one, other] = [round[of], round[against]];
      return one === undefined || other === undefined ? [] : [{ one, other }];
    });
    if (pairs.length === 0) return [];
    const used = roundsThatCount(pairs, ({ one, other }) => one.isQuiet && other.isQuiet);
    const { counted } = used;
    const ratio = median(counted.map(({ one, other }) => one.ratePerSecond / other.ratePerSecond));
    const rates = [counted.map(({ one }) => one), counted.map(({ other }) => other)].map((side) =>
      perSecond(median(side.map(({ ratePerSecond }) => ratePerSecond))),
    );
    return {
      what,
      result: rates.join(' vs. '),
      ratio: ratio.toFixed(2),
      ...(target !== undefined && { target: String(target), isMet: ratio >= target }),
      rounds: usedRounds(used, pairs.length),
    };
  });
}

const P99_MS_MAX = [
  { what: 'creates on PostgreSQL, p99', of: 'postgres', max: 25 },
  { what: 'creates on PGlite, p99', of: 'pglite', max: 40 },
] as const;

/** The median over the rounds of the 99th percentile within a round. */
export function latencyTargets(rounds: Rounds): readonly Target[] {
  return P99_MS_MAX.flatMap(({ what, of, max }) => {
    const measured = rounds.flatMap((round) => round[of] ?? []);
    if (measured.length === 0) return [];
    const used = roundsThatCount(measured, ({ isQuiet }) => isQuiet);
    const p99Ms = median(used.counted.map((one) => one.p99Ms));
    return {
      what,
      result: `${p99Ms.toFixed(1)} ms`,
      target: `under ${max} ms`,
      isMet: p99Ms < max,
      rounds: usedRounds(used, measured.length),
    };
  });
}

function usedRounds({ counted, isQuiet }: ReturnType<typeof roundsThatCount>, all: number): string {
  return isQuiet ? `${counted.length} quiet of ${all}` : `all ${all}, under other load`;
}

export function perSecond(rate: number): string {
  return Math.round(rate).toLocaleString('en-US');
}
