/** `npm run bench`, see README.md. Progress goes to stderr, the table to stdout; a full run also writes RESULTS.md. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { startPostgres } from '../test/support/postgres.ts';
import { BENCHMARKS, type BenchmarkName, setUpBenchmarks } from './benchmarks.ts';
import { measureClock } from './clock.ts';
import { measureCosts } from './costs.ts';
import { measureDeliveries } from './deliveries.ts';
import type { Measured } from './measurement.ts';
import { waitForQuiet } from './neighbours.ts';
import { measureNodes } from './nodes.ts';
import { type Options, parseOptions, USAGE } from './options.ts';
import { evaluate, renderResults } from './report.ts';
import { replaceOthers, replaceSection } from './results.ts';
import { measureScale, renderScale, SCALE_HEADING, type ScaleContext, scaleMissed } from './scale.ts';
import { measureStart } from './start.ts';
import { deliveryTargets, nodeTargets, startTargets } from './targets.ts';
import { value } from './value.ts';

const RESULTS = fileURLToPath(new URL('RESULTS.md', import.meta.url));
/** Minimal tuning; everything else, such as synchronous_commit, has the PostgreSQL default. */
const POSTGRES_SETTINGS = { shared_buffers: '256MB', max_wal_size: '2GB' };

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
  if (options.scale !== undefined) {
    await benchScale(options, options.scale, { postgres, folder, cleanups, log });
    return;
  }
  const stage = await setUpBenchmarks(options, postgres, folder, cleanups, log);
  const { benchmarks, baselineDriver, databases } = stage;

  for (const benchmark of benchmarks) {
    log(`warm-up: ${BENCHMARKS[benchmark.name]}`);
    await benchmark.prepare?.(options.warmupSeconds);
    await benchmark.run(options.warmupSeconds);
  }
  // Plans for tables that were empty a second ago would be slow for the server and the baseline alike.
  for (const database of databases) await value(database, 'analyze');

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

  const remarks = [...stage.remarks];
  for (const check of stage.checks) {
    const found = await check();
    log(found);
    remarks.push(found);
  }
  const clock = options.parts.has('clock') ? await measureClock({ postgres, folder, log }) : [];
  const deliveries = options.parts.has('deliveries')
    ? await measureDeliveries({ postgres, folder, log })
    : [];
  const nodes = options.parts.has('nodes') ? await measureNodes({ postgres, folder, log }) : [];
  const costs = options.parts.has('costs') ? await measureCosts({ postgres, folder, log }) : [];
  const start = options.parts.has('start') ? await measureStart({ folder, log }) : undefined;
  const verdict = evaluate(rounds, [
    ...deliveryTargets(deliveries),
    ...nodeTargets(nodes),
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
    start,
  });
  if (options.isFull) {
    replaceOthers(RESULTS, SCALE_HEADING, results);
    process.stdout.write(`${verdict.table}\n`);
  } else {
    process.stdout.write(results);
  }
  for (const line of verdict.missed) process.stdout.write(`MISSED  ${line}\n`);
  log(
    options.isFull ? 'wrote all rounds to bench/RESULTS.md' : 'not a full run: bench/RESULTS.md is unchanged',
  );
}

async function benchScale(
  options: Options,
  payments: number,
  stage: Pick<ScaleContext, 'postgres' | 'folder' | 'cleanups' | 'log'>,
): Promise<void> {
  const scale = await measureScale({ ...stage, ...options, payments });
  const section = renderScale(scale, new Date().toISOString().slice(0, 10));
  if (options.isFull) replaceSection(RESULTS, SCALE_HEADING, section);
  process.stdout.write(section);
  for (const line of scaleMissed(scale)) process.stdout.write(`MISSED  ${line}\n`);
}
