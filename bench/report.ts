import { cpus } from 'node:os';
import type { Bar } from './bars.ts';
import { type ClockMeasured, clockLine } from './clock.ts';
import { CONTENDERS, type ContenderName } from './contenders.ts';
import { type Cost, costLine } from './costs.ts';
import { type DeliveriesMeasured, deliveriesLine } from './deliveries.ts';
import { type Measured, median } from './measurement.ts';
import { type NodesMeasured, nodesLine } from './nodes.ts';
import type { Options } from './options.ts';
import { type StartMeasured, startLine } from './start.ts';

/** One entry a round; a contender that was not asked for is absent. */
export type Rounds = readonly Readonly<Partial<Record<ContenderName, Measured>>>[];

export interface Surroundings {
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
  readonly of: ContenderName;
  readonly against: ContenderName;
  /** From the quality bars of the design; it has none for what is only of interest. */
  readonly bar?: number;
}

const COMPARISONS: readonly Comparison[] = [
  { what: 'creates on PostgreSQL against the baseline', of: 'postgres', against: 'baseline', bar: 1.5 },
  { what: 'creates on PGlite against PostgreSQL', of: 'pglite', against: 'postgres', bar: 0.7 },
  { what: 'GET of one payment against a bare route', of: 'read', against: 'bareGet', bar: 0.5 },
  { what: 'first GET of a payment against a bare route', of: 'firstRead', against: 'bareGet' },
  { what: 'first GET of a payment against later ones', of: 'firstRead', against: 'read' },
  { what: 'walk on PostgreSQL, moves against creates', of: 'walk', against: 'postgres' },
  { what: 'walk on PGlite, moves against creates', of: 'pgliteWalk', against: 'pglite' },
  { what: 'walk in one request on PostgreSQL, moves against creates', of: 'walkAtOnce', against: 'postgres' },
  { what: 'walk in one request on PGlite, moves against creates', of: 'pgliteWalkAtOnce', against: 'pglite' },
];

const QUIET_ROUNDS_MIN = 2;

export interface Verdict {
  readonly table: string;
  readonly missed: readonly string[];
}

/**
 * A ratio is taken within a round, where both sides met the same neighbours on the machine, and the median of the rounds
 * counts. Medians of each side divided by each other would mix a quiet minute with a busy one. For the same reason
 * rounds in which one side began beside other work are left out, as long as two are left.
 */
export function judge(rounds: Rounds, others: readonly Bar[]): Verdict {
  const lines = ['| what | figure | bar | ratio | met? | rounds counted |', '|---|---|---|---|---|---|'];
  const missed: string[] = [];
  for (const { what, of, against, bar } of COMPARISONS) {
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
      figures
        .map((side) => perSecond(median(side.map(({ ratePerSecond }) => ratePerSecond))))
        .join(' against '),
      bar ?? '',
      ratio.toFixed(2),
      bar === undefined ? '' : ratio >= bar ? 'yes' : '**missed**',
      counted === quiet
        ? `${quiet.length} quiet of ${pairs.length}`
        : `all ${pairs.length}, on a busy machine`,
    ];
    lines.push(`| ${cells.join(' | ')} |`);
    if (bar !== undefined && ratio < bar) missed.push(`${what}: ${ratio.toFixed(2)}, the bar is ${bar}`);
  }
  for (const { what, figure, bar, isMet } of others) {
    lines.push(`| ${[what, figure, bar, '', isMet ? 'yes' : '**missed**', ''].join(' | ')} |`);
    if (!isMet) missed.push(`${what}: ${figure}, the bar is ${bar}`);
  }
  return { table: lines.join('\n'), missed };
}

export function renderResults(
  rounds: Rounds,
  verdict: Verdict,
  { options, ...around }: Surroundings,
): string {
  const processors = cpus();
  const facts = [
    `Measured on ${new Date().toISOString().slice(0, 10)} with \`npm run bench\`: ${options.rounds} rounds of ${options.seconds} s, contenders in turn.`,
    `${processors.length} × ${processors[0]?.model.trim() ?? 'unknown processor'}, Node ${process.version}, PostgreSQL ${around.postgresVersion}.`,
    `Baseline driver: ${around.baselineDriver}.`,
    ...around.remarks,
    'Only the ratios mean something, and only within one run.',
  ];
  const missed =
    verdict.missed.length === 0
      ? 'Every bar is met.'
      : verdict.missed.map((line) => `Missed: ${line}.`).join('\n');
  return `# Results

${facts.join('\n')}

${verdict.table}

${missed}
${theClock(around.clock)}${theDeliveries(around.deliveries)}${nodesAndStart(around)}${theCosts(around.costs)}
## Every round

Figures a second, of requests or of moves; latencies of requests in milliseconds over all rounds (median of the rounds' own
percentiles); load = cores that the load generator itself used; * = begun beside other work on the machine.

${everyRound(rounds)}
`;
}

/** Moved once over many timers on each database; there is nothing to compare it with, so it is told in seconds. */
function theClock(measured: readonly ClockMeasured[]): string {
  if (measured.length === 0) return '';
  const lines = measured.map((one) => `- ${one.database}: ${clockLine(one)}.`);
  return `\n## The clock\n\nOne request that moves the clock over everything that is due:\n\n${lines.join('\n')}\n`;
}

/** What a receiver next door sees. */
function theDeliveries(measured: readonly DeliveriesMeasured[]): string {
  if (measured.length === 0) return '';
  const lines = measured.map((one) => `- ${one.database}: ${deliveriesLine(one)}.`);
  return `\n## Deliveries\n\nFrom the answer of a write to the receipt of its event, in milliseconds:\n\n${lines.join('\n')}\n`;
}

function nodesAndStart({ nodes, start }: Pick<Surroundings, 'nodes' | 'start'>): string {
  const lines = [...nodes.map(nodesLine), ...(start === undefined ? [] : [startLine(start)])];
  if (lines.length === 0) return '';
  return `\n## Nodes and start\n\n${lines.map((line) => `- ${line}.`).join('\n')}\n`;
}

function theCosts(costs: readonly Cost[]): string {
  if (costs.length === 0) return '';
  const lines = costs.map((one) => `- ${costLine(one)}.`);
  return `\n## Costs\n\nOf one request under full load, all that it causes in the seconds after included:\n\n${lines.join('\n')}\n`;
}

function everyRound(rounds: Rounds): string {
  const heads = rounds.map((_, index) => `round ${index + 1}`);
  const lines = [
    `| contender | ${heads.join(' | ')} | median | p50 | p99 | load |`,
    `|---|${heads.map(() => '---|').join('')}---|---|---|---|`,
  ];
  for (const name of Object.keys(CONTENDERS) as ContenderName[]) {
    const measured = rounds.flatMap((round) => round[name] ?? []);
    if (measured.length === 0) continue;
    const rates = measured.map(({ ratePerSecond }) => ratePerSecond);
    const load = measured.flatMap(({ generatorCores }) => generatorCores ?? []);
    const cells = [
      CONTENDERS[name],
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
