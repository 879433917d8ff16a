/** `npm run bench`, see README.md. Progress goes to stderr, the table to stdout; a full run also writes RESULTS.md. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { type Postgres, startPostgres } from '../test/support/postgres.ts';
import { BENCHMARKS, type BenchmarkName, type PreparedBench, setUpBenchmarks } from './benchmarks.ts';
import { measureCapacity } from './capacity.ts';
import { measureClock } from './clock.ts';
import { comparisonTargets, latencyTargets, type Rounds } from './comparisons.ts';
import { measureCosts } from './costs.ts';
import { measureDeliveries } from './deliveries.ts';
import type { Measured } from './measurement.ts';
import { waitForQuiet } from './neighbours.ts';
import { measureNodes } from './nodes.ts';
import { type Options, parseOptions, USAGE } from './options.ts';
import { measurePeers, peersMissed, renderPeers } from './peers.ts';
import { evaluate, renderResults } from './report.ts';
import { measureRequestLog } from './request-log.ts';
import { replaceOthers, replaceSection } from './results.ts';
import { measureScale, renderScale, SCALE_HEADING, type ScaleContext, scaleMissed } from './scale.ts';
import { measureStart } from './start.ts';
import { clockTargets, deliveryTargets, logTargets, nodeTargets, startTargets } from './targets.ts';
import { value } from './value.ts';

const RESULTS = fileURLToPath(new URL('RESULTS.md', import.meta.url));
/** Minimal tuning; everything else, such as synchronous_commit, has the PostgreSQL default. */
const POSTGRES_SETTINGS = { shared_buffers: '256MB', max_wal_size: '2GB' };

type BenchContext = Pick<ScaleContext, 'postgres' | 'folder' | 'cleanups' | 'log'>;

await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<void> {
  let options: Options;
  try {
    options = parseOptions(argv);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n${USAGE}\n`);
    process.exitCode = 2;
    return;
  }
  if (options.isHelp) {
    process.stdout.write(`${USAGE}\n`);
    return;
  }
  const folder = mkdtempSync(path.join(tmpdir(), 'sandbank-bench-'));
  const cleanups: (() => Promise<unknown>)[] = [async () => rmSync(folder, { recursive: true, force: true })];
  const cleanUp = async (): Promise<void> => {
    for (let next = cleanups.pop(); next !== undefined; next = cleanups.pop()) await next();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void cleanUp().finally(() => process.exit(1)));
  }
  try {
    await bench(options, folder, cleanups);
  } finally {
    await cleanUp();
  }
}

async function bench(options: Options, folder: string, cleanups: (() => Promise<unknown>)[]): Promise<void> {
  const startedAt = performance.now();
  const log = (line: string): void => {
    process.stderr.write(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${line}\n`);
  };

  log('starting PostgreSQL, fsync on');
  const postgres = await startPostgres({ fsync: true, settings: POSTGRES_SETTINGS });
  cleanups.push(() => postgres.stop());
  const context = { postgres, folder, cleanups, log };
  if (options.peers.length > 0) return benchPeers(options, context);
  if (options.isCapacity) {
    // The lines of its log are the result.
    if (!(await measureCapacity(context))) log('the capacity model is measured on Linux only');
    return;
  }
  if (options.scale !== undefined) return benchScale(options, options.scale, context);
  const stage = await setUpBenchmarks(options, postgres, folder, cleanups, log);
  const { benchmarks, baselineDriver, databases } = stage;

  for (const benchmark of benchmarks) {
    log(`warm-up: ${BENCHMARKS[benchmark.name]}`);
    await benchmark.prepare?.(options.warmupSeconds);
    await benchmark.run(options.warmupSeconds);
  }
  // Plans for tables that were empty a second ago would be slow for the server and the baseline alike.
  for (const database of databases) await value(database, 'analyze');

  const rounds = await runRounds(options, postgres, benchmarks, log);
  const remarks = [...stage.remarks];
  for (const check of stage.checks) {
    const found = await check();
    log(found);
    remarks.push(found);
  }
  const { parts } = options;
  const clock = parts.has('clock') ? await measureClock(context) : [];
  const deliveries = parts.has('deliveries') ? await measureDeliveries(context) : [];
  const nodes = parts.has('nodes') ? await measureNodes(context) : [];
  const costs = parts.has('costs') ? await measureCosts(context) : [];
  const requestLog = parts.has('log') ? await measureRequestLog(context) : [];
  const start = parts.has('start') ? await measureStart(context) : undefined;
  const verdict = evaluate([
    ...comparisonTargets(rounds),
    ...latencyTargets(rounds),
    ...clockTargets(clock),
    ...deliveryTargets(deliveries),
    ...nodeTargets(nodes),
    ...logTargets(requestLog),
    ...startTargets(start),
  ]);
  const postgresVersion = await value(postgres.url, 'show server_version');
  const results = renderResults(rounds, verdict, {
    options,
    postgresVersion,
    baselineDriver,
    remarks,
    clock,
    deliveries,
    nodes,
    costs,
    requestLog,
    start,
  });
  if (options.isFull) {
    replaceOthers(RESULTS, SCALE_HEADING, results);
    process.stdout.write(`${verdict.table}\n`);
  } else {
    process.stdout.write(results);
  }
  reportMissed(verdict.missed);
  log(
    options.isFull ? 'wrote all rounds to bench/RESULTS.md' : 'not a full run: bench/RESULTS.md is unchanged',
  );
}

async function runRounds(
  options: Options,
  postgres: Postgres,
  benchmarks: PreparedBench['benchmarks'],
  log: (line: string) => void,
): Promise<Rounds> {
  const rounds: Partial<Record<BenchmarkName, Measured>>[] = [];
  for (let number = 1; number <= options.rounds; number += 1) {
    const round: Partial<Record<BenchmarkName, Measured>> = {};
    for (const benchmark of benchmarks) {
      const { name } = benchmark;
      await benchmark.prepare?.(options.seconds);
      // Flush dirty pages, so that no benchmark pays for those of the previous one.
      await value(postgres.url, 'checkpoint');
      const { isQuiet, busyCores } = await waitForQuiet();
      const measured = { ...(await benchmark.run(options.seconds)), isQuiet };
      round[name] = measured;
      const rate = Math.round(measured.ratePerSecond).toLocaleString('en-US');
      const noise = isQuiet ? '' : ` (${busyCores.toFixed(1)} cores busy with other work)`;
      log(
        `round ${number} of ${options.rounds}: ${BENCHMARKS[name]}: ${rate}/s, p99 ${measured.p99Ms.toFixed(1)} ms${noise}`,
      );
    }
    rounds.push(round);
  }
  return rounds;
}

async function benchScale(options: Options, payments: number, context: BenchContext): Promise<void> {
  const scale = await measureScale({ ...context, ...options, payments });
  const section = renderScale(scale, new Date().toISOString().slice(0, 10));
  if (options.isFull) replaceSection(RESULTS, SCALE_HEADING, section);
  process.stdout.write(section);
  reportMissed(scaleMissed(scale));
}

async function benchPeers(options: Options, context: BenchContext): Promise<void> {
  const measured = await measurePeers({ ...context, ...options });
  process.stdout.write(renderPeers(measured));
  reportMissed(peersMissed(measured));
}

function reportMissed(missed: readonly string[]): void {
  for (const line of missed) process.stdout.write(`MISSED  ${line}\n`);
  if (missed.length > 0) process.exitCode = 1;
}
