import { cpus } from 'node:os';
import { BENCHMARKS, type BenchmarkName } from './benchmarks.ts';
import { type ClockMeasured, clockLine } from './clock.ts';
import { perSecond, type Rounds } from './comparisons.ts';
import { type Cost, costLine } from './costs.ts';
import { type DeliveriesMeasured, deliveriesLine } from './deliveries.ts';
import { median } from './measurement.ts';
import { type NodesMeasured, nodesLine } from './nodes.ts';
import type { Options } from './options.ts';
import { type LogShare, logShareLine } from './request-log.ts';
import { type StartMeasured, startLine } from './start.ts';
import type { Target } from './targets.ts';

export interface RunDetails {
  readonly options: Options;
  readonly postgresVersion: string;
  readonly baselineDriver: string;
  readonly remarks: readonly string[];
  readonly clock: readonly ClockMeasured[];
  readonly deliveries: readonly DeliveriesMeasured[];
  readonly nodes: readonly NodesMeasured[];
  readonly costs: readonly Cost[];
  readonly requestLog: readonly LogShare[];
  readonly start: StartMeasured | undefined;
}

export interface Verdict {
  readonly table: string;
  readonly missed: readonly string[];
}

export function evaluate(targets: readonly Target[]): Verdict {
  const lines = targets.map(({ what, result, ratio, target, isMet, rounds }) => {
    const met = isMet === undefined ? '' : isMet ? 'yes' : '**missed**';
    return `| ${[what, result, target ?? '', ratio ?? '', met, rounds ?? ''].join(' | ')} |`;
  });
  const head = '| measurement | result | target | ratio | met? | rounds used |\n|---|---|---|---|---|---|';
  const missed = targets
    .filter(({ isMet }) => isMet === false)
    .map(({ what, result, ratio, target }) => `${what}: ${ratio ?? result}, target ${target}`);
  return { table: [head, ...lines].join('\n'), missed };
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
${clockSection(details.clock)}${deliveriesSection(details.deliveries)}${nodesAndStart(details)}${costsSection(details)}
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

function costsSection({ costs, requestLog }: Pick<RunDetails, 'costs' | 'requestLog'>): string {
  if (costs.length + requestLog.length === 0) return '';
  const lines = [...costs.map(costLine), ...requestLog.map((one) => `request log, ${logShareLine(one)}`)];
  return `\n## Costs\n\nPer request under full load, including the background work of the following seconds:\n\n${lines.map((line) => `- ${line}.`).join('\n')}\n`;
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
