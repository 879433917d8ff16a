import { cpus } from 'node:os';
import { BENCHMARKS, type BenchmarkName } from './benchmarks.ts';
import { type ClockMeasured, clockLine } from './clock.ts';
import { type Cost, costLine } from './costs.ts';
import { type DeliveriesMeasured, deliveriesLine } from './deliveries.ts';
import { type Measured, median } from './measurement.ts';
import { type NodesMeasured, nodesLine } from './nodes.ts';
import type { Options } from './options.ts';
import { type StartMeasured, startLine } from './start.ts';
import type { Target } from './targets.ts';

/** One entry per round; benchmarks that were not selected are absent. */
export type Rounds = readonly Readonly<Partial<Record<BenchmarkName, Measured>>>[];

export interface RunDetails {
  readonly options: Options;
  readonly postgresVersion: string;
  readonly baselineDriver: string;
  readonly remarks: readonly string[];
  readonly clock: readonly ClockMeasured[];
  readonly deliveries: readonly DeliveriesMeasured[];
  readonly nodes: readonly NodesMeasured[];
  readonly costs: readonly Cost[];
  readonly start: StartMeasured | undefined;
}

interface Comparison {
  readonly what: string;
  readonly of: BenchmarkName;
  readonly against: BenchmarkName;
  /** Undefined where the figure is informational only. */
  readonly target?: number;
}

const COMPARISONS: readonly Comparison[] = [
  {
    what: 'creates on PostgreSQL relative to the baseline',
    of: 'postgres',
    against: 'baseline',
    target: 1.5,
  },
  { what: 'creates on PGlite relative to PostgreSQL', of: 'pglite', against: 'postgres', target: 0.7 },
  { what: 'GET payment relative to a bare route', of: 'read', against: 'bareGet', target: 0.5 },
  { what: 'first GET of a payment relative to a bare route', of: 'firstRead', against: 'bareGet' },
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

const QUIET_ROUNDS_MIN = 2;

export interface Verdict {
  readonly table: string;
  readonly missed: readonly string[];
}

/**
 * Ratios are computed within a round, where both sides ran under the same conditions, and the result is the median over the
 * rounds. Dividing the medians of both sides would mix a quiet minute with a busy one. For the same reason rounds that started
 * under other load are excluded, as long as at least two quiet rounds remain.
 */
export function evaluate(rounds: Rounds, others: readonly Target[]): Verdict {
  const lines = [
    '| measurement | result | target | ratio | met? | rounds used |',
    '|---|---|---|---|---|---|',
  ];
  const missed: string[] = [];
  for (const { what, of, against, target } of COMPARISONS) {
    const pairs = rounds.flatMap((round) => {
      const [one, other] = [round[of], round[against]];
      return one === undefined || other === undefined ? [] : [{ one, other }];
    });
    if (pairs.length === 0) continue;
    const quiet = pairs.filter(({ one, other }) => one.isQuiet && other.isQuiet);
    const counted = quiet.length >= QUIET_ROUNDS_MIN ? quiet : pairs;
    const ratio = median(counted.map(({ one, other }) => one.ratePerSecond / other.ratePerSecond));
    const figures = [counted.map(({ one }) => one), counted.map(({ other }) => other)];
    const cells = [
      what,
      figures.map((side) => perSecond(median(side.map(({ ratePerSecond }) => ratePerSecond)))).join(' vs. '),
      target ?? '',
      ratio.toFixed(2),
      target === undefined ? '' : ratio >= target ? 'yes' : '**missed**',
      counted === quiet
        ? `${quiet.length} quiet of ${pairs.length}`
        : `all ${pairs.length}, under other load`,
    ];
    lines.push(`| ${cells.join(' | ')} |`);
    if (target !== undefined && ratio < target) missed.push(`${what}: ${ratio.toFixed(2)}, target ${target}`);
  }
  for (const { what, result, target, isMet } of others) {
    lines.push(`| ${[what, result, target, '', isMet ? 'yes' : '**missed**', ''].join(' | ')} |`);
    if (!isMet) missed.push(`${what}: ${result}, target ${target}`);
  }
  return { table: lines.join('\n'), missed };
}

export function renderResults(rounds: Rounds, verdict: Verdict, { options, ...details }: RunDetails): string {
  const processors = cpus();
  const facts = [
    `Measured on ${new Date().toISOString().slice(0, 10)} with \`npm run bench\`: ${options.rounds} rounds of ${options.seconds} s, benchmarks alternating.`,
    `${processors.length} × ${processors[0]?.model.trim() ?? 'unknown processor'}, Node ${process.version}, PostgreSQL ${details.postgresVersion}.`,
    `Baseline driver: ${details.baselineDriver}.`,
    ...details.remarks,
    'Only ratios are comparable, and only within one run.',
  ];
  const missed =
    verdict.missed.length === 0
      ? 'All targets are met.'
      : verdict.missed.map((line) => `Missed: ${line}.`).join('\n');
  return `# Results

${facts.join('\n')}

${verdict.table}

${missed}
${clockSection(details.clock)}${deliveriesSection(details.deliveries)}${nodesAndStart(details)}${costsSection(details.costs)}
## All rounds

Requests or transitions per second; request latencies in milliseconds (median of the percentiles of all rounds);
load = cores used by the load generator; * = started under other load.

${roundsTable(rounds)}
`;
}

/** Measured once on each database and reported in seconds, because there is no baseline for it. */
function clockSection(measured: readonly ClockMeasured[]): string {
  if (measured.length === 0) return '';
  const lines = measured.map((one) => `- ${one.database}: ${clockLine(one)}.`);
  return `\n## Clock\n\nOne request that advances the clock past all due timers:\n\n${lines.join('\n')}\n`;
}

/** Measured by a receiver on the same machine. */
function deliveriesSection(measured: readonly DeliveriesMeasured[]): string {
  if (measured.length === 0) return '';
  const lines = measured.map((one) => `- ${one.database}: ${deliveriesLine(one)}.`);
  return `\n## Deliveries\n\nFrom the response of a write to the receipt of its event, in milliseconds:\n\n${lines.join('\n')}\n`;
}

function nodesAndStart({ nodes, start }: Pick<RunDetails, 'nodes' | 'start'>): string {
  const lines = [...nodes.map(nodesLine), ...(start === undefined ? [] : [startLine(start)])];
  if (lines.length === 0) return '';
  return `\n## Nodes and start\n\n${lines.map((line) => `- ${line}.`).join('\n')}\n`;
}

function costsSection(costs: readonly Cost[]): string {
  if (costs.length === 0) return '';
  const lines = costs.map((one) => `- ${costLine(one)}.`);
  return `\n## Costs\n\nPer request under full load, including the background work of the following seconds:\n\n${lines.join('\n')}\n`;
}

function roundsTable(rounds: Rounds): string {
  const heads = rounds.map((_, index) => `round ${index + 1}`);
  const lines = [
    `| benchmark | ${heads.join(' | ')} | median | p50 | p99 | load |`,
    `|---|${heads.map(() => '---|').join('')}---|---|---|---|`,
  ];
  for (const name of Object.keys(BENCHMARKS) as BenchmarkName[]) {
    const measured = rounds.flatMap((round) => round[name] ?? []);
    if (measured.length === 0) continue;
    const rates = measured.map(({ ratePerSecond }) => ratePerSecond);
    const load = measured.flatMap(({ generatorCores }) => generatorCores ?? []);
    const cells = [
      BENCHMARKS[name],
      ...measured.map(({ ratePerSecond, isQuiet }) => perSecond(ratePerSecond) + (isQuiet ? '' : ' *')),
      perSecond(median(rates)),
      median(measured.map(({ p50Ms }) => p50Ms)).toFixed(1),
      median(measured.map(({ p99Ms }) => p99Ms)).toFixed(1),
      load.length === 0 ? '' : median(load).toFixed(2),
    ];
    lines.push(`| ${cells.join(' | ')} |`);
  }
  return lines.join('\n');
}

function perSecond(rate: number): string {
  return Math.round(rate).toLocaleString('en-US');
}
